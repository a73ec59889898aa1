//! Watches of the objects a shift looks at; what they see goes to the engine.

use std::pin::pin;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kerf_engine::zonal_shift::{ShiftInput, ShiftKind};
use kerf_notices::zonal_shift::CONFIG_MAP;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Error, Event, watcher};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::daemon::complaints::{Complaints, Kind};
use crate::daemon::reconcile_loop::Tools;
use crate::kinds::as_value;

/// Objects in one page of a list.
const PAGE_SIZE: u32 = 200;

/// What a watch saw.
#[derive(Debug)]
pub(crate) enum Watched {
    /// Something the engine looks at.
    Input(ShiftInput),
    /// The version of the ConfigMap with the state, if there is one.
    State(Option<String>),
}

/// A running watch. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    task: JoinHandle<()>,
}

impl Watch {
    /// Watches every object of a kind.
    pub(crate) fn all(
        tools: &Tools,
        kind: ShiftKind,
        resource: ApiResource,
        watched: mpsc::UnboundedSender<Watched>,
    ) -> Self {
        let api = Api::<DynamicObject>::all_with(tools.client.clone(), &resource);
        let following = Following { complaints: tools.complaints.clone(), watched };
        let observer = Objects { keeps: Keeps::of(&kind), kind, resource, listed: Vec::new() };
        Self { task: tokio::spawn(following.follow(api, Config::default(), observer)) }
    }

    /// Watches the ConfigMap with the state.
    pub(crate) fn state(
        tools: &Tools,
        namespace: &str,
        watched: mpsc::UnboundedSender<Watched>,
    ) -> Self {
        let resource = ApiResource::erase::<ConfigMap>(&());
        let api = Api::<DynamicObject>::namespaced_with(tools.client.clone(), namespace, &resource);
        let config = Config::default().fields(&format!("metadata.name={CONFIG_MAP}"));
        let following = Following { complaints: tools.complaints.clone(), watched };
        Self { task: tokio::spawn(following.follow(api, config, State::default())) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Makes something of the events of a watch.
trait Observer: Send + 'static {
    /// The plural name of what is watched.
    fn plural(&self) -> &str;
    fn observe(&mut self, event: Event<DynamicObject>) -> Option<Watched>;
    /// What follows from a watch that fails.
    fn fail(&mut self) -> Option<Watched>;
}

struct Following {
    complaints: Complaints,
    watched: mpsc::UnboundedSender<Watched>,
}

impl Following {
    async fn follow(self, api: Api<DynamicObject>, config: Config, mut observer: impl Observer) {
        let what = format!("watching {}", observer.plural());
        let mut stream = pin!(watcher(api, config.page_size(PAGE_SIZE)).default_backoff());
        while let Some(event) = stream.next().await {
            let seen = match event {
                Ok(event) => {
                    self.complaints.settle(&what);
                    observer.observe(event)
                }
                Err(error) => {
                    let (kind, why) = reason(&error);
                    self.complaints.complain(&what, kind, why);
                    observer.fail()
                }
            };
            if seen.is_some_and(|seen| self.watched.send(seen).is_err()) {
                return;
            }
        }
    }
}

/// All objects of a kind.
struct Objects {
    kind: ShiftKind,
    resource: ApiResource,
    keeps: Keeps,
    /// What a list in progress has brought so far.
    listed: Vec<Value>,
}

impl Observer for Objects {
    fn plural(&self) -> &str {
        &self.resource.plural
    }

    fn observe(&mut self, event: Event<DynamicObject>) -> Option<Watched> {
        let kind = || self.kind.clone();
        let input = match event {
            Event::Init => {
                self.listed.clear();
                return None;
            }
            Event::InitApply(object) => {
                self.listed.push(self.keeps.kept(object, &self.resource));
                return None;
            }
            Event::InitDone => {
                ShiftInput::Listed { kind: kind(), objects: std::mem::take(&mut self.listed) }
            }
            Event::Apply(object) => {
                let object = self.keeps.kept(object, &self.resource);
                ShiftInput::Seen { kind: kind(), object }
            }
            Event::Delete(object) => {
                ShiftInput::Gone { kind: kind(), name: object.metadata.name.unwrap_or_default() }
            }
        };
        Some(Watched::Input(input))
    }

    fn fail(&mut self) -> Option<Watched> {
        Some(Watched::Input(ShiftInput::Unlistable(self.kind.clone())))
    }
}

/// The one ConfigMap.
#[derive(Default)]
struct State {
    version: Option<String>,
}

impl Observer for State {
    fn plural(&self) -> &str {
        "configmaps"
    }

    fn observe(&mut self, event: Event<DynamicObject>) -> Option<Watched> {
        match event {
            // A list in progress has not told yet whether there is one.
            Event::Init => {
                self.version = None;
                return None;
            }
            Event::InitApply(object) => {
                self.version = object.metadata.resource_version;
                return None;
            }
            Event::InitDone => {}
            Event::Apply(object) => self.version = object.metadata.resource_version,
            Event::Delete(_) => self.version = None,
        }
        Some(Watched::State(self.version.clone()))
    }

    fn fail(&mut self) -> Option<Watched> {
        None
    }
}

/// What is kept of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// Everything but its status: pools are written back.
    AllButStatus,
    /// What tells zones: the subnets in its status.
    Subnets,
    /// What a shift looks at on nodes. Of thousands of nodes, more would be megabytes.
    NodeBasics,
}

impl Keeps {
    pub(crate) fn of(kind: &ShiftKind) -> Self {
        match kind {
            ShiftKind::Pool(_) => Keeps::AllButStatus,
            ShiftKind::NodeClass(..) => Keeps::Subnets,
            ShiftKind::Node => Keeps::NodeBasics,
        }
    }

    pub(crate) fn kept(self, object: DynamicObject, resource: &ApiResource) -> Value {
        let mut value = as_value(object, resource);
        let part = |pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
        match self {
            Keeps::AllButStatus => {
                if let Some(object) = value.as_object_mut() {
                    object.remove("status");
                }
                value
            }
            Keeps::Subnets => json!({
                "metadata": {
                    "name": part("/metadata/name"),
                    "resourceVersion": part("/metadata/resourceVersion"),
                },
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
        }
    }
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
