//! One look at a claim: what is stored, what should be, and the difference.

use std::borrow::Cow;

use crate::action::{ActionKind, MetadataPatch};
use crate::condition::claim::DEPENDENTS;
use crate::condition::{Condition, Draft};
use crate::decision::Decision;
use crate::observed::{Claim, ClaimStatus};
use crate::reason::{ConditionChange, Reason};
use crate::time::Time;
use crate::world::World;

/// A claim being looked at. Steps change `patch`, `status` and `conditions`; [`Work::finish`] asks
/// for what differs to be stored.
pub(super) struct Work<'a> {
    pub(super) world: &'a World,
    pub(super) claim: &'a Claim,
    pub(super) now: Time,
    /// What its metadata lacks.
    pub(super) patch: MetadataPatch,
    /// What its status should be, conditions apart.
    pub(super) status: Cow<'a, ClaimStatus>,
    /// What its conditions should be.
    pub(super) conditions: Draft<'a>,
    /// Whether the first launch is under way. That nothing is known yet is not worth a write.
    pub(super) has_no_news: bool,
    pub(super) decision: Decision,
}

impl<'a> Work<'a> {
    pub(super) fn on(world: &'a World, claim: &'a Claim, now: Time) -> Self {
        Self {
            world,
            claim,
            now,
            patch: MetadataPatch::default(),
            status: Cow::Borrowed(&claim.status),
            conditions: Draft::of(&claim.status.conditions, &DEPENDENTS, &claim.meta, now),
            has_no_news: false,
            decision: Decision::default(),
        }
    }

    /// Metadata is stored before the status: a status never speaks of labels that are not there.
    pub(super) fn finish(mut self) -> Decision {
        let name = self.claim.meta.name.clone();
        let revision = self.claim.meta.revision;
        if let Some(conditions) = self.conditions.into_changed() {
            self.status.to_mut().conditions = conditions;
        }
        if self.patch != MetadataPatch::default() {
            let kind = ActionKind::PatchClaim { name, revision, patch: self.patch };
            self.decision.act(kind, Reason::ClaimMetadataOutdated);
        } else if let Cow::Owned(status) = self.status
            && status != self.claim.status
            && !self.has_no_news
        {
            let reason = reason_of(&self.claim.status, &status);
            let status = Box::new(status);
            let kind = ActionKind::WriteClaimStatus { name, revision, status };
            self.decision.act(kind, reason);
        }
        self.decision
    }
}

fn reason_of(stored: &ClaimStatus, wanted: &ClaimStatus) -> Reason {
    let is_new = |condition: &&Condition| {
        let known = stored.conditions.get(&condition.kind);
        known.is_none_or(|known| known.status != condition.status)
    };
    let change = |condition: &Condition| ConditionChange {
        kind: condition.kind.as_str().into(),
        status: condition.status,
    };
    let conditions = wanted.conditions.0.iter().filter(is_new).map(change).collect();
    let pod_event = stored.last_pod_event_at != wanted.last_pod_event_at;
    Reason::ClaimStatusOutdated { conditions, pod_event }
}
