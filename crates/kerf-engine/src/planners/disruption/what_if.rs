//! Nodes whose pods need another place: where that would be is asked of the solver, and each node
//! whose pods all have one becomes a command.

use std::collections::BTreeSet;

use kerf_model::pod::Pod as ModelPod;
use kerf_scheduler::{PlacementProblem, Solution};

use super::budgets::Budgets;
use super::candidates::{Candidate, Judge};
use super::method::{Method, method_for};
use super::{CHOSEN_BY, messages, metrics, reboots, static_pools};
use crate::action::{Action, ActionKind};
use crate::command::{Command, CommandState, CommandUpdate, Destination};
use crate::decision::Decision;
use crate::event::Outcome;
use crate::memory::Update;
use crate::observed::{Name, Pod};
use crate::planners::provisioning::{Replacements, asked_pod, build_without, target, waiting_pods};
use crate::reason::{Blocked, NotPlaced, Reason};
use crate::solve::{Question, SolveRequest, WhatIfs, is_complete};
use crate::time::{Span, Time};
use crate::world::World;

/// An answer that has not come by now will not: the engine gave its solve up.
const ANSWER_WITHIN: Span = Span::from_minutes(5);

/// Whether the answer to an earlier question is waited for.
pub(super) fn is_asking(world: &World, now: Time) -> bool {
    world.memory.what_ifs.asked_at.is_some_and(|at| now < at + ANSWER_WITHIN)
}

/// Deletes candidates without pods, and asks where the pods of the others would go.
pub(super) fn propose<'a>(
    world: &'a World,
    method: &dyn Method,
    candidates: Vec<Candidate<'a>>,
    now: Time,
    decision: &mut Decision,
) {
    let candidates = reboots::propose(world, method, candidates, now, decision);
    let (fixed, candidates): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(static_pools::is_static);
    static_pools::propose(world, method, fixed, now, decision);
    let is_empty = |each: &Candidate<'a>| each.reschedulable_pods(world).next().is_none();
    let (empty, busy): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_empty);
    for candidate in empty {
        let references = vec![candidate.reference()];
        let command = Command::proposed(method.reason(), references, Vec::new(), Vec::new(), now);
        execute(method, command, &candidate, decision);
    }
    if busy.is_empty() || is_asking(world, now) {
        return;
    }
    let most = world.memory.what_ifs.questions_max();
    let asked = &busy[..busy.len().min(most)];
    let gone: BTreeSet<&str> = asked.iter().map(|each| &*each.node.meta.name).collect();
    let waiting = waiting_pods(world, now);
    let of_each: Vec<Vec<&Pod>> =
        asked.iter().map(|each| each.reschedulable_pods(world).collect()).collect();
    let (problem, nodes_up) = build_without(world, (&waiting, &of_each.concat()), &gone, now);
    let questions = asked.iter().zip(&of_each);
    let questions = questions
        .map(|(each, pods)| Question { candidate: each.reference(), pods: pods.len() })
        .collect();
    let (reason, nodes) = (method.reason(), asked.len());
    let what_ifs = WhatIfs { reason, waiting: waiting.len(), nodes_up, questions };
    let request = SolveRequest::what_ifs(problem, what_ifs, now);
    decision.remember(Update::WhatIfsAsked(now));
    decision.act(ActionKind::Solve(request), Reason::PlacesUnknown { reason, nodes });
}

/// What to make of the answer. Candidates that are still ones, still free to go, still within
/// budgets and whose pods still have places to go are disrupted.
pub(in crate::planners) fn conclude(
    world: &World,
    action: &Action,
    outcome: &Outcome,
    now: Time,
) -> Decision {
    let mut decision = Decision::default();
    let ActionKind::Solve(request) = &action.kind else { return decision };
    // What changed unheard is not looked at: the question is asked again.
    let is_fresh = world.is_fresh(&CHOSEN_BY, now);
    let (Some(what_ifs), Outcome::Answered(answers), true) = (&request.what_ifs, outcome, is_fresh)
    else {
        let (blocked, is_of_use) = (Vec::new(), false);
        decision.remember(Update::WhatIfsAnswered { at: now, blocked, is_of_use });
        return decision;
    };
    let Some(method) = method_for(what_ifs.reason) else { return decision };
    if let Some(asked_at) = world.memory.what_ifs.asked_at {
        let took = now.since(asked_at);
        decision.samples.push(metrics::answered(method, what_ifs.questions.len(), took));
    }
    let mut verdict = Verdict {
        world,
        problem: &request.problem,
        method,
        judge: Judge::new(world, now),
        budgets: Budgets::of(world, now),
        replacements: Replacements::new(world, &request.problem, now),
        now,
    };
    let (mut blocked, mut is_of_use) = (Vec::new(), false);
    for ((question, pods), answer) in what_ifs.with_pods(&request.problem).zip(answers) {
        let candidate = Candidate::named(world, method, &question.candidate);
        let Some(candidate) = candidate.filter(|each| verdict.may_go(each)) else { continue };
        match verdict.command(&candidate, pods, answer) {
            Ok(Some(command)) if verdict.budgets.admit(&candidate, method.reason()) => {
                is_of_use = true;
                execute(method, command, &candidate, &mut decision);
            }
            Ok(_) => {}
            Err(cause) => {
                blocked.push(candidate.claim.meta.name.clone());
                decision.kubernetes_events.extend(messages::blocked(&candidate, &cause));
            }
        }
    }
    // Where there are more, nothing is gained by waiting for the next round.
    if is_of_use {
        decision.remember(Update::SearchAgain);
    }
    decision.remember(Update::WhatIfsAnswered { at: now, blocked, is_of_use });
    decision
}

/// Carries a command out without a second look: its candidate was just looked at.
pub(super) fn execute(
    method: &dyn Method,
    command: Command,
    candidate: &Candidate<'_>,
    decision: &mut Decision,
) {
    decision.samples.extend(metrics::decided(method, &command, std::slice::from_ref(candidate)));
    let command = Command { state: CommandState::Executing, ..command };
    decision.remember(Update::Command(CommandUpdate::Add(Box::new(command))));
}

struct Verdict<'a> {
    world: &'a World,
    problem: &'a PlacementProblem,
    method: &'static dyn Method,
    judge: Judge<'a>,
    budgets: Budgets<'a>,
    replacements: Replacements<'a>,
    now: Time,
}

impl<'a> Verdict<'a> {
    fn may_go(&mut self, candidate: &Candidate<'a>) -> bool {
        !self.world.is_leaving(candidate.claim)
            && self.method.is_candidate(self.world, candidate, self.now)
            && self.judge.may_go(self.method, candidate).is_ok()
    }

    /// The command for a candidate; none if its pods are others by now, or their places are gone.
    fn command(
        &mut self,
        candidate: &Candidate<'a>,
        asked: &[ModelPod],
        answer: &Solution,
    ) -> Result<Option<Command>, Blocked> {
        let find = |pod: &ModelPod| asked_pod(self.world, pod);
        let Some(pods) = asked.iter().map(find).collect::<Option<Vec<&Pod>>>() else {
            return Ok(None);
        };
        let now_there = candidate.reschedulable_pods(self.world).map(|pod| &pod.key);
        if !now_there.eq(pods.iter().map(|pod| &pod.key)) {
            return Ok(None);
        }
        if let Some(unplaced) = answer.unplaced.first() {
            let explanation = unplaced.reason.as_str().into();
            let cause = Box::new(NotPlaced::Unschedulable { explanation });
            return Err(Blocked::NoPlace { pod: pods[unplaced.pod].key.clone(), cause });
        }
        if !is_complete(answer) {
            return Ok(None);
        }
        let hold = |pod: usize, target: &Name| Destination {
            candidate: candidate.claim.meta.name.clone(),
            pod: pods[pod].key.clone(),
            shape: pods[pod].shape.clone(),
            target: target.clone(),
        };
        let mut destinations = Vec::with_capacity(pods.len());
        for placement in &answer.existing {
            let name = &self.problem.nodes[placement.node].name;
            let Some(target) = target(self.world, name) else { return Ok(None) };
            destinations.extend(placement.pods.iter().map(|pod| hold(*pod, &target)));
        }
        let mut replacements = Vec::with_capacity(answer.new_nodes.len());
        self.replacements.release(candidate.claim);
        for node in &answer.new_nodes {
            let claim = self.replacements.claim(node).map_err(|cause| {
                self.replacements.keep(candidate.claim);
                let pod = node.pods.first().map_or(0, |pod| *pod);
                Blocked::NoPlace { pod: pods[pod].key.clone(), cause: Box::new(cause) }
            })?;
            let name = Name::from(claim.spec.name.as_str());
            destinations.extend(node.pods.iter().map(|pod| hold(*pod, &name)));
            replacements.push(claim);
        }
        let (reason, candidates) = (self.method.reason(), vec![candidate.reference()]);
        Ok(Some(Command::proposed(reason, candidates, replacements, destinations, self.now)))
    }
}
