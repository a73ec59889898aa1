//! One kind of object, listed and then watched: what changes, and every sign of life.
//!
//! ```text
//!  ┌─► list ──► Relisting, objects, Listed(version) ──┐
//!  │                                                  ▼
//!  └── version gone ◄── watch from the version: changes, bookmarks ──► watch again
//! ```
//!
//! A watch that says nothing may be quiet or dead. The server ends each after [`WATCH_FOR`] and, at
//! the latest shortly before, says by a bookmark how far it has told everything; both become
//! [`Change::Heard`]. A watch that does not even end is given up, and tried again on a new
//! connection. Changes alone are no proof: after a gap, more of them may be on the way.

use std::fmt::Debug;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use kerf_engine::observed::Revision;
use kube::api::{Api, ApiResource, ListParams, WatchEvent, WatchParams};
use kube::runtime::watcher::DefaultBackoff;
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tracing::info;

use crate::client::health::Health;
use crate::client::observe::{Change, ShiftUpdate, WatchUpdate};

/// A watch of one kind of object.
pub(crate) struct Watch<K, W> {
    /// What is watched, by its plural.
    pub(crate) resource: String,
    pub(crate) api: Api<K>,
    /// Which objects, by a field selector; all without one.
    pub(crate) fields: Option<String>,
    pub(crate) need: Need,
    pub(crate) wrap: W,
    pub(crate) updates: mpsc::Sender<WatchUpdate>,
    pub(crate) health: Health,
}

/// What follows from a watch that does not work.
pub(crate) enum Need {
    /// The process is not ready.
    Required,
    /// What depends on it waits; the rest goes on.
    Optional,
    /// Nobody waits for this kind, and what was known of it holds.
    WhereListable(ApiResource),
    /// The same if it may not be listed; otherwise the process is not ready.
    UnlessDenied(ApiResource),
}

/// How far a watch has come.
struct Progress {
    lists: Lists,
    /// The version up to which everything was told; none before the first list.
    version: Option<String>,
    works: bool,
}

/// How objects are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    /// By a watch that begins with them, which spares the server a whole list in memory.
    Streamed,
    /// In pages, where the server does not know the other.
    Paged,
}

/// Why a watch stops for now.
enum Stop {
    /// For good: the process ends.
    NobodyListens,
    /// The server no longer has the version to go on from; everything is listed anew.
    VersionGone,
    /// It says nothing at all.
    Silent,
    Failed(kube::Error),
}

/// How long one watch lasts. Half the time after which the engine takes a kind for stale.
const WATCH_FOR: Duration = Duration::from_secs(40);
/// A watch from which nothing comes for so long is dead: the server would have ended it.
const SILENT_MAX: Duration = Duration::from_secs(45);
/// A request that is not answered for so long will not be.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30);
/// Watches that end sooner are not begun again at once.
const AT_LEAST: Duration = Duration::from_secs(1);
/// A server that asks for more patience is asked earlier all the same: nothing is known meanwhile.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// Objects in one page of a list: half a megabyte of pods.
const PAGE_SIZE: u32 = 100;
/// The annotation of the bookmark after the last object of a streamed list.
const LIST_END: &str = "k8s.io/initial-events-end";
/// The status of a version that the server no longer has.
const GONE: u16 = 410;

impl<K, W> Watch<K, W>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    W: Fn(Change<K>) -> WatchUpdate + Send + Sync + 'static,
{
    /// Follows the watch until nobody listens any more.
    pub(crate) async fn run(self) {
        let mut progress = Progress { lists: Lists::Streamed, version: None, works: false };
        let mut backoff = DefaultBackoff::default();
        loop {
            let began = Instant::now();
            match self.advance(&mut progress).await {
                Ok(()) if began.elapsed() >= AT_LEAST || progress.version.is_some() => continue,
                Ok(()) => {}
                Err(Stop::NobodyListens) => return,
                Err(Stop::VersionGone) => progress.version = None,
                Err(Stop::Failed(error)) if is_refusal(&error, &progress) => {
                    let resource = &self.resource;
                    info!(resource, "the server has no streaming lists; listing in pages");
                    progress.lists = Lists::Paged;
                    continue;
                }
                Err(stop) => {
                    progress.works = false;
                    if self.fail(&stop).await.is_err() {
                        return;
                    }
                    sleep(stop.retry_after()).await;
                }
            }
            sleep(backoff.next().unwrap_or(SILENT_MAX)).await;
        }
    }

    /// Lists if there is no version to go on from, or watches once.
    async fn advance(&self, progress: &mut Progress) -> Result<(), Stop> {
        match (&progress.version, progress.lists) {
            (None, Lists::Paged) => {
                progress.version = Some(self.list_pages(progress).await?);
                Ok(())
            }
            (version, _) => {
                let version = version.clone();
                self.watch(version, progress).await
            }
        }
    }

    /// Tells all objects, page by page. Returns the version they are of.
    async fn list_pages(&self, progress: &mut Progress) -> Result<String, Stop> {
        self.tell(Change::Relisting, progress).await?;
        let fields = self.fields.clone();
        let mut page = ListParams { field_selector: fields, ..ListParams::default() };
        page.limit = Some(PAGE_SIZE);
        loop {
            let list = answered(self.api.list(&page)).await?;
            for object in list.items {
                self.tell(Change::Is(pruned(object)), progress).await?;
            }
            page.continue_token = list.metadata.continue_.filter(|token| !token.is_empty());
            if page.continue_token.is_none() {
                let version = list.metadata.resource_version.unwrap_or_default();
                self.tell(Change::Listed(revision(&version)), progress).await?;
                return Ok(version);
            }
        }
    }

    /// Watches until the server ends it; without a version to go on from, all objects come first.
    async fn watch(&self, from: Option<String>, progress: &mut Progress) -> Result<(), Stop> {
        let mut is_listing = from.is_none();
        let params = WatchParams {
            field_selector: self.fields.clone(),
            timeout: u32::try_from(WATCH_FOR.as_secs()).ok(),
            bookmarks: true,
            send_initial_events: is_listing,
            ..WatchParams::default()
        };
        // No version at all asks for the newest.
        let from = from.unwrap_or_default();
        let began = Instant::now();
        let mut events = answered(self.api.watch(&params, &from)).await?.into_stream().boxed();
        if is_listing {
            self.tell(Change::Relisting, progress).await?;
        }
        while let Some(event) =
            timeout(SILENT_MAX, events.next()).await.map_err(|_| Stop::Silent)?
        {
            match event? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    if !is_listing {
                        progress.version = object.resource_version();
                    }
                    self.tell(Change::Is(pruned(object)), progress).await?;
                }
                WatchEvent::Deleted(object) => {
                    if !is_listing {
                        progress.version = object.resource_version();
                    }
                    self.tell(Change::Was(pruned(object)), progress).await?;
                }
                WatchEvent::Bookmark(bookmark) => {
                    let is_list_end = bookmark.metadata.annotations.contains_key(LIST_END);
                    let version = bookmark.metadata.resource_version;
                    if is_listing && !is_list_end {
                        continue;
                    }
                    let change = match std::mem::take(&mut is_listing) {
                        true => Change::Listed(revision(&version)),
                        false => Change::Heard,
                    };
                    progress.version = Some(version);
                    self.tell(change, progress).await?;
                }
                WatchEvent::Error(status) if status.code == GONE => return Err(Stop::VersionGone),
                WatchEvent::Error(status) => {
                    return Err(Stop::Failed(kube::Error::Api(status.boxed())));
                }
            }
        }
        // One that ended before its time may have been cut off with changes on the way.
        if !is_listing && began.elapsed() >= WATCH_FOR {
            self.tell(Change::Heard, progress).await?;
        }
        Ok(())
    }

    /// Passes a change on. The channel is bounded, so a burst waits at the server.
    async fn tell(&self, change: Change<K>, progress: &mut Progress) -> Result<(), Stop> {
        // Changes come by the thousand; only that it works again is worth saying.
        if !std::mem::replace(&mut progress.works, true) {
            self.health.watch_works(&self.resource);
        }
        self.send((self.wrap)(change)).await
    }

    async fn send(&self, update: WatchUpdate) -> Result<(), Stop> {
        self.updates.send(update).await.map_err(|_| Stop::NobodyListens)
    }

    async fn fail(&self, stop: &Stop) -> Result<(), Stop> {
        let (kind, why) = match stop {
            Stop::Failed(error) if matches!(code(error), 401 | 403) => {
                ("denied", format!("{error}; grant it: deploy/ has the roles"))
            }
            Stop::Failed(error) => ("failing", error.to_string()),
            _ => ("silent", format!("nothing comes for {} s", SILENT_MAX.as_secs())),
        };
        let resource = &self.resource;
        match &self.need {
            Need::Required => self.health.watch_fails(resource, kind, &why),
            Need::Optional => self.health.optional_watch_fails(resource, kind, &why),
            Need::UnlessDenied(_) if kind != "denied" => {
                self.health.watch_fails(resource, kind, &why);
            }
            Need::WhereListable(served) | Need::UnlessDenied(served) => {
                self.health.optional_watch_fails(resource, kind, &why);
                let update = ShiftUpdate::Unlistable(served.clone());
                return self.send(WatchUpdate::ZonalShift(update)).await;
            }
        }
        Ok(())
    }
}

impl Stop {
    /// How long the server wants to be left alone, beside the pauses between tries.
    fn retry_after(&self) -> Duration {
        let Self::Failed(kube::Error::Api(status)) = self else { return Duration::ZERO };
        let details = status.details.as_ref();
        let seconds = details.map_or(0, |details| details.retry_after_seconds);
        Duration::from_secs(seconds.into()).min(RETRY_AFTER_MAX)
    }
}

impl From<kube::Error> for Stop {
    fn from(error: kube::Error) -> Self {
        if code(&error) == GONE { Self::VersionGone } else { Self::Failed(error) }
    }
}

/// The answer to a request, in time.
async fn answered<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Stop> {
    Ok(timeout(ANSWERED_WITHIN, request).await.map_err(|_| Stop::Silent)??)
}

/// A version, if it is one that can be compared.
fn revision(version: &str) -> Option<Revision> {
    version.parse().ok().map(Revision)
}

fn pruned<K: Resource>(mut object: K) -> Box<K> {
    object.managed_fields_mut().clear();
    Box::new(object)
}

/// Servers that do not know streaming lists call the request invalid.
fn is_refusal(error: &kube::Error, progress: &Progress) -> bool {
    let is_streamed = progress.version.is_none() && progress.lists == Lists::Streamed;
    is_streamed && matches!(code(error), 400 | 422)
}

/// The server's answer; 0 where there was none.
fn code(error: &kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a panic is the report")]
mod tests;
