//! What commands left on stored objects that no command under way accounts for, as after a crash:
//! commands are resumed where all of them is there and still holds, and cleaned up where not.

use std::collections::BTreeMap;

use super::candidates::Candidate;
use super::emptiness::Emptiness;
use super::execution::{Checks, LATE_AFTER, replaced_within, stays};
use super::marks;
use super::method::method_for;
use super::static_pools;
use crate::action::ActionKind;
use crate::command::record::{COMMAND, Record, replacement_for};
use crate::command::{
    CandidateRef, Command, CommandId, CommandState, CommandUpdate, Destination, Replacement,
};
use crate::condition::claim::{DISRUPTION_REASON, INITIALIZED, REBOOTING};
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::{Claim, Name, Pod};
use crate::reason::{Cancelled, Reason};
use crate::time::Time;
use crate::world::World;
use kerf_model::budget::DisruptionReason;

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether commands are resumed.
    pub(super) resumed: bool,
    /// Whether there is something to clean up.
    pub(super) leftovers: bool,
}

/// The candidates of one command that are still there, with what they know of it.
type Group<'a> = Vec<(&'a Claim, Record)>;

/// Resumes commands and cleans up after those that cannot be.
pub(super) fn advance(world: &World, now: Time, decision: &mut Decision) -> Found {
    let before = decision.actions.len();
    let mut recovery = Recovery { world, now, checks: None, resumed: Vec::new() };
    recovery.recorded(decision);
    recovery.unrecorded(decision);
    recovery.replacements(decision);
    recovery.nodes(decision);
    let resumed = !recovery.resumed.is_empty();
    for command in recovery.resumed {
        decision.remember(Update::Command(CommandUpdate::Add(Box::new(command))));
    }
    Found { resumed, leftovers: decision.actions.len() > before }
}

struct Recovery<'a> {
    world: &'a World,
    now: Time,
    /// Made when first needed: hardly ever is anything left behind.
    checks: Option<Checks<'a>>,
    resumed: Vec<Command>,
}

impl<'a> Recovery<'a> {
    /// Commands with a record on their candidates.
    fn recorded(&mut self, decision: &mut Decision) {
        let mut groups: BTreeMap<CommandId, Group<'a>> = BTreeMap::new();
        for claim in self.unaccounted().filter(|it| it.annotations().contains_key(COMMAND)) {
            match Record::on(claim) {
                Some(record) => {
                    groups.entry(record.id.clone()).or_default().push((claim, record));
                }
                None => self.clear(claim, decision),
            }
        }
        for group in groups.values() {
            match self.resume(group) {
                Some(command) => self.resumed.push(command),
                None => group.iter().for_each(|(claim, _)| self.clear(claim, decision)),
            }
        }
    }

    /// The command of a group, if everything it needs is there and it still holds.
    fn resume(&mut self, group: &Group<'a>) -> Option<Command> {
        let world = self.world;
        let (_, record) = group.first()?;
        let method = method_for(record.disruption_reason()?)?;
        let is_present = |name: &Name| world.claims.get(name).is_some_and(|it| stays(world, it));
        let is_up = |name: &Name| world.claims[name].status.conditions.is_true(INITIALIZED);
        if !record.replacements.iter().all(is_present) {
            return None;
        }
        let is_known = |name: &Name| group.iter().any(|(claim, _)| claim.meta.name == *name);
        let pending: Vec<&Name> =
            record.candidates.iter().filter(|name| is_present(name)).collect();
        if !pending.iter().all(|name| is_known(name)) {
            return None;
        }
        // Candidates are only deleted once every replacement is up.
        let has_begun = pending.len() < record.candidates.len();
        let in_time = self.now < record.decided_at() + replaced_within(self.world);
        if has_begun && !record.replacements.iter().all(is_up) || !has_begun && !in_time {
            return None;
        }
        for (claim, _) in group.iter().filter(|(claim, _)| !claim.meta.is_deleting()) {
            self.checks().still(method, claim).ok()?;
        }
        Some(Command {
            id: record.id.clone(),
            reason: method.reason(),
            candidates: group.iter().map(|(claim, _)| CandidateRef::to(claim)).collect(),
            replacements: record.replacements.iter().cloned().map(Replacement::Ordered).collect(),
            destinations: group.iter().flat_map(|(it, own)| destinations(world, it, own)).collect(),
            state: if has_begun { CommandState::Deleting } else { CommandState::Executing },
            decided_at: record.decided_at(),
            planned_at: None,
            standing: BTreeMap::new(),
            payback: None,
            saving: None,
        })
    }

    /// Claims that say why they go and carry no record: commands that need none.
    fn unrecorded(&mut self, decision: &mut Decision) {
        let is_bare = |claim: &&Claim| {
            marks::has_condition(claim)
                // While its node reboots a claim says why.
                && !claim.status.conditions.is_true(REBOOTING)
                && !claim.meta.is_deleting()
                && !claim.annotations().contains_key(COMMAND)
        };
        for claim in self.unaccounted().filter(is_bare) {
            match self.resume_unrecorded(claim) {
                Some(command) => self.resumed.push(command),
                None => self.clear(claim, decision),
            }
        }
    }

    fn resume_unrecorded(&mut self, claim: &'a Claim) -> Option<Command> {
        let condition = claim.status.conditions.get(DISRUPTION_REASON)?;
        let method = method_for(DisruptionReason::parse(&condition.reason)?)?;
        if !method.is_self_contained() || !claim.status.conditions.is_true(DISRUPTION_REASON) {
            return None;
        }
        self.checks().still(method, claim).ok()?;
        let candidates = vec![CandidateRef::to(claim)];
        let command =
            Command::proposed(method.reason(), candidates, Vec::new(), Vec::new(), self.now);
        Some(Command {
            state: CommandState::Executing,
            decided_at: condition.changed_at,
            ..command
        })
    }

    /// Replacements whose command is over: they go, unless pods use them or are meant for them.
    fn replacements(&mut self, decision: &mut Decision) {
        let world = self.world;
        let claims = world.marked_claims().filter(|it| is_ours(world, it));
        for claim in claims.filter(|claim| stays(world, claim)) {
            let Some(id) = replacement_for(claim) else { continue };
            let is_resumed = self.resumed.iter().any(|command| command.id == id);
            if is_resumed || world.memory.commands.contains(&id) {
                continue;
            }
            // How many a static pool keeps, and which, is not decided here.
            let is_fixed = static_pools::is_of_static_pool(world, claim);
            if is_fixed || is_in_use(world, claim) {
                marks::keep_replacement(claim, decision);
            } else if let Some(until) = self.late_until(claim) {
                decision.wake(until);
            } else if self.may_end(claim) {
                let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
                let kind = ActionKind::DeleteClaim { name, uid };
                decision.act(kind, Reason::ReplacementUnused);
            }
        }
    }

    /// One that was too late has as long as any launch: pods that wait may take it yet.
    fn late_until(&self, claim: &Claim) -> Option<Time> {
        let created_at = claim.meta.created_at;
        let until = created_at + self.world.settings.registration_within;
        let is_late = created_at + LATE_AFTER <= self.now && self.now < until;
        (is_late && !claim.status.conditions.is_true(INITIALIZED)).then_some(until)
    }

    /// One that is up is a node of its pool like any other, and goes within its budgets.
    fn may_end(&mut self, claim: &'a Claim) -> bool {
        match Candidate::of(self.world, claim) {
            Some(candidate) => self.checks().may_go(&candidate, &Emptiness).is_ok(),
            None => !claim.status.conditions.is_true(INITIALIZED),
        }
    }

    /// Nodes that are closed although nothing disrupts them.
    fn nodes(&mut self, decision: &mut Decision) {
        let world = self.world;
        let nodes = world.departing_nodes().filter(|node| marks::is_tainted(node));
        for node in nodes.filter(|node| !node.meta.is_deleting()) {
            let Some(claim) = world.claim_of(node) else { continue };
            let is_resumed = self.resumed.iter().any(|command| {
                command.candidates.iter().any(|candidate| candidate.claim == claim.meta.name)
            });
            // What says why it goes was looked at above.
            let is_bare = !marks::has_condition(claim) && Record::on(claim).is_none();
            let stays = !world.is_leaving(claim) && !world.may_be_going(claim);
            if is_bare && !is_resumed && stays && is_ours(world, claim) {
                marks::untaint(node, &Cancelled::Abandoned, decision);
            }
        }
    }

    /// Claims that commands left something on and that none under way includes.
    fn unaccounted(&self) -> impl Iterator<Item = &'a Claim> + use<'a> {
        let world = self.world;
        world.marked_claims().filter(move |claim| {
            !world.memory.commands.is_disrupting(&claim.meta.name) && is_ours(world, claim)
        })
    }

    fn clear(&self, claim: &Claim, decision: &mut Decision) {
        if !self.world.is_leaving(claim) {
            marks::clear(self.world, claim, &Cancelled::Abandoned, self.now, decision);
        }
    }

    fn checks(&mut self) -> &mut Checks<'a> {
        self.checks.get_or_insert_with(|| Checks::new(self.world, self.now))
    }
}

/// Where the pods go that have not left yet. For those that have, nothing is held any more: they
/// wait for a node by now, and are placed as any other.
fn destinations(world: &World, claim: &Claim, record: &Record) -> Vec<Destination> {
    let node = world.node_of(claim).map(|node| &*node.meta.name);
    let pods = node.into_iter().flat_map(|node| world.pods_on(node));
    let held = |pod: &Pod| {
        let target = record.destinations.get(&pod.key.to_string())?;
        let (pod, shape) = (pod.key.clone(), pod.shape.clone());
        let (candidate, target) = (claim.meta.name.clone(), target.clone());
        Some(Destination { candidate, pod, shape, target })
    };
    pods.filter_map(held).collect()
}

fn is_ours(world: &World, claim: &Claim) -> bool {
    world.is_supported(&claim.spec.node.node_class)
}

/// Whether pods run on a claim's node that would have to move, or wait to come to it.
fn is_in_use(world: &World, claim: &Claim) -> bool {
    let has_pods = world
        .node_of(claim)
        .is_some_and(|node| world.pods_on(&node.meta.name).any(Pod::is_reschedulable));
    let waits = |(pod, nomination): (&_, &crate::memory::Nomination)| {
        let pod = world.pods.get(pod);
        nomination.target == claim.meta.name && pod.is_some_and(|pod| pod.node().is_none())
    };
    has_pods || world.memory.nominations.iter().any(waits)
}
