//! What is counted, under the names dashboards know.

use std::time::Duration;

use kerf_runtime::metrics::{Labels, Registry};

use crate::kind::EventKind;

const SCOPE: (&str, &str) = ("otel_scope_name", "aws.node.termination.handler");

/// Up to the two minutes of a spot notice and the longest drain by default, and some more.
const SECONDS: &[f64] = &[0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0];

/// What is done to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeAction {
    Cordon,
    CordonAndDrain,
    Uncordon,
    PreDrain,
    PostDrain,
}

impl NodeAction {
    const fn label(self) -> &'static str {
        match self {
            Self::Cordon => "cordon",
            Self::CordonAndDrain => "cordon-and-drain",
            Self::Uncordon => "uncordon",
            Self::PreDrain => "pre-drain",
            Self::PostDrain => "post-drain",
        }
    }
}

/// Everything counted. Copies share it.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    registry: Registry,
    /// Whether actions are also counted by node and event. There is no end to these.
    by_node: bool,
}

impl Counters {
    pub(crate) fn new(registry: Registry, by_node: bool) -> Self {
        registry.describe([
            ("actions_total", "Number of actions"),
            ("actions_node_total", "Number of actions per node (deprecated)"),
            ("events_error_total", "Number of errors in events processing"),
            ("kerf_nth_events_total", "Events by kind and what came of them."),
            ("kerf_nth_event_latency_seconds", "From an event to the begin of its drain."),
            ("kerf_nth_drain_duration_seconds", "From the begin of a drain to its end."),
            ("kerf_nth_workers_busy", "Events under way."),
        ]);
        Self { registry, by_node }
    }

    /// Something was done to a node because of an event, or was to be.
    pub(crate) fn acted(&self, action: NodeAction, is_ok: bool, (node, event_id): (&str, &str)) {
        let status = if is_ok { "success" } else { "error" };
        if self.by_node {
            let labels = vec![
                ("node_action", action.label().to_owned()),
                ("node_event_id", event_id.to_owned()),
                ("node_name", node.to_owned()),
                ("node_status", status.to_owned()),
                scope(),
            ];
            self.registry.count("actions_node_total", labels, 1);
        }
        let labels = vec![
            ("node_action", action.label().to_owned()),
            ("node_status", status.to_owned()),
            scope(),
        ];
        self.registry.count("actions_total", labels, 1);
    }

    /// Something about events failed.
    pub(crate) fn failed(&self, place: &str) {
        let labels = vec![("event_error_where", place.to_owned()), scope()];
        self.registry.count("events_error_total", labels, 1);
    }

    /// An event has its end.
    pub(crate) fn ended(&self, kind: EventKind, result: &str) {
        let labels: Labels = vec![("kind", kind.name().to_owned()), ("result", result.to_owned())];
        self.registry.count("kerf_nth_events_total", labels, 1);
    }

    /// A drain begins so long after its event.
    pub(crate) fn began_after(&self, latency: Duration) {
        self.registry.observe("kerf_nth_event_latency_seconds", Vec::new(), SECONDS, latency);
    }

    /// A drain took so long.
    pub(crate) fn drained_in(&self, took: Duration) {
        self.registry.observe("kerf_nth_drain_duration_seconds", Vec::new(), SECONDS, took);
    }

    /// So many events are under way.
    pub(crate) fn under_way(&self, events: usize) {
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        self.registry.set("kerf_nth_workers_busy", Vec::new(), f64::from(events));
    }
}

fn scope() -> (&'static str, String) {
    (SCOPE.0, SCOPE.1.to_owned())
}
