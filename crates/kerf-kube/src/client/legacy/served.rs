//! The legacy kinds, watched as long as the API server serves them.

use std::collections::BTreeMap;
use std::time::Duration;

use kerf_api::legacy::{AWSNodeTemplate, Provisioner};
use kerf_runtime::FailureLog;
use kube::api::{Api, ApiResource};
use kube::{Client, Resource};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tracing::info;

use crate::client::health::Health;
use crate::client::list_watch::{Need, Watch};
use crate::client::observe::{Change, Guarded, WatchUpdate};

/// How often the API server is asked which kinds it serves: definitions may come later.
const DISCOVER_EVERY: Duration = Duration::from_secs(60);
/// How soon after it gave no answer.
const DISCOVER_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// What fails when the API server does not say what it serves.
const WHAT: &str = "finding out whether there are Provisioners";

/// A watch update that is about legacy objects.
#[derive(Clone, Debug)]
pub enum LegacyUpdate {
    /// Which of the kinds are served.
    Served {
        /// Provisioners are.
        provisioners: bool,
        /// AWSNodeTemplates are.
        templates: bool,
    },
    /// A Provisioner.
    Provisioner(Change<Guarded<Provisioner>>),
    /// An AWSNodeTemplate.
    Template(Change<Guarded<AWSNodeTemplate>>),
}

/// Watches those legacy kinds that are served, and says which these are. Never ends by itself.
pub(crate) async fn watch_served(
    client: Client,
    updates: mpsc::Sender<WatchUpdate>,
    health: Health,
) {
    let mut watching = Watching { client, updates, health, tasks: JoinSet::new(), told: None };
    let mut watches: BTreeMap<&str, AbortHandle> = BTreeMap::new();
    loop {
        let pause = match watching.discover().await {
            Ok(served) => {
                if watching.follow(served, &mut watches).await.is_err() {
                    return;
                }
                DISCOVER_EVERY
            }
            Err(error) => {
                watching.failures().failed(WHAT, "unknown", error.to_string());
                DISCOVER_AGAIN_AFTER
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            // None ends by itself: whatever ended one ends this task, and so the process.
            Some(Err(error)) = watching.tasks.join_next() => {
                if let Ok(panic) = error.try_into_panic() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

/// Whether Provisioners and AWSNodeTemplates are served.
type ServedKinds = (bool, bool);

struct Watching {
    client: Client,
    updates: mpsc::Sender<WatchUpdate>,
    health: Health,
    tasks: JoinSet<()>,
    told: Option<ServedKinds>,
}

/// The engine is gone; the process ends.
struct NobodyListens;

impl Watching {
    fn failures(&self) -> &FailureLog {
        self.health.failures()
    }

    async fn discover(&self) -> kube::Result<ServedKinds> {
        let served = (self.serves::<Provisioner>().await?, self.serves::<AWSNodeTemplate>().await?);
        self.failures().recovered(WHAT);
        Ok(served)
    }

    async fn serves<K: Resource<DynamicType = ()>>(&self) -> kube::Result<bool> {
        match self.client.list_api_group_resources(&K::api_version(&())).await {
            Ok(list) => Ok(list.resources.iter().any(|one| one.name == K::plural(&()))),
            // No definition of its group and version is left.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn follow(
        &mut self,
        served: ServedKinds,
        watches: &mut BTreeMap<&'static str, AbortHandle>,
    ) -> Result<(), NobodyListens> {
        if self.told == Some(served) {
            return Ok(());
        }
        let (provisioners, templates) = served;
        if provisioners || templates {
            info!(provisioners, templates, "serving the kinds that came before NodePool");
        }
        let update = LegacyUpdate::Served { provisioners, templates };
        self.updates.send(WatchUpdate::Legacy(update)).await.map_err(|_| NobodyListens)?;
        self.told = Some(served);
        for (kind, is_served) in [("Provisioner", provisioners), ("AWSNodeTemplate", templates)] {
            if !is_served && let Some(watch) = watches.remove(kind) {
                watch.abort();
            }
        }
        if provisioners && !watches.contains_key("Provisioner") {
            let watch = self.watch(LegacyUpdate::Provisioner);
            watches.insert("Provisioner", self.tasks.spawn(watch.run()));
        }
        if templates && !watches.contains_key("AWSNodeTemplate") {
            let watch = self.watch(LegacyUpdate::Template);
            watches.insert("AWSNodeTemplate", self.tasks.spawn(watch.run()));
        }
        Ok(())
    }

    fn watch<K>(
        &self,
        wrap: fn(Change<Guarded<K>>) -> LegacyUpdate,
    ) -> Watch<Guarded<K>, impl Fn(Change<Guarded<K>>) -> WatchUpdate + Send + Sync + 'static>
    where
        Guarded<K>: Resource<DynamicType = ()>,
        K: Resource<DynamicType = ()> + 'static,
    {
        Watch {
            resource: K::plural(&()).into_owned(),
            api: Api::<Guarded<K>>::all(self.client.clone()),
            fields: None,
            need: Need::UnlessDenied(ApiResource::erase::<K>(&())),
            wrap: move |change| WatchUpdate::Legacy(wrap(change)),
            updates: self.updates.clone(),
            health: self.health.clone(),
        }
    }
}
