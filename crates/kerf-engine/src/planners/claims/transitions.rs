//! Conditions that changed, for people and dashboards.

use kerf_model::labels::well_known::{INITIALIZED as INITIALIZED_LABEL, NODE_POOL};
use kerf_model::labels::{aws, kwok};

use crate::condition::{Condition, Conditions, READY, Status, claim, pool};
use crate::decision::Decision;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::{Claim, Meta, Node, NodeClass, Pool};
use crate::provider::ManagedNodeClass;
use crate::sample::Sample;
use crate::time::Time;

/// An object whose conditions are counted and recorded as Events.
pub(super) struct ConditionOwner<'a> {
    about: Key,
    meta: &'a Meta,
    /// The metrics of its kind; none of a node class that no dashboard knows.
    metrics: Option<Metrics>,
    /// The conditions that always exist; one that is not stored is unknown since the beginning.
    dependents: Vec<&'a str>,
    /// Labels of its metrics beyond those all kinds have.
    extra: Labels,
    /// The group and kind the older metrics name it by; they never knew nodes.
    older: Option<(&'a str, &'static str)>,
}

/// The names of the metrics of a kind.
struct Metrics {
    transitions: &'static str,
    transition_seconds: &'static str,
    termination_seconds: &'static str,
}

type Labels = Vec<(&'static str, String)>;

/// The group of claims and pools.
const GROUP: &str = "karpenter.sh";
/// The kind of node classes that metrics are named after.
const EC2_NODE_CLASS: &str = "EC2NodeClass";

impl<'a> ConditionOwner<'a> {
    /// A claim.
    pub(super) fn claim(claim: &'a Claim) -> Self {
        let label = |key: &str| claim.label(key).unwrap_or_default().to_owned();
        Self {
            about: Key::Claim(claim.meta.name.clone()),
            meta: &claim.meta,
            metrics: Some(Metrics {
                transitions: "operator_nodeclaim_status_condition_transitions_total",
                transition_seconds: "operator_nodeclaim_status_condition_transition_seconds",
                termination_seconds: "operator_nodeclaim_termination_duration_seconds",
            }),
            dependents: claim::DEPENDENTS.to_vec(),
            extra: shared_labels(label).collect(),
            older: Some((GROUP, "NodeClaim")),
        }
    }

    /// A pool.
    pub(super) fn pool(pool: &'a Pool) -> Self {
        Self {
            about: Key::Pool(pool.meta.name.clone()),
            meta: &pool.meta,
            metrics: Some(Metrics {
                transitions: "operator_nodepool_status_condition_transitions_total",
                transition_seconds: "operator_nodepool_status_condition_transition_seconds",
                termination_seconds: "operator_nodepool_termination_duration_seconds",
            }),
            dependents: pool::DEPENDENTS.to_vec(),
            extra: Vec::new(),
            older: Some((GROUP, "NodePool")),
        }
    }

    /// A node class whose conditions are Kerf's to keep.
    pub(super) fn node_class(class: &'a NodeClass, managed: &'a ManagedNodeClass) -> Self {
        let is_known = class.key.kind == EC2_NODE_CLASS;
        Self {
            about: Key::NodeClass(class.key.clone()),
            meta: &class.meta,
            metrics: is_known.then_some(Metrics {
                transitions: "operator_ec2nodeclass_status_condition_transitions_total",
                transition_seconds: "operator_ec2nodeclass_status_condition_transition_seconds",
                termination_seconds: "operator_ec2nodeclass_termination_duration_seconds",
            }),
            dependents: managed.conditions.iter().map(String::as_str).collect(),
            extra: Vec::new(),
            older: is_known.then_some((class.key.group.as_str(), EC2_NODE_CLASS)),
        }
    }

    /// A node.
    pub(super) fn node(node: &'a Node) -> Self {
        let label = |key: &str| node.labels.get(key).cloned().unwrap_or_default();
        let initialized = ("karpenter_sh_initialized", label(INITIALIZED_LABEL));
        Self {
            about: Key::Node(node.meta.name.clone()),
            meta: &node.meta,
            metrics: Some(Metrics {
                transitions: "operator_node_status_condition_transitions_total",
                transition_seconds: "operator_node_status_condition_transition_seconds",
                termination_seconds: "operator_node_termination_duration_seconds",
            }),
            dependents: Vec::new(),
            extra: shared_labels(label).chain([initialized]).collect(),
            older: None,
        }
    }

    /// What a condition was, and since when. Those that always exist were unknown before anybody
    /// wrote them.
    fn former(&self, old: &Conditions, kind: &str) -> Option<(Status, Time)> {
        let stored = old.get(kind).map(|former| (former.status, former.changed_at));
        let has_root = !self.dependents.is_empty();
        let always_exists = has_root && kind == READY || self.dependents.contains(&kind);
        stored.or(always_exists.then_some((Status::Unknown, self.meta.created_at)))
    }

    fn counted(&self, condition: &Condition) -> impl Iterator<Item = Sample> {
        let labels = |extra: Labels| {
            let own = [
                ("type", condition.kind.clone()),
                ("status", condition.status.to_string()),
                ("reason", condition.reason.clone()),
            ];
            own.into_iter().chain(extra).collect()
        };
        let older = self
            .older()
            .map(|extra| Sample::one("operator_status_condition_transitions_total", labels(extra)));
        let own = self.metrics.as_ref();
        let own = own.map(|own| Sample::one(own.transitions, labels(self.extra.clone())));
        own.into_iter().chain(older)
    }

    /// How long the condition had the status it no longer has.
    fn timed(
        &self,
        condition: &Condition,
        former: Status,
        since: Time,
    ) -> impl Iterator<Item = Sample> {
        let span = condition.changed_at.since(since);
        let took = |metric, extra: Labels| {
            let own = [("type", condition.kind.clone()), ("status", former.to_string())];
            Sample::Took { metric, labels: own.into_iter().chain(extra).collect(), span }
        };
        let older =
            self.older().map(|extra| took("operator_status_condition_transition_seconds", extra));
        let own = self.metrics.as_ref();
        let own = own.map(|own| took(own.transition_seconds, self.extra.clone()));
        own.into_iter().chain(older)
    }

    /// The labels of the older metrics that all kinds share.
    fn older(&self) -> Option<Labels> {
        let (group, kind) = self.older?;
        Some(vec![("group", group.to_owned()), ("kind", kind.to_owned())])
    }
}

/// The pool and the node class, as labels of metrics. Only the class of its own kind is there.
fn shared_labels(label: impl Fn(&str) -> String) -> impl Iterator<Item = (&'static str, String)> {
    let classes = [
        ("karpenter_k8s_aws_ec2nodeclass", label(aws::NODE_CLASS)),
        ("karpenter_kwok_sh_kwoknodeclass", label(kwok::NODE_CLASS)),
    ];
    let class = classes.into_iter().filter(|(_, value)| !value.is_empty());
    class.chain([("karpenter_sh_nodepool", label(NODE_POOL))])
}

/// Counts every condition whose status changed, one that was not there being unknown, and records an
/// Event for those that were there before.
pub(super) fn record(
    object: &ConditionOwner<'_>,
    old: &Conditions,
    new: &Conditions,
    decision: &mut Decision,
) {
    for condition in &new.0 {
        let former = object.former(old, &condition.kind);
        let status = former.map_or(Status::Unknown, |(status, _)| status);
        if status == condition.status {
            continue;
        }
        decision.samples.extend(object.counted(condition));
        let Some((status, since)) = former else { continue };
        decision.samples.extend(object.timed(condition, status, since));
        if let Some(reason) = event_reason(&condition.kind) {
            let text = event_message(status, condition);
            decision.record(KubernetesEvent::normal(object.about.clone(), reason, text));
        }
    }
}

fn event_message(former: Status, condition: &Condition) -> String {
    let Condition { kind, status, reason, message, .. } = condition;
    let message = if message.is_empty() { String::new() } else { format!(", Message: {message}") };
    format!(
        "Status condition transitioned, Type: {kind}, Status: {former} -> {status}, \
         Reason: {reason}{message}"
    )
}

/// How long the end of an object took, from the request to the end.
pub(super) fn ended(object: &ConditionOwner<'_>, now: Time) -> Vec<Sample> {
    let Some(since) = object.meta.deleting_since else { return Vec::new() };
    let span = now.since(since);
    let own = object.metrics.as_ref();
    let own = own.map(|own| (own.termination_seconds, object.extra.clone()));
    let older = object.older().map(|labels| ("operator_termination_duration_seconds", labels));
    let all = own.into_iter().chain(older);
    all.map(|(metric, labels)| Sample::Took { metric, labels, span }).collect()
}

/// The reason of an Event about a condition; conditions of others are theirs to report.
fn event_reason(kind: &str) -> Option<&'static str> {
    [
        READY,
        claim::LAUNCHED,
        claim::REGISTERED,
        claim::INITIALIZED,
        claim::DRAINED,
        claim::VOLUMES_DETACHED,
        claim::INSTANCE_TERMINATING,
        claim::CONSISTENT_STATE_FOUND,
        pool::VALIDATION_SUCCEEDED,
        pool::NODE_CLASS_READY,
        pool::NODE_REGISTRATION_HEALTHY,
        "AMIsReady",
        "CapacityReservationsReady",
        "InstanceProfileReady",
        "PlacementGroupReady",
        "SecurityGroupsReady",
        "SubnetsReady",
    ]
    .into_iter()
    .find(|known| *known == kind)
}
