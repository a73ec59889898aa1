//! Conditions that changed, for people and dashboards.

use crate::announcement::Announcement;
use crate::condition::{Condition, Conditions, READY, claim, pool};
use crate::decision::Decision;
use crate::event::Key;
use crate::measure::Measure;

/// Tells and counts every condition whose status changed.
pub(super) fn tell(about: &Key, old: &Conditions, new: &Conditions, decision: &mut Decision) {
    for condition in &new.0 {
        let Some(former) = old.get(&condition.kind) else { continue };
        if former.status == condition.status {
            continue;
        }
        if let Some(reason) = word_for(&condition.kind) {
            let text = sentence(former, condition);
            decision.announce(Announcement::normal(about.clone(), reason, text));
        }
        decision.measures.extend(measures(about, former, condition));
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

fn measures(about: &Key, former: &Condition, condition: &Condition) -> Vec<Measure> {
    let (count, took) = match about {
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
    let labels =
        || vec![("type", condition.kind.clone()), ("status", condition.status.to_string())];
    let mut counted = labels();
    counted.push(("reason", condition.reason.clone()));
    let span = condition.changed_at.since(former.changed_at);
    vec![Measure::one(count, counted), Measure::Took { metric: took, labels: labels(), span }]
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
