//! What people are told about removals.

use kerf_consolidation::{Kept, Move, Score, payback_text};
use kerf_model::budget::DisruptionReason;
use kerf_scheduler::PlacementProblem;

use super::candidates::Candidate;
use super::command_text;
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
    let message =
        format!("No allowed disruptions for disruption reason {reason} due to blocking budget");
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
    candidates: &[Candidate<'_>],
    command: &Command,
    planned: &Move,
) -> Vec<KubernetesEvent> {
    let payback = payback_text(planned.payback_seconds);
    let about_each = |candidate: &Candidate<'_>| {
        let text = command_text::for_node(command, candidates, candidate);
        let saving = command_text::saving(command);
        let message = format!("Consolidation candidate: {text}{saving}; {payback}");
        keys(candidate)
            .map(|about| KubernetesEvent::normal(about, "ConsolidationCandidate", message.clone()))
    };
    candidates.iter().flat_map(about_each).collect()
}

/// A move is worth the disruption to pools whose policy is Balanced: a single node and its claim are
/// told, several by their pool.
pub(super) fn approved(
    candidates: &[Candidate<'_>],
    planned: &Move,
    problem: &PlacementProblem,
) -> Vec<KubernetesEvent> {
    let told = |score: &Score| {
        let percent = |permille: u64| format!("{}.{}%", permille / 10, permille % 10);
        let message = format!(
            "score {}.{:02} >= threshold 0.50 (k: 2, savings {}, disruption {})",
            score.millis / 1_000,
            score.millis % 1_000 / 10,
            percent(score.saved_permille),
            percent(score.disrupted_permille),
        );
        let about: Vec<Key> = match candidates {
            [candidate] => keys(candidate).into(),
            _ => vec![Key::Pool(problem.pools[score.pool].pool.name.as_str().into())],
        };
        let event =
            move |about| KubernetesEvent::normal(about, "ConsolidationApproved", message.clone());
        about.into_iter().map(event).collect::<Vec<_>>()
    };
    planned.scores.iter().flat_map(told).collect()
}

/// What nodes were chosen for no longer holds.
pub(super) fn rejected(
    candidates: &[Candidate<'_>],
    command: &Command,
    why: &str,
) -> Vec<KubernetesEvent> {
    let about_each = |candidate: &Candidate<'_>| {
        let text = command_text::for_node(command, candidates, candidate);
        let saving = command_text::saving(command);
        let message = format!("Consolidation rejected: {text}, reason: {why}{saving}");
        keys(candidate)
            .map(|about| KubernetesEvent::normal(about, "ConsolidationRejected", message.clone()))
    };
    candidates.iter().flat_map(about_each).collect()
}

/// A replacement comes up, and nothing is evicted before it has.
pub(super) fn replacement_comes(claim: &Name, reason: DisruptionReason) -> [KubernetesEvent; 2] {
    let about = || Key::Claim(claim.clone());
    let launching = format!("Launching NodeClaim: {reason}");
    let waiting = "Waiting on readiness to continue disruption";
    [
        KubernetesEvent::normal(about(), "DisruptionLaunching", launching),
        KubernetesEvent::normal(about(), "DisruptionWaitingReadiness", waiting),
    ]
}

/// A node goes now.
pub(super) fn terminating(
    candidate: &Candidate<'_>,
    reason: DisruptionReason,
) -> [KubernetesEvent; 2] {
    let [node, claim] = keys(candidate);
    let event = |about, kind: &str| {
        let message = format!("Disrupting {kind}: {reason}");
        KubernetesEvent::normal(about, "DisruptionTerminating", message)
    };
    [event(node, "Node"), event(claim, "NodeClaim")]
}

fn keys(candidate: &Candidate<'_>) -> [Key; 2] {
    let node = Key::Node(candidate.node.meta.name.clone());
    [node, Key::Claim(candidate.claim.meta.name.clone())]
}
