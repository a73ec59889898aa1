//! What people are told about removals.

use kerf_consolidation::{Kept, Move, Score, payback_text};
use kerf_model::budget::DisruptionReason;
use kerf_scheduler::PlacementProblem;

use super::candidates::Candidate;
use crate::command::Command;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::Name;
use crate::reason::Blocked;
use crate::time::{Span, Time};
use crate::timestamp::rfc3339;

/// How long a pool is not told again that its budgets allow nothing.
const CLOSED_SILENCE: Span = Span::from_minutes(1);

const BLOCKED: &str = "DisruptionBlocked";

/// How long it is not repeated that too much of a pool is unhealthy.
const BRAKED_SILENCE: Span = Span::from_minutes(15);

/// A node may not go now.
pub(super) fn blocked(candidate: &Candidate<'_>, cause: &Blocked) -> Vec<KubernetesEvent> {
    if let Blocked::TooManyUnhealthy { pool, .. } = cause {
        let about = keys(candidate).into_iter().chain([Key::Pool(pool.clone())]);
        let event = |about| {
            let event = KubernetesEvent::warning(about, "NodeRepairBlocked", cause.to_string());
            event.silent_for(BRAKED_SILENCE)
        };
        return about.map(event).collect();
    }
    let event = |about| KubernetesEvent::normal(about, BLOCKED, cause.to_string());
    keys(candidate).map(event).into()
}

/// The budgets of a pool allow nothing.
pub(super) fn pool_closed(pool: &Name, reason: DisruptionReason) -> KubernetesEvent {
    let message = Blocked::Budget { reason }.to_string();
    KubernetesEvent::normal(Key::Pool(pool.clone()), BLOCKED, message).silent_for(CLOSED_SILENCE)
}

/// How long it is not repeated why a node is not consolidated.
const UNCONSOLIDATABLE_SILENCE: Span = Span::from_minutes(15);

/// A node stays because consolidating it would not do.
pub(super) fn unconsolidatable(
    candidate: &Candidate<'_>,
    kept: &Kept,
    problem: &PlacementProblem,
) -> [KubernetesEvent; 2] {
    let message = kept.text(problem, |seconds| rfc3339(Time::from_seconds(seconds)));
    keys(candidate).map(|about| {
        let event = KubernetesEvent::normal(about, "Unconsolidatable", message.clone());
        event.silent_for(UNCONSOLIDATABLE_SILENCE)
    })
}

/// A node is to be consolidated if that still holds after a moment.
pub(super) fn chosen(
    candidate: &Candidate<'_>,
    command: &Command,
    planned: &Move,
) -> [KubernetesEvent; 2] {
    let Move { saving, payback_seconds, .. } = planned;
    let payback = payback_text(*payback_seconds);
    let message = format!("{}: saves {saving} $/h, {payback}", text(command));
    keys(candidate)
        .map(|about| KubernetesEvent::normal(about, "ConsolidationCandidate", message.clone()))
}

/// A move is worth the disruption to pools whose policy is Balanced: a single node and its claim are
/// told, several by their pool.
pub(super) fn approved(
    candidates: &[Candidate<'_>],
    planned: &Move,
    problem: &PlacementProblem,
) -> Vec<KubernetesEvent> {
    let told = |score: &Score| {
        let pool = &problem.pools[score.pool].pool.name;
        let (nodes, saving) = (planned.removed.len(), planned.saving);
        let (whole, thousandths) = (score.millis / 1_000, score.millis % 1_000);
        let message = format!(
            "removing {nodes} nodes for {saving} $/h has the score {whole}.{thousandths:03} in the \
             pool {pool}; 0.5 is enough (k = 2)"
        );
        let about: Vec<Key> = match candidates {
            [candidate] => keys(candidate).into(),
            _ => vec![Key::Pool(pool.as_str().into())],
        };
        let event =
            move |about| KubernetesEvent::normal(about, "ConsolidationApproved", message.clone());
        about.into_iter().map(event).collect::<Vec<_>>()
    };
    planned.scores.iter().flat_map(told).collect()
}

/// What a node was chosen for no longer holds.
pub(super) fn rejected(candidate: &Candidate<'_>, command: &Command) -> [KubernetesEvent; 2] {
    let message = format!("{}: the nodes or their pods have changed", text(command));
    keys(candidate)
        .map(|about| KubernetesEvent::normal(about, "ConsolidationRejected", message.clone()))
}

/// A command in a few words: `Underutilized: replace 2 nodes by 1`.
fn text(command: &Command) -> String {
    let (reason, nodes) = (command.reason.as_str(), command.candidates.len());
    match command.replacements.len() {
        0 => format!("{reason}: delete {nodes} of the nodes"),
        launched => format!("{reason}: replace {nodes} of the nodes by {launched}"),
    }
}

/// A node goes now.
pub(super) fn terminating(
    candidate: &Candidate<'_>,
    reason: DisruptionReason,
) -> [KubernetesEvent; 2] {
    keys(candidate).map(|about| {
        let message = format!("the node is taken away: {reason}");
        KubernetesEvent::normal(about, "DisruptionTerminating", message)
    })
}

fn keys(candidate: &Candidate<'_>) -> [Key; 2] {
    let node = Key::Node(candidate.node.meta.name.clone());
    [node, Key::Claim(candidate.claim.meta.name.clone())]
}
