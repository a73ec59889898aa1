//! Kubernetes Events on nodes and pods, under the reasons people filter by.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, Node, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kerf_engine::notice::FoundNode;
use kerf_engine::observed::PodKey;
use kerf_kube::EventSpec;
use kerf_runtime::{FailureLog, clock};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::{mpsc, watch};

use crate::kind::EventKind;
use crate::metadata::NodeMetadata;

/// Who tells.
const COMPONENT: &str = "aws-node-termination-handler";
/// Events that may wait to be written; beyond that they are dropped, for they are not state.
const WAITING_MAX: usize = 1_000;
/// What failures are logged as.
const WHAT: &str = "recording Kubernetes Events";

/// Annotations that a node's labels tell.
const OF_LABELS: [(&str, &str); 3] = [
    ("availability-zone", "topology.kubernetes.io/zone"),
    ("region", "topology.kubernetes.io/region"),
    ("instance-type", "node.kubernetes.io/instance-type"),
];

/// Records Events, one after the other. Copies share it.
#[derive(Clone, Debug)]
pub(crate) struct KubernetesEvents {
    waiting: mpsc::Sender<Recorded>,
    extra: Arc<BTreeMap<String, String>>,
    metadata: watch::Receiver<NodeMetadata>,
}

/// How Events are recorded.
pub(crate) struct RecorderSettings {
    /// Annotations that every Event gets.
    pub(crate) extra: BTreeMap<String, String>,
    /// The node that errors of the handler itself are told of.
    pub(crate) own_node: String,
    /// What is known of the instance, where the handler runs on it.
    pub(crate) metadata: watch::Receiver<NodeMetadata>,
}

#[derive(Debug)]
enum Recorded {
    Event(Box<Event>),
    /// About the node the handler runs on, whose identity has to be asked for.
    AboutOwnNode {
        reason: &'static str,
        text: String,
    },
}

impl KubernetesEvents {
    /// Starts the writer, which ends when nobody can record any more.
    pub(crate) fn start(client: Client, settings: RecorderSettings, failures: FailureLog) -> Self {
        let RecorderSettings { extra, own_node, metadata } = settings;
        let (waiting, mut events) = mpsc::channel::<Recorded>(WAITING_MAX);
        tokio::spawn(async move {
            while let Some(recorded) = events.recv().await {
                let event = match recorded {
                    Recorded::Event(event) => event,
                    Recorded::AboutOwnNode { reason, text } => {
                        match about_own_node(&client, &own_node, reason, &text).await {
                            Some(event) => Box::new(event),
                            None => continue,
                        }
                    }
                };
                let namespace = event.metadata.namespace.clone().unwrap_or_default();
                let api = Api::<Event>::namespaced(client.clone(), &namespace);
                match api.create(&PostParams::default(), &event).await {
                    Ok(_) => failures.recovered(WHAT),
                    Err(error) => drop(failures.failed(WHAT, "refused", error.to_string())),
                }
            }
        });
        Self { waiting, extra: Arc::new(extra), metadata }
    }

    /// Records that a monitor gets no answer.
    pub(crate) fn monitor_error(&self, monitor: &str) {
        let text = format!("There was a problem monitoring for events in monitor '{monitor}'");
        let _ = self.waiting.try_send(Recorded::AboutOwnNode { reason: "MonitorError", text });
    }

    /// Records what happens to a node.
    pub(crate) fn about_node(&self, node: &FoundNode, is_warning: bool, reason: &str, text: &str) {
        let object = ObjectReference {
            kind: Some("Node".to_owned()),
            api_version: Some("v1".to_owned()),
            name: Some(node.name.to_string()),
            uid: Some(node.uid.to_string()),
            ..ObjectReference::default()
        };
        let mut annotations: BTreeMap<String, String> = OF_LABELS
            .iter()
            .filter_map(|(name, key)| Some(((*name).to_owned(), node.labels.get(*key)?.clone())))
            .collect();
        if let Some((_, instance)) = node.provider_id.as_deref().and_then(|id| id.rsplit_once('/'))
        {
            annotations.insert("instance-id".to_owned(), instance.to_owned());
        }
        annotations.extend(self.metadata.borrow().annotations());
        self.record(object, &node.name, annotations, (is_warning, reason, text));
    }

    /// Records that pods are evicted.
    pub(crate) fn evictions(&self, node: &FoundNode) {
        let text = format!("Pod evicted due to node drain (node {})", node.name);
        for PodKey { namespace, name } in &node.leaving {
            let object = ObjectReference {
                kind: Some("Pod".to_owned()),
                api_version: Some("v1".to_owned()),
                namespace: Some(namespace.to_string()),
                name: Some(name.to_string()),
                ..ObjectReference::default()
            };
            let annotations = BTreeMap::from([("node".to_owned(), node.name.to_string())]);
            self.record(object, &node.name, annotations, (false, "PodEviction", &text));
        }
    }

    fn record(
        &self,
        object: ObjectReference,
        host: &str,
        mut annotations: BTreeMap<String, String>,
        (is_warning, reason, message): (bool, &str, &str),
    ) {
        let spec = EventSpec { component: COMPONENT, is_warning, reason, message };
        let now: Timestamp = clock::now();
        let mut event = spec.about(object, Time(now));
        let source = event.source.take();
        event.source = source.map(|it| EventSource { host: Some(host.to_owned()), ..it });
        annotations.extend(self.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        event.metadata.annotations = Some(annotations);
        let _ = self.waiting.try_send(Recorded::Event(Box::new(event)));
    }
}

/// A warning about the node the handler runs on; none where there is no such node.
async fn about_own_node(client: &Client, name: &str, reason: &str, text: &str) -> Option<Event> {
    let node = Api::<Node>::all(client.clone()).get_opt(name).await.ok()??;
    let object = ObjectReference {
        kind: Some("Node".to_owned()),
        api_version: Some("v1".to_owned()),
        name: Some(name.to_owned()),
        uid: node.metadata.uid,
        ..ObjectReference::default()
    };
    let spec = EventSpec { component: COMPONENT, is_warning: true, reason, message: text };
    Some(spec.about(object, Time(clock::now())))
}

/// The reason of the Event that tells of an event.
pub(crate) const fn reason(kind: EventKind) -> &'static str {
    match kind {
        EventKind::SpotItn => "SpotInterruption",
        EventKind::ScheduledEvent => "ScheduledEvent",
        EventKind::RebalanceRecommendation => "RebalanceRecommendation",
        EventKind::StateChange => "StateChange",
        EventKind::AsgLifecycle | EventKind::AsgLaunchLifecycle => "ASGLifecycle",
    }
}

/// What a Kubernetes Event says of a step.
pub(crate) struct Phase {
    pub(crate) is_warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) text: &'static str,
}

impl Phase {
    /// The node is closed.
    pub(crate) const PRE_DRAIN: Self =
        Self::new("PreDrain", "Pre-drain task successfully executed");

    const fn new(reason: &'static str, text: &'static str) -> Self {
        Self { is_warning: is_error(reason), reason, text }
    }

    /// The node is open again, or could not be opened.
    pub(crate) const fn uncordon(is_ok: bool) -> Self {
        match is_ok {
            true => Self::new("Uncordon", "Node successfully uncordoned"),
            false => Self::new(
                "UncordonError",
                "There was a problem while trying to uncordon the node: it was not over in time",
            ),
        }
    }

    /// The node is closed, or emptied as well, or could not be in time.
    pub(crate) const fn drain(cordons: bool, is_ok: bool) -> Self {
        match (cordons, is_ok) {
            (true, true) => Self::new("Cordon", "Node successfully cordoned"),
            (false, true) => Self::new("CordonAndDrain", "Node successfully cordoned and drained"),
            (true, false) => Self::new(
                "CordonError",
                "There was a problem while trying to cordon the node: it was not over in time",
            ),
            (false, false) => Self::new(
                "CordonAndDrainError",
                "There was a problem while trying to cordon and drain the node: it was not over in \
                 time",
            ),
        }
    }

    /// What waited for the drain was told, or could not be.
    pub(crate) const fn post_drain(is_ok: bool) -> Self {
        match is_ok {
            true => Self::new("PostDrain", "Post-drain task successfully executed"),
            false => Self::new(
                "PostDrainError",
                "There was a problem executing the post-drain task: the lifecycle hook could not be \
                 completed",
            ),
        }
    }
}

/// Whether a reason ends in `Error`.
const fn is_error(reason: &str) -> bool {
    let bytes = reason.as_bytes();
    matches!(bytes.last_chunk::<5>(), Some(b"Error"))
}
