//! From the plan of a search to commands, in the world as it is by now.

use std::collections::{BTreeMap, BTreeSet};

use kerf_consolidation::{Kept, Move};
use kerf_scheduler::{Displaced, PlacementProblem};

use super::Consolidation;
use crate::action::{Action, ActionKind, NewClaim};
use crate::command::{Command, CommandUpdate, Destination};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::{KeptMove, KeptPlan, Update};
use crate::observed::{Name, Pod, PodKey};
use crate::planners::disruption::budgets::Budgets;
use crate::planners::disruption::candidates::{Candidate, Judge};
use crate::planners::disruption::method::Method;
use crate::planners::disruption::{CHOSEN_BY, hold_off, messages, metrics};
use crate::planners::provisioning::{Occupants, Replacements, asked_pod, target};
use crate::solve::{Consolidation as Asked, ConsolidationPlan};
use crate::time::{Span, Time};
use crate::world::World;

/// Nodes told why they stay after one search at most; the others may ask.
const KEPT_EVENTS_MAX: usize = 100;

/// What to make of the answer: each move that still holds is proposed.
pub(in crate::planners) fn conclude(
    world: &World,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    let ActionKind::Solve(request) = &action.kind else { return decision };
    let is_fresh = world.is_fresh(&CHOSEN_BY, now);
    let (Some(asked), Outcome::Consolidated(plan), true) =
        (&request.consolidation, outcome, is_fresh)
    else {
        let (unreached, found) = (Vec::new(), true);
        let plan = world.memory.consolidation.plan.clone();
        decision.remember(Update::ConsolidationAnswered { at: now, unreached, found, plan });
        return decision;
    };
    let mut verdict = Verdict {
        world,
        problem: &request.problem,
        asked,
        judge: Judge::new(world, now),
        budgets: Budgets::of(world, now),
        replacements: Replacements::new(world, &request.problem, now),
        occupants: Occupants::new(world, now),
        now,
    };
    for each in &plan.wave {
        if let Some((command, candidates)) = verdict.command(each) {
            decision.kubernetes_events.extend(messages::chosen(&candidates, &command, each));
            let approved = messages::approved(&candidates, each, &request.problem);
            decision.kubernetes_events.extend(approved);
            decision.remember(Update::Command(CommandUpdate::Add(Box::new(command))));
        }
    }
    tell_kept(world, &request.problem, asked, plan, &mut decision);
    let asked_at = world.memory.consolidation.asked_at;
    decision.samples.extend(metrics::judged(&request.problem, plan));
    decision.samples.extend(metrics::searched(plan, asked_at.map(|at| now.since(at))));
    decision.remember(Update::ConsolidationAnswered {
        at: now,
        unreached: plan.unreached.clone(),
        found: !plan.wave.is_empty() || !plan.is_complete,
        plan: rest(world, &request.problem, asked, plan, now),
    });
    decision
}

/// What is left of a plan after its wave; nothing where that was all, or nothing can go on.
fn rest(
    world: &World,
    problem: &PlacementProblem,
    asked: &Asked,
    plan: &ConsolidationPlan,
    now: Time,
) -> Option<KeptPlan> {
    if plan.wave.is_empty() || plan.later.is_empty() {
        return None;
    }
    let name = |node: usize| problem.nodes[node].name.clone();
    let known = world.memory.consolidation.plan.as_ref().filter(|_| !asked.planned.is_empty());
    let moves = plan.later.iter().map(|nodes| {
        let nodes: Vec<String> = nodes.iter().map(|node| name(*node)).collect();
        let since = known.and_then(|plan| plan.known_since(&nodes)).unwrap_or(now);
        KeptMove { nodes, since }
    });
    let mut received = known.map(|plan| plan.received.clone()).unwrap_or_default();
    let destinations = plan.wave.iter().flat_map(|each| &each.destinations);
    received.extend(destinations.map(|destination| name(destination.node)));
    Some(KeptPlan { since: known.map_or(now, |plan| plan.since), moves: moves.collect(), received })
}

/// Whether what a command was decided on still holds: the same pods are to move, and nobody came to
/// the nodes they go to.
pub(super) fn holds(world: &World, command: &Command, now: Time) -> bool {
    let occupants = Occupants::new(world, now);
    let nodes = command.standing.iter();
    let mut untouched = nodes.map(|(node, known)| occupants.are_among(node, known));
    let same_pods = command.candidates.iter().all(|named| {
        let held = command.destinations.iter().filter(|held| held.candidate == named.claim);
        let held: BTreeSet<&PodKey> = held.map(|held| &held.pod).collect();
        let candidate = Candidate::named(world, &Consolidation, named);
        candidate.is_some_and(|candidate| {
            let there = candidate.reschedulable_pods(world).map(|pod| &pod.key);
            there.collect::<BTreeSet<_>>() == held
        })
    });
    // A destination that is a claim to come is nobody's node yet.
    let is_coming = |name: &Name| command.replacements.iter().any(|it| it.name() == *name);
    let stays = |held: &Destination| {
        is_coming(&held.target)
            || match world.claims.get(&held.target) {
                Some(claim) => !world.is_leaving(claim),
                None => world.nodes.get(&held.target).is_some_and(|it| !world.is_node_leaving(it)),
            }
    };
    same_pods && untouched.all(|is_same| is_same) && command.destinations.iter().all(stays)
}

struct Verdict<'a> {
    world: &'a World,
    problem: &'a PlacementProblem,
    asked: &'a Asked,
    judge: Judge<'a>,
    budgets: Budgets<'a>,
    replacements: Replacements<'a>,
    occupants: Occupants<'a>,
    now: Time,
}

impl<'a> Verdict<'a> {
    /// The command for a move and its candidates; none if a node of it was touched meanwhile.
    fn command(&mut self, each: &Move) -> Option<(Command, Vec<Candidate<'a>>)> {
        let nodes = each.removed.iter();
        let candidates: Vec<Candidate<'a>> =
            nodes.map(|node| self.candidate(*node)).collect::<Option<_>>()?;
        if !each.launches.is_empty() && candidates.iter().any(|it| self.is_held_off(it)) {
            return None;
        }
        let mut standing = BTreeMap::new();
        let mut destinations = Vec::new();
        for destination in &each.destinations {
            let view = &self.problem.nodes[destination.node];
            let (name, node) = self.world.nodes.get_key_value(view.name.as_str())?;
            let target = target(self.world, &node.meta.name)?;
            destinations.push(self.hold(destination.pod, &target)?);
            if !standing.contains_key(name) {
                let known = Occupants::of_view(view);
                if !self.occupants.are_among(name, &known) {
                    return None;
                }
                standing.insert(name.clone(), known);
            }
        }
        let replacements = self.replacements(each, &candidates)?;
        for (launch, claim) in each.launches.iter().zip(&replacements) {
            let name = Name::from(claim.spec.name.as_str());
            for pod in &launch.pods {
                destinations.push(self.hold(*pod, &name)?);
            }
        }
        let reason = Consolidation.reason();
        let fits = |it: &Candidate<'a>| self.budgets.take(&it.pool.spec.name, reason);
        if !candidates.iter().all(fits) {
            return None;
        }
        let named = candidates.iter().map(Candidate::reference).collect();
        let command = Command::proposed(reason, named, replacements, destinations, self.now);
        let payback = Some(Span::from_seconds(each.payback_seconds));
        let saving = Some(each.saving);
        let planned_at = self.planned_at(each);
        Some((Command { standing, payback, saving, planned_at, ..command }, candidates))
    }

    /// Since when the plan that is being carried out has had this move.
    fn planned_at(&self, each: &Move) -> Option<Time> {
        let plan = self.world.memory.consolidation.plan.as_ref();
        let plan = plan.filter(|_| !self.asked.planned.is_empty())?;
        let name = |node: &usize| self.problem.nodes[*node].name.clone();
        plan.known_since(&each.removed.iter().map(name).collect::<Vec<_>>())
    }

    /// The claims that come; none if a pool does not want them or has no room. The nodes that go make
    /// theirs free.
    fn replacements(&mut self, each: &Move, candidates: &[Candidate<'a>]) -> Option<Vec<NewClaim>> {
        candidates.iter().for_each(|it| self.replacements.release(it.claim));
        let launches = each.launches.iter();
        let claims = launches.map(|launch| self.replacements.claim(&launch.node).ok()).collect();
        if Option::is_none(&claims) {
            candidates.iter().for_each(|it| self.replacements.keep(it.claim));
        }
        claims
    }

    /// A node that goes, if it still may, with the same pods.
    fn candidate(&mut self, node: usize) -> Option<Candidate<'a>> {
        let candidate =
            Candidate::named(self.world, &Consolidation, self.asked.candidates.get(&node)?)?;
        let may_go = !self.world.is_leaving(candidate.claim)
            && Consolidation.is_candidate(self.world, &candidate, self.now)
            && self.judge.may_go(&Consolidation, &candidate).is_ok();
        let moves = |bound: &&kerf_model::node::BoundPod| !bound.is_daemon && !bound.is_leaving;
        let asked = self.problem.nodes[node].pods.iter().filter(moves);
        let asked: BTreeSet<&str> = asked.map(|bound| bound.pod.uid.as_str()).collect();
        let there = candidate.reschedulable_pods(self.world).map(|pod| &*pod.meta.uid);
        let is_same = there.collect::<BTreeSet<&str>>() == asked;
        (may_go && is_same).then_some(candidate)
    }

    fn is_held_off(&self, candidate: &Candidate<'_>) -> bool {
        hold_off::is_held_off(self.world, &candidate.pool.meta.name, self.now)
    }

    fn hold(&self, displaced: Displaced, target: &Name) -> Option<Destination> {
        let pod: &Pod = asked_pod(self.world, displaced.of(self.problem))?;
        Some(Destination {
            candidate: self.asked.candidates.get(&displaced.node)?.claim.clone(),
            pod: pod.key.clone(),
            shape: pod.shape.clone(),
            target: target.clone(),
        })
    }
}

/// Tells nodes why they stay; of those that were not looked at, or take pods, there is nothing to
/// say.
fn tell_kept(
    world: &World,
    problem: &PlacementProblem,
    asked: &Asked,
    plan: &ConsolidationPlan,
    decision: &mut Decision,
) {
    let has_cause = |kept: &Kept| !matches!(kept, Kept::Receives | Kept::NotReached);
    let told = plan.kept.iter().filter(|(_, kept)| has_cause(kept)).take(KEPT_EVENTS_MAX);
    for (node, kept) in told {
        let candidate =
            asked.candidates.get(node).and_then(|it| Candidate::named(world, &Consolidation, it));
        if let Some(candidate) = candidate {
            let events = messages::unconsolidatable(&candidate, kept, problem);
            decision.kubernetes_events.extend(events);
        }
    }
}
