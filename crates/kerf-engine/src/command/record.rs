//! What of a command is stored on claims, so that another process can resume it or clean up.
//!
//! Each candidate of a command with replacements or destinations carries a [`Record`] as an
//! annotation, stored before any replacement is created. Each replacement names its command until
//! the deletion of candidates begins; from then on it stands by itself. Commands without either
//! need no record: the `DisruptionReason` condition says it all.

use std::collections::BTreeMap;

use kerf_model::budget::DisruptionReason;
use serde::{Deserialize, Serialize};

use super::{Command, CommandId, Replacement};
use crate::action::NewClaim;
use crate::observed::{Claim, Name};
use crate::time::Time;

/// The annotation of candidates.
pub const COMMAND: &str = "kerf.sh/command";
/// The annotation of replacements.
pub const REPLACEMENT_FOR: &str = "kerf.sh/replacement-for";

/// A command as one of its candidates knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The command.
    pub id: CommandId,
    /// Why the candidates go, by its public name.
    pub reason: String,
    /// When the command was proposed, in milliseconds since 1970.
    pub decided_at_millis: i64,
    /// All claims that go.
    pub candidates: Vec<Name>,
    /// All claims that come.
    pub replacements: Vec<Name>,
    /// Where this candidate's pods go, by `namespace/name`. The other candidates carry theirs, so
    /// that no annotation outgrows what one node can hold.
    pub destinations: BTreeMap<String, Name>,
}

impl Record {
    /// What a candidate has to carry; `None` where the condition is enough.
    #[must_use]
    pub fn of(command: &Command, candidate: &Name) -> Option<Self> {
        let own = command.destinations.iter().filter(|held| held.candidate == *candidate);
        command.is_atomic().then(|| Self {
            id: command.id.clone(),
            reason: command.reason.as_str().to_owned(),
            decided_at_millis: command.decided_at.millis(),
            candidates: command.candidates.iter().map(|it| it.claim.clone()).collect(),
            replacements: command.replacements.iter().map(Replacement::name).collect(),
            destinations: own.map(|it| (it.pod.to_string(), it.target.clone())).collect(),
        })
    }

    /// What a claim carries. One that cannot be read is none, and is cleaned up like one whose
    /// command is gone.
    #[must_use]
    pub fn on(claim: &Claim) -> Option<Self> {
        serde_json::from_str(claim.annotations().get(COMMAND)?).ok()
    }

    /// The annotation's value.
    #[must_use]
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("names and numbers can always be written")
    }

    /// Why the candidates go, if this version knows the reason.
    #[must_use]
    pub fn disruption_reason(&self) -> Option<DisruptionReason> {
        DisruptionReason::parse(&self.reason)
    }

    /// When the command was proposed.
    #[must_use]
    pub fn decided_at(&self) -> Time {
        Time::from_millis(self.decided_at_millis)
    }
}

/// Writes on a claim to be created whose replacement it is.
pub(super) fn mark_replacement(claim: &mut NewClaim, id: &CommandId) {
    claim.spec.annotations.insert(REPLACEMENT_FOR.to_owned(), id.0.to_string());
}

/// The command a claim is a replacement of, until it stands by itself.
#[must_use]
pub fn replacement_for(claim: &Claim) -> Option<CommandId> {
    claim.annotations().get(REPLACEMENT_FOR).map(|id| CommandId(id.as_str().into()))
}
