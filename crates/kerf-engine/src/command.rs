//! Commands: everything voluntary that is done to nodes.
//!
//! ```text
//!  Proposed ─ validated after a wait ─► Executing: taint, record, launch replacements, wait
//!     │                                     │                          │
//!     └────────── no longer holds ──────────┴──► rolled back           └─► Deleting ─► done
//! ```
//!
//! A command that is done or rolled back is forgotten. What it needs to be resumed by another
//! process is on the stored objects ([`record`]).

pub mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_model::budget::DisruptionReason;
use kerf_model::pod::PodShape;
use kerf_model::price::Price;
use serde::{Deserialize, Serialize};

use crate::action::NewClaim;
use crate::observed::{Claim, Name, PodKey};
use crate::time::{Span, Time};

/// The name of a command, the same for every process that works on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommandId(pub Arc<str>);

/// Nodes that go together, and what comes in their place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its name.
    pub id: CommandId,
    /// Why the nodes go; this also names the method that looks after them.
    pub reason: DisruptionReason,
    /// The claims that go, best first.
    pub candidates: Vec<CandidateRef>,
    /// The claims that come in their place; they are up before anything is deleted.
    pub replacements: Vec<Replacement>,
    /// Where the pods of the candidates will go.
    pub destinations: Vec<Destination>,
    /// How far it has come.
    pub state: CommandState,
    /// When it was proposed.
    pub decided_at: Time,
    /// Since when its nodes were to go, where that was planned before it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_at: Option<Time>,
    /// Who stood on the nodes that pods go to when it was decided, by what tells pods apart. Only
    /// for the second look: nobody else may have come since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub standing: BTreeMap<Name, BTreeSet<u64>>,
    /// After how long it has paid for itself, where it is to save something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payback: Option<Span>,
    /// What it saves an hour, where it is to save something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saving: Option<Price>,
}

/// A claim that goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateRef {
    /// Its name.
    pub claim: Name,
    /// Its identity: another claim under the same name is not meant.
    pub uid: Arc<str>,
}

/// A claim that comes in the place of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// It is created once every candidate carries the command's record.
    Planned(Box<NewClaim>),
    /// Its creation was ordered. It is never ordered again, even if it is gone.
    Ordered(Name),
}

/// Capacity held for a pod that will be evicted and come back under another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The candidate it leaves.
    pub candidate: Name,
    /// The pod that leaves.
    pub pod: PodKey,
    /// What the pod that comes will look like.
    pub shape: Arc<PodShape>,
    /// The claim, or the node where there is none, that has capacity for it.
    pub target: Name,
}

/// How far a command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandState {
    /// It waits to be validated; nothing was done.
    Proposed,
    /// Candidates are tainted and recorded, and replacements come up. It can be rolled back.
    Executing,
    /// The deletion of candidates has begun; replacements stay whatever happens.
    Deleting,
}

/// The commands under way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Commands {
    by_id: BTreeMap<CommandId, Command>,
    /// The candidates of commands that passed validation.
    disrupting: BTreeMap<Name, CommandId>,
}

/// A change to the commands under way.
#[derive(Clone, Debug)]
pub enum CommandUpdate {
    /// A command was proposed, or is resumed.
    Add(Box<Command>),
    /// Validation left these candidates; without any the command is over.
    Validated(CommandId, Vec<CandidateRef>),
    /// The creation of the replacements was ordered.
    ReplacementsOrdered(CommandId),
    /// The deletion of candidates begins.
    Deleting(CommandId),
    /// A candidate stays after all.
    Spared(CommandId, Name),
    /// A pod that capacity was held for is bound.
    Arrived(CommandId, PodKey),
    /// The command was rolled back.
    RolledBack(CommandId),
}

impl Command {
    /// A command to be validated. Replacements are marked as serving it from their creation on.
    #[must_use]
    pub fn proposed(
        reason: DisruptionReason,
        candidates: Vec<CandidateRef>,
        mut replacements: Vec<NewClaim>,
        destinations: Vec<Destination>,
        now: Time,
    ) -> Self {
        // A claim is in one command at a time, so its name and the time tell commands apart.
        let first = candidates.first().map_or("", |candidate| &candidate.claim);
        let id = CommandId(format!("{first}-{}", now.millis()).into());
        for claim in &mut replacements {
            record::mark_replacement(claim, &id);
        }
        let replacements = replacements.into_iter().map(Box::new).map(Replacement::Planned);
        Self {
            id,
            reason,
            candidates,
            replacements: replacements.collect(),
            destinations,
            state: CommandState::Proposed,
            decided_at: now,
            planned_at: None,
            standing: BTreeMap::new(),
            payback: None,
            saving: None,
        }
    }

    /// Whether it goes through as a whole or not at all: what comes was chosen for all that goes.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        !self.replacements.is_empty() || !self.destinations.is_empty()
    }
}

impl CandidateRef {
    /// This claim.
    #[must_use]
    pub fn to(claim: &Claim) -> Self {
        Self { claim: claim.meta.name.clone(), uid: claim.meta.uid.clone() }
    }
}

impl Replacement {
    /// The claim's name.
    #[must_use]
    pub fn name(&self) -> Name {
        match self {
            Replacement::Planned(claim) => Arc::from(claim.spec.name.as_str()),
            Replacement::Ordered(name) => name.clone(),
        }
    }
}

impl Commands {
    /// Every command, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.by_id.values()
    }

    /// Those that wait to be validated.
    pub fn proposed(&self) -> impl Iterator<Item = &Command> {
        self.iter().filter(|command| command.state == CommandState::Proposed)
    }

    /// Those that passed validation.
    pub fn executing(&self) -> impl Iterator<Item = &Command> {
        self.iter().filter(|command| command.state != CommandState::Proposed)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The command of that name.
    #[must_use]
    pub fn get(&self, id: &CommandId) -> Option<&Command> {
        self.by_id.get(id)
    }

    /// Whether a command of this name is under way.
    #[must_use]
    pub fn contains(&self, id: &CommandId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Whether a claim is a candidate of a command that passed validation.
    #[must_use]
    pub fn is_disrupting(&self, claim: &Name) -> bool {
        self.disrupting.contains_key(claim)
    }

    /// Whether a claim stays until the replacements of its command are up.
    #[must_use]
    pub fn is_awaiting_replacements(&self, claim: &Name) -> bool {
        let command = self.disrupting.get(claim).and_then(|id| self.by_id.get(id));
        command.is_some_and(|it| it.is_atomic() && it.state == CommandState::Executing)
    }

    /// The claims that are candidates of a command that passed validation.
    pub fn disrupting(&self) -> impl Iterator<Item = &Name> {
        self.disrupting.keys()
    }

    /// Takes a change in.
    pub fn apply(&mut self, update: CommandUpdate) {
        match update {
            CommandUpdate::Add(command) => {
                self.by_id.insert(command.id.clone(), *command);
            }
            CommandUpdate::Validated(id, candidates) => {
                self.change(&id, |command| {
                    command.candidates = candidates;
                    command.state = CommandState::Executing;
                    command.standing.clear();
                });
            }
            CommandUpdate::ReplacementsOrdered(id) => self.change(&id, |command| {
                for replacement in &mut command.replacements {
                    *replacement = Replacement::Ordered(replacement.name());
                }
            }),
            CommandUpdate::Deleting(id) => {
                self.change(&id, |command| command.state = CommandState::Deleting);
            }
            CommandUpdate::Spared(id, claim) => {
                // Its pods stay with it. Those of one that is gone may still be on their way.
                self.change(&id, |command| {
                    command.destinations.retain(|held| held.candidate != claim);
                });
                self.drop_candidate(&id, &claim);
            }
            CommandUpdate::Arrived(id, pod) => {
                self.change(&id, |command| command.destinations.retain(|held| held.pod != pod));
            }
            CommandUpdate::RolledBack(id) => drop(self.by_id.remove(&id)),
        }
        self.reindex();
    }

    /// A claim is gone. A command whose last candidate is gone is done.
    pub(crate) fn forget_claim(&mut self, claim: &Name) {
        let of_claim = |command: &Command| command.candidates.iter().any(|it| it.claim == *claim);
        let ids: Vec<CommandId> =
            self.iter().filter(|command| of_claim(command)).map(|it| it.id.clone()).collect();
        for id in ids {
            self.drop_candidate(&id, claim);
            self.reindex();
        }
    }

    fn drop_candidate(&mut self, id: &CommandId, claim: &Name) {
        self.change(id, |command| command.candidates.retain(|it| it.claim != *claim));
    }

    /// Changes a command; one without candidates is over.
    fn change(&mut self, id: &CommandId, change: impl FnOnce(&mut Command)) {
        let Some(command) = self.by_id.get_mut(id) else { return };
        change(command);
        if command.candidates.is_empty() {
            self.by_id.remove(id);
        }
    }

    fn reindex(&mut self) {
        let of_command = |command: &Command| {
            let id = command.id.clone();
            let names: Vec<Name> = command.candidates.iter().map(|it| it.claim.clone()).collect();
            names.into_iter().map(move |name| (name, id.clone()))
        };
        self.disrupting = self.executing().flat_map(of_command).collect();
    }
}
