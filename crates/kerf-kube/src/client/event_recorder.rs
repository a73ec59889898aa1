//! Kubernetes Events: what people read with `kubectl describe`.

use std::num::NonZeroU32;

use k8s_openapi::api::core::v1::{Event, ObjectReference};
use kerf_api::legacy::Provisioner;
use kerf_engine::event::Key;
use kerf_engine::kubernetes_event::{KubernetesEvent, Tone};
use kerf_engine::observed::Resource;
use kerf_engine::time::Time;
use kerf_engine::{Role, World};
use kerf_runtime::FailureLog;
use kube::api::{Api, PostParams};
use kube::{Client, Resource as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::client::event_spec::EventSpec;
use crate::client::execute::Pace;
use crate::client::legacy::LegacyObjects;
use crate::client::observe::meta::api_time;

/// The component Events come from; dashboards filter by it.
fn component(role: Role) -> &'static str {
    match role {
        Role::ZonalAutoshift => "kerf-zonal-autoshift",
        Role::Controller | Role::TerminationHandler => "karpenter",
    }
}

/// Events that may wait to be written; beyond that they are dropped, for they are not state.
const WAITING_MAX: usize = 1_000;

/// Events written at once.
const AT_ONCE: usize = 8;
/// Events a second in the long run, and after a pause. They must not cost the decisions their turn.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(50).expect("it is not nought");
const BURST: NonZeroU32 = NonZeroU32::new(500).expect("it is not nought");

/// Writes Events, a few at a time, no faster than its pace.
#[derive(Clone, Debug)]
pub(crate) struct EventRecorder {
    component: &'static str,
    waiting: mpsc::Sender<Event>,
    legacy: Option<LegacyObjects>,
}

impl EventRecorder {
    /// Starts the writer; it ends when the last announcer is gone and all is written.
    pub(crate) fn start(
        client: Client,
        role: Role,
        failures: FailureLog,
    ) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, mut waiting) = mpsc::channel::<Event>(WAITING_MAX);
        let pace = Pace::new(PER_SECOND, BURST);
        let task = tokio::spawn(async move {
            let mut under_way = JoinSet::new();
            while let Some(event) = waiting.recv().await {
                pace.turn().await;
                if under_way.len() >= AT_ONCE {
                    under_way.join_next().await;
                }
                under_way.spawn(write(client.clone(), event, failures.clone()));
            }
            under_way.join_all().await;
        });
        (Self { component: component(role), waiting: sender, legacy: None }, task)
    }

    /// The same in a cluster where pools may stand for Provisioners, which are then told of.
    pub(crate) fn with_legacy(mut self, legacy: Option<LegacyObjects>) -> Self {
        self.legacy = legacy;
        self
    }

    /// Passes an announcement on. Objects that are gone by now are named without their identity.
    pub(crate) fn record(&self, kubernetes_event: &KubernetesEvent, world: &World, now: Time) {
        if let Some(mut about) = reference(&kubernetes_event.about, world) {
            let legacy = self.legacy.as_ref().zip(about.uid.as_deref());
            if legacy.is_some_and(|(legacy, uid)| legacy.is_provisioner(uid)) {
                about.api_version = Some(Provisioner::api_version(&()).into_owned());
                about.kind = Some(Provisioner::kind(&()).into_owned());
            }
            // A full queue means a flood; what it drops is said again after its silence.
            let event = event(self.component, kubernetes_event, about, now);
            let _ = self.waiting.try_send(event);
        }
    }
}

async fn write(client: Client, event: Event, failures: FailureLog) {
    const WHAT: &str = "recording Events";
    let namespace = event.metadata.namespace.clone().unwrap_or_default();
    let api = Api::<Event>::namespaced(client, &namespace);
    match api.create(&PostParams::default(), &event).await {
        Ok(_) => failures.recovered(WHAT),
        Err(error) => {
            let is_denied =
                matches!(&error, kube::Error::Api(status) if matches!(status.code, 401 | 403));
            let kind = if is_denied { "denied" } else { "failing" };
            failures.failed(WHAT, kind, error.to_string());
        }
    }
}

fn event(
    component: &str,
    kubernetes_event: &KubernetesEvent,
    about: ObjectReference,
    now: Time,
) -> Event {
    let spec = EventSpec {
        component,
        is_warning: kubernetes_event.tone == Tone::Warning,
        reason: kubernetes_event.reason,
        message: &kubernetes_event.message,
    };
    spec.about(about, api_time(now))
}

/// A reference to an object. A node class is of a kind only its provider knows.
fn reference(key: &Key, world: &World) -> Option<ObjectReference> {
    let (api_version, kind) = match key {
        Key::NodeClass(class) => {
            let kind = world.settings.provider.node_class_kind(&class.group, &class.kind)?;
            (format!("{}/{}", kind.group, kind.version), kind.kind.clone())
        }
        Key::NodeClassSubnets(_) => return None,
        Key::PoolManifest(pool) => {
            let object = world.pool_manifests.get(pool).map(|pool| &pool.object);
            let version = object.and_then(|object| object.get("apiVersion")?.as_str());
            (version.unwrap_or_default().to_owned(), pool.kind.to_string())
        }
        key => {
            let Resource { group, version, kind, .. } = key.kind().resource();
            let slash = if group.is_empty() { "" } else { "/" };
            (format!("{group}{slash}{version}"), kind.to_owned())
        }
    };
    Some(ObjectReference {
        api_version: Some(api_version),
        kind: Some(kind),
        namespace: key.namespace().map(str::to_owned),
        name: Some(key.name().to_owned()),
        uid: world.meta(key).map(|meta| meta.uid.to_string()),
        ..ObjectReference::default()
    })
}
