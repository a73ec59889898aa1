//! Kubernetes Events: what people read with `kubectl describe`.

use std::num::NonZeroU32;

use k8s_openapi::api::core::v1::{Event, ObjectReference};
use kerf_engine::World;
use kerf_engine::event::{Key, Kind};
use kerf_engine::kubernetes_event::{KubernetesEvent, Tone};
use kerf_engine::time::Time;
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::debug;

use crate::client::event_spec::EventSpec;
use crate::client::execute::Pace;
use crate::client::observe::meta::api_time;

/// The component Events come from; dashboards filter by it.
const COMPONENT: &str = "karpenter";
/// Events that may wait to be written; beyond that they are dropped, for they are not state.
const WAITING_MAX: usize = 1_000;

/// Events written at once.
const AT_ONCE: usize = 8;
/// Events a second in the long run, and after a pause. They must not cost the decisions their turn.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(50).expect("it is not nought");
const BURST: NonZeroU32 = NonZeroU32::new(500).expect("it is not nought");

/// Writes Events, a few at a time, no faster than its pace.
#[derive(Clone, Debug)]
pub(crate) struct EventRecorder(mpsc::Sender<Event>);

impl EventRecorder {
    /// Starts the writer; it ends when the last announcer is gone and all is written.
    pub(crate) fn start(client: Client) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, mut waiting) = mpsc::channel::<Event>(WAITING_MAX);
        let pace = Pace::new(PER_SECOND, BURST);
        let task = tokio::spawn(async move {
            let mut under_way = JoinSet::new();
            while let Some(event) = waiting.recv().await {
                pace.turn().await;
                if under_way.len() >= AT_ONCE {
                    under_way.join_next().await;
                }
                under_way.spawn(write(client.clone(), event));
            }
            under_way.join_all().await;
        });
        (Self(sender), task)
    }

    /// Passes an announcement on. Objects that are gone by now are named without their identity.
    pub(crate) fn record(&self, kubernetes_event: &KubernetesEvent, world: &World, now: Time) {
        if let Some(about) = reference(&kubernetes_event.about, world) {
            // A full queue means a flood; what it drops is said again after its silence.
            let _ = self.0.try_send(event(kubernetes_event, about, now));
        }
    }
}

async fn write(client: Client, event: Event) {
    let namespace = event.metadata.namespace.clone().unwrap_or_default();
    let api = Api::<Event>::namespaced(client, &namespace);
    if let Err(error) = api.create(&PostParams::default(), &event).await {
        debug!(%error, "an Event was not written");
    }
}

fn event(kubernetes_event: &KubernetesEvent, about: ObjectReference, now: Time) -> Event {
    let spec = EventSpec {
        component: COMPONENT,
        is_warning: kubernetes_event.tone == Tone::Warning,
        reason: kubernetes_event.reason,
        message: &kubernetes_event.message,
    };
    spec.about(about, api_time(now))
}

/// A reference to an object. A node class is of a kind only its provider knows, and none is made.
fn reference(key: &Key, world: &World) -> Option<ObjectReference> {
    let resource = (key.kind() != Kind::NodeClass).then(|| key.kind().resource())?;
    let api_version = match resource.group {
        "" => resource.version.to_owned(),
        group => format!("{group}/{}", resource.version),
    };
    Some(ObjectReference {
        api_version: Some(api_version),
        kind: Some(resource.kind.to_owned()),
        namespace: key.namespace().map(str::to_owned),
        name: Some(key.name().to_owned()),
        uid: world.meta(key).map(|meta| meta.uid.to_string()),
        ..ObjectReference::default()
    })
}
