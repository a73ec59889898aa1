//! Conditions that changed, for people and dashboards.

use crate::announcement::Announcement;
use crate::condition::{Condition, Conditions, READY, claim, pool};
use crate::decision::Decision;
use crate::event::Key;
use crate::measure::Measure;
use crate::observed::Meta;
use crate::time::Time;

/// A claim or pool that people and dashboards are told about.
pub(super) struct Told<'a> {
    about: &'a Key,
    kind: &'static str,
    /// Labels of its metrics beyond those all kinds have.
    extra: Labels,
}

type Labels = Vec<(&'static str, String)>;

/// The group of both kinds.
const GROUP: &str = "karpenter.sh";

impl<'a> Told<'a> {
    /// A claim of that pool.
    pub(super) fn claim(about: &'a Key, pool: Option<&str>) -> Self {
        let extra = vec![("karpenter_sh_nodepool", pool.unwrap_or_default().to_owned())];
        Self { about, kind: "NodeClaim", extra }
    }

    /// A pool.
    pub(super) fn pool(about: &'a Key) -> Self {
        Self { about, kind: "NodePool", extra: Vec::new() }
    }

    /// The labels of the older metrics that all kinds share.
    fn older(&self) -> Labels {
        vec![("group", GROUP.to_owned()), ("kind", self.kind.to_owned())]
    }
}

/// Tells and counts every condition whose status changed.
pub(super) fn tell(object: &Told<'_>, old: &Conditions, new: &Conditions, decision: &mut Decision) {
    for condition in &new.0 {
        let Some(former) = old.get(&condition.kind) else { continue };
        if former.status == condition.status {
            continue;
        }
        if let Some(reason) = word_for(&condition.kind) {
            let text = sentence(former, condition);
            decision.announce(Announcement::normal(object.about.clone(), reason, text));
        }
        decision.measures.extend(measures(object, former, condition));
    }
}

fn sentence(former: &Condition, condition: &Condition) -> String {
    let why = match (condition.reason == condition.kind, condition.message.is_empty()) {
        (true, true) => String::new(),
        (_, true) => format!(", Reason: {}", condition.reason),
        _ => format!(", Reason: {}, Message: {}", condition.reason, condition.message),
    };
    format!(
        "Status condition transitioned, Type: {}, Status: {} -> {}{why}",
        condition.kind, former.status, condition.status
    )
}

fn measures(object: &Told<'_>, former: &Condition, condition: &Condition) -> Vec<Measure> {
    let (count, took) = match object.about {
        Key::Claim(_) => (
            "operator_nodeclaim_status_condition_transitions_total",
            "operator_nodeclaim_status_condition_transition_seconds",
        ),
        Key::Pool(_) => (
            "operator_nodepool_status_condition_transitions_total",
            "operator_nodepool_status_condition_transition_seconds",
        ),
        _ => return Vec::new(),
    };
    let own = || vec![("type", condition.kind.clone()), ("status", condition.status.to_string())];
    let reason = || ("reason", condition.reason.clone());
    let span = condition.changed_at.since(former.changed_at);
    let older = object.older();
    let older_count = "operator_status_condition_transitions_total";
    let older_took = "operator_status_condition_transition_seconds";
    let counted = |extra: &Labels| own().into_iter().chain([reason()]).chain(extra.clone());
    let timed = |extra: &Labels| own().into_iter().chain(extra.clone()).collect();
    vec![
        Measure::one(count, counted(&object.extra).collect()),
        Measure::one(older_count, counted(&older).collect()),
        Measure::Took { metric: took, labels: timed(&object.extra), span },
        Measure::Took { metric: older_took, labels: timed(&older), span },
    ]
}

/// How long the end of an object took, from the request to the end.
pub(super) fn ended(object: &Told<'_>, meta: &Meta, now: Time) -> Vec<Measure> {
    let metric = match object.about {
        Key::Claim(_) => "operator_nodeclaim_termination_duration_seconds",
        Key::Pool(_) => "operator_nodepool_termination_duration_seconds",
        _ => return Vec::new(),
    };
    let Some(since) = meta.deleting_since else { return Vec::new() };
    let span = now.since(since);
    let older = "operator_termination_duration_seconds";
    vec![
        Measure::Took { metric, labels: object.extra.clone(), span },
        Measure::Took { metric: older, labels: object.older(), span },
    ]
}

/// The word an Event about a condition carries; conditions of others are theirs to announce.
fn word_for(kind: &str) -> Option<&'static str> {
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
    ]
    .into_iter()
    .find(|known| *known == kind)
}
