//! Kubernetes Events: what people read with `kubectl describe`.

use k8s_openapi::api::core::v1::{Event, EventSource, Namespace, Node, ObjectReference, Pod};
use kerf_api::node_claim::NodeClaim;
use kerf_api::node_pool::NodePool;
use kerf_engine::World;
use kerf_engine::announcement::{Announcement, Tone};
use kerf_engine::event::Key;
use kerf_engine::observed::Meta;
use kerf_engine::time::Time;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, Resource};
use tokio::sync::mpsc;
use tracing::debug;

use crate::execute::Pace;
use crate::observe::meta::api_time;

/// The component Events come from; dashboards filter by it.
const COMPONENT: &str = "karpenter";
/// Where Events about objects without a namespace lie.
const CLUSTER_NAMESPACE: &str = "default";
/// Events that may wait to be written; beyond that they are dropped, for they are news, not state.
const WAITING_MAX: usize = 1_000;

/// Writes Events, one after the other, no faster than its pace.
#[derive(Clone, Debug)]
pub(crate) struct Announcer(mpsc::Sender<Event>);

impl Announcer {
    /// Starts the writer; it ends when the last announcer is gone and all is written.
    pub(crate) fn start(client: Client, pace: Pace) -> (Self, tokio::task::JoinHandle<()>) {
        let (sender, mut waiting) = mpsc::channel::<Event>(WAITING_MAX);
        let task = tokio::spawn(async move {
            while let Some(event) = waiting.recv().await {
                pace.turn().await;
                let namespace = event.metadata.namespace.clone().unwrap_or_default();
                let api = Api::<Event>::namespaced(client.clone(), &namespace);
                if let Err(error) = api.create(&PostParams::default(), &event).await {
                    debug!(%error, "an Event was not written");
                }
            }
        });
        (Self(sender), task)
    }

    /// Passes an announcement on, if its object is known.
    pub(crate) fn announce(&self, announcement: &Announcement, world: &World, now: Time) {
        if let Some(about) = reference(&announcement.about, world) {
            // A full queue means a flood; what it drops is said again after its silence.
            let _ = self.0.try_send(event(announcement, about, now));
        }
    }
}

fn event(announcement: &Announcement, about: ObjectReference, now: Time) -> Event {
    let namespace = about.namespace.clone().unwrap_or_else(|| CLUSTER_NAMESPACE.to_owned());
    let time = api_time(now);
    Event {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}.", about.name.as_deref().unwrap_or_default())),
            namespace: Some(namespace),
            ..ObjectMeta::default()
        },
        involved_object: about,
        type_: Some(match announcement.tone {
            Tone::Normal => "Normal".to_owned(),
            Tone::Warning => "Warning".to_owned(),
        }),
        reason: Some(announcement.reason.to_owned()),
        message: Some(cut(&announcement.message)),
        source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: None }),
        reporting_component: Some(COMPONENT.to_owned()),
        first_timestamp: Some(time.clone()),
        last_timestamp: Some(time),
        count: Some(1),
        ..Event::default()
    }
}

/// The API server takes messages of at most 1,024 bytes.
fn cut(message: &str) -> String {
    const MESSAGE_BYTES_MAX: usize = 1_024;
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MESSAGE_BYTES_MAX - 3);
    format!("{}...", &message[..end])
}

fn reference(key: &Key, world: &World) -> Option<ObjectReference> {
    match key {
        Key::Pod(key) => {
            let pod = world.pods.get(key)?;
            Some(of::<Pod>(&pod.meta, Some(key.namespace.to_string())))
        }
        Key::Node(name) => Some(of::<Node>(&world.nodes.get(name)?.meta, None)),
        Key::Claim(name) => Some(of::<NodeClaim>(&world.claims.get(name)?.meta, None)),
        Key::Pool(name) => Some(of::<NodePool>(&world.pools.get(name)?.meta, None)),
        Key::Namespace(name) => Some(of::<Namespace>(&world.namespaces.get(name)?.meta, None)),
        Key::NodeClass(_)
        | Key::DisruptionGuard(..)
        | Key::DaemonSet(..)
        | Key::VolumeAttachment(_) => None,
    }
}

fn of<K: Resource<DynamicType = ()>>(meta: &Meta, namespace: Option<String>) -> ObjectReference {
    ObjectReference {
        api_version: Some(K::api_version(&()).into_owned()),
        kind: Some(K::kind(&()).into_owned()),
        name: Some(meta.name.to_string()),
        namespace,
        uid: Some(meta.uid.to_string()),
        ..ObjectReference::default()
    }
}
