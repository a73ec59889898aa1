//! Objects of one kind as the API server has them now, kept by a watch.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Error, Event, watcher};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::daemon::complaints::{Complaints, Kind};
use crate::kinds::as_value;

/// Objects in one page of a list.
const PAGE_SIZE: u32 = 200;

/// What is kept of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Everything but its status: pools are written back.
    AllButStatus,
    /// What tells zones: the subnets in its status.
    Subnets,
    /// What a shift looks at on nodes. Of thousands of nodes, more would be megabytes.
    NodeBasics,
    /// Its name and version.
    Version,
}

/// A copy of all objects of a kind. The watch ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub(crate) kind: ApiResource,
    keeps: Keeps,
    contents: Arc<Mutex<Contents>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Contents {
    objects: BTreeMap<String, Value>,
    /// What a list in progress has brought so far.
    incoming: BTreeMap<String, Value>,
    is_listed: bool,
    is_failing: bool,
}

/// Where a mirror looks and whom it tells.
#[derive(Clone)]
pub(crate) struct Watch {
    pub(crate) client: Client,
    /// Set when something changed that a shift looks at.
    pub(crate) changes: Arc<AtomicBool>,
    pub(crate) complaints: Complaints,
}

impl Mirror {
    /// Starts to watch every object of a kind.
    pub(crate) fn all(kind: ApiResource, keeps: Keeps, watch: &Watch) -> Self {
        let api = Api::<DynamicObject>::all_with(watch.client.clone(), &kind);
        Self::start(api, Config::default(), kind, keeps, watch)
    }

    /// Starts to watch one object of a namespace.
    pub(crate) fn one(kind: ApiResource, namespace: &str, name: &str, watch: &Watch) -> Self {
        let api = Api::<DynamicObject>::namespaced_with(watch.client.clone(), namespace, &kind);
        let config = Config::default().fields(&format!("metadata.name={name}"));
        Self::start(api, config, kind, Keeps::Version, watch)
    }

    fn start(
        api: Api<DynamicObject>,
        config: Config,
        kind: ApiResource,
        keeps: Keeps,
        watch: &Watch,
    ) -> Self {
        let contents = Arc::<Mutex<Contents>>::default();
        let config = config.page_size(PAGE_SIZE);
        let following = follow(api, config, kind.clone(), keeps, contents.clone(), watch.clone());
        Self { kind, keeps, contents, task: tokio::spawn(following) }
    }

    /// Every object.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.contents().objects.values().cloned().collect()
    }

    /// The object of that name.
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        self.contents().objects.get(name).cloned()
    }

    /// Whether every object has been seen once, or cannot be.
    pub(crate) fn is_settled(&self) -> bool {
        let contents = self.contents();
        contents.is_listed || contents.is_failing
    }

    /// Takes over what a write gave back; the watch tells the same a moment later.
    pub(crate) fn learn(&self, object: DynamicObject) {
        let value = kept(as_value(object, &self.kind), self.keeps);
        if let Some(name) = name(&value) {
            self.contents().objects.insert(name, value);
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(
    api: Api<DynamicObject>,
    config: Config,
    kind: ApiResource,
    keeps: Keeps,
    contents: Arc<Mutex<Contents>>,
    watch: Watch,
) {
    let what = format!("watching {}", kind.plural);
    let mut stream = pin!(watcher(api, config).default_backoff());
    while let Some(event) = stream.next().await {
        let mut contents = contents.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = match event {
            Ok(event) => {
                watch.complaints.settle(&what);
                contents.is_failing = false;
                contents.take(event, |object| kept(as_value(object, &kind), keeps))
            }
            Err(error) => {
                let (kind, why) = reason(&error);
                watch.complaints.complain(&what, kind, why);
                !std::mem::replace(&mut contents.is_failing, true)
            }
        };
        drop(contents);
        if is_news {
            watch.changes.store(true, Ordering::Release);
        }
    }
}

impl Contents {
    /// Takes in an event; says whether anything changed that a shift looks at.
    fn take(&mut self, event: Event<DynamicObject>, read: impl Fn(DynamicObject) -> Value) -> bool {
        match event {
            Event::Init => {
                self.incoming.clear();
                false
            }
            Event::InitApply(object) => {
                let value = read(object);
                self.incoming.extend(name(&value).map(|name| (name, value)));
                false
            }
            Event::InitDone => {
                self.objects = std::mem::take(&mut self.incoming);
                self.is_listed = true;
                true
            }
            Event::Apply(object) => {
                let value = read(object);
                let Some(name) = name(&value) else { return false };
                let essence = essence(&value);
                let before = self.objects.insert(name, value);
                before.is_none_or(|before| self::essence(&before) != essence)
            }
            Event::Delete(object) => {
                let value = read(object);
                name(&value).is_some_and(|name| self.objects.remove(&name).is_some())
            }
        }
    }
}

/// What is kept of an object.
fn kept(mut value: Value, keeps: Keeps) -> Value {
    let part = |pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
    match keeps {
        Keeps::AllButStatus => {
            if let Some(object) = value.as_object_mut() {
                object.remove("status");
            }
            value
        }
        Keeps::Subnets => json!({
            "metadata": {"name": part("/metadata/name")},
            "status": {"subnets": part("/status/subnets")},
        }),
        Keeps::NodeBasics => json!({
            "metadata": {
                "name": part("/metadata/name"),
                "resourceVersion": part("/metadata/resourceVersion"),
                "labels": part("/metadata/labels"),
                "annotations": part("/metadata/annotations"),
            },
            "spec": {
                "unschedulable": part("/spec/unschedulable"),
                "taints": part("/spec/taints"),
            },
        }),
        Keeps::Version => json!({"metadata": {
            "name": part("/metadata/name"),
            "resourceVersion": part("/metadata/resourceVersion"),
        }}),
    }
}

/// An object without what changes with every write; heartbeats of nodes are no news.
fn essence(value: &Value) -> Value {
    let mut value = value.clone();
    let is_only_a_version = value.get("spec").is_none() && value.get("status").is_none();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && !is_only_a_version
    {
        metadata.remove("resourceVersion");
        metadata.remove("generation");
    }
    value
}

fn name(value: &Value) -> Option<String> {
    value.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}

fn reason(error: &Error) -> (Kind, String) {
    let status = match error {
        Error::InitialListFailed(kube::Error::Api(status))
        | Error::WatchStartFailed(kube::Error::Api(status)) => status,
        Error::WatchError(status) => status,
        error => return (Kind::Failing, error.to_string()),
    };
    if !matches!(status.code, 401 | 403) {
        return (Kind::Failing, status.message.clone());
    }
    let words = format!("{}; apply deploy/zonal-autoshift.yaml or grant it", status.message);
    (Kind::Denied, words)
}
