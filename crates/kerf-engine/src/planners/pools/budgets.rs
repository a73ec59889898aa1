//! What the budgets of a pool leave, as a condition: `kubectl get nodepools -o yaml` shows it.
//!
//! It is a condition and no field of its own, because the CRD may be one that does not know the
//! field. Whether it holds follows from what budgets say now, not from what is used up of them: it
//! changes with windows and edits, and the message with every node that goes.

use std::collections::BTreeMap;

use kerf_model::budget::Allowed;

use super::Reconcile;
use crate::condition::pool::DISRUPTION_ALLOWED;
use crate::planners::disruption;
use crate::reading::Allowance;
use crate::time::{Span, Time};
use crate::timestamp::rfc3339;

/// How soon to look again while nodes are away: nodes that become ready lead to no other look.
const LOOK_AGAIN: Span = Span::from_minutes(1);

/// Says how many nodes may go for each reason, and when that changes next.
pub(super) fn tell(reconcile: &mut Reconcile<'_>) {
    let (world, now) = (reconcile.world, reconcile.now);
    let allowances = disruption::allowances_of(world, &reconcile.pool.meta.name, now);
    let tally = world.pool_tally(&reconcile.pool.meta.name);
    let message = text(&allowances);
    let is_closed = allowances.iter().all(|it| it.allowed.is_none());
    if is_closed && tally.nodes > 0 {
        reconcile.conditions.set_false(DISRUPTION_ALLOWED, "BudgetsClosed", &message);
    } else {
        let (kind, reason) = (DISRUPTION_ALLOWED, "WithinBudgets");
        reconcile.conditions.set_true_because(kind, reason, &message);
    }
    if let Some(at) = allowances.iter().filter_map(|it| it.changes_at).min() {
        reconcile.decision.wake(at);
    }
    if allowances.iter().any(|it| it.disrupted > 0) {
        reconcile.decision.wake(now + LOOK_AGAIN);
    }
}

/// `Drifted: 1 of 2; Empty, Underutilized, Unhealthy: 0 of 1 until 2026-01-02T18:00:00Z`.
fn text(allowances: &[Allowance]) -> String {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for allowance in allowances {
        alike.entry(left(allowance)).or_default().push(allowance.reason.as_str());
    }
    let mut parts: Vec<String> = alike
        .into_iter()
        .map(|(left, mut reasons)| {
            reasons.sort_unstable();
            format!("{}: {left}", reasons.join(", "))
        })
        .collect();
    parts.sort_unstable();
    parts.join("; ")
}

fn left(allowance: &Allowance) -> String {
    let until = |at: Time| format!(" until {}", rfc3339(at));
    let until = allowance.changes_at.map(until).unwrap_or_default();
    match (allowance.allowed, allowance.allowed.less(allowance.disrupted)) {
        (Allowed::AtMost(all), Allowed::AtMost(left)) => format!("{left} of {all}{until}"),
        _ => format!("no limit{until}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kerf_model::budget::DisruptionReason;

    #[test]
    fn reasons_that_are_alike_are_told_together() {
        let allowance = |reason, allowed, disrupted, changes_at| Allowance {
            pool: "pool".into(),
            reason,
            allowed,
            disrupted,
            changes_at,
        };
        let evening = Some(Time::from_seconds(1_767_376_800));
        let all = [
            allowance(DisruptionReason::Empty, Allowed::AtMost(2), 1, None),
            allowance(DisruptionReason::Drifted, Allowed::AtMost(0), 1, evening),
            allowance(DisruptionReason::Underutilized, Allowed::AtMost(2), 1, None),
            allowance(DisruptionReason::Unhealthy, Allowed::Unlimited, 0, None),
        ];
        assert_eq!(
            text(&all),
            "Drifted: 0 of 0 until 2026-01-02T18:00:00Z; Empty, Underutilized: 1 of 2; Unhealthy: no limit"
        );
    }
}
