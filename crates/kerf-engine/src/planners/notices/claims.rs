//! Notices about the instances of claims: the claims are deleted, and replaced.

use std::sync::Arc;

use super::breaker::Breaker;
use super::{ByInstance, by_instance, messages};
use crate::decision::Decision;
use crate::memory::{Awaited, OpenNotice, Update};
use crate::notice::{NoticeKind, NoticeOutcome};
use crate::observed::{Claim, Name};
use crate::world::World;

/// The first look at these notices: records Events, and says which claims have to go. Returns the
/// outcome of each; `None` for one that takes time.
pub(super) fn read(
    world: &World,
    notices: &[&OpenNotice],
    breaker: &mut Breaker,
    decision: &mut Decision,
) -> Vec<Option<NoticeOutcome>> {
    let found = find(world, notices);
    notices.iter().map(|open| read_one(world, open, &found, breaker, decision)).collect()
}

/// Whether the deletion of all these claims is stored.
pub(super) fn are_deleted(world: &World, claims: &[(Name, Arc<str>)]) -> bool {
    claims.iter().all(|(name, uid)| {
        let claim = world.claims.get(name).filter(|claim| claim.meta.uid == *uid);
        claim.is_none_or(|claim| claim.meta.is_deleting())
    })
}

fn find<'a>(world: &'a World, notices: &[&OpenNotice]) -> ByInstance<'a, Claim> {
    let claims = world.claims.values().map(|claim| &**claim);
    let supported = claims.filter(|claim| world.is_supported(&claim.spec.node.node_class));
    by_instance(notices, supported, |claim| {
        let launched = world.memory.launched.get(&claim.meta.uid).map(|it| &it.provider_id);
        claim.status.provider_id.as_ref().or(launched)
    })
}

fn read_one(
    world: &World,
    open: &OpenNotice,
    found: &ByInstance<'_, Claim>,
    breaker: &mut Breaker,
    decision: &mut Decision,
) -> Option<NoticeOutcome> {
    let kind = open.notice.kind;
    let mut awaits: Vec<(Name, Arc<str>)> = Vec::new();
    let (mut is_ours, mut is_held) = (false, false);
    for instance in &open.notice.instances {
        for claim in found.get(&**instance).into_iter().flatten() {
            is_ours = true;
            decision.kubernetes_events.extend(messages::announced(world, claim, kind, instance));
            if claim.meta.is_deleting() || !is_the_end(kind) {
                continue;
            }
            let name = &claim.meta.name;
            if world.memory.interrupted.contains_key(name) || breaker.admits(name) {
                decision.remember(Update::Interrupted { claim: name.clone(), kind });
                awaits.push((name.clone(), claim.meta.uid.clone()));
            } else {
                is_held = true;
                decision.kubernetes_events.extend(messages::held(world, claim, kind));
            }
        }
    }
    match (is_ours, is_the_end(kind)) {
        (false, _) => Some(NoticeOutcome::NoClaim),
        (true, false) => Some(NoticeOutcome::EventRecorded),
        (true, true) if is_held => Some(NoticeOutcome::Held),
        (true, true) if awaits.is_empty() => Some(NoticeOutcome::ClaimsDeleted),
        (true, true) => {
            let awaits = Awaited::Deletion(awaits);
            decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits });
            None
        }
    }
}

/// Whether an instance goes for which this is announced. A recommendation often comes to nothing,
/// and to follow each would only move pods about.
fn is_the_end(kind: NoticeKind) -> bool {
    !matches!(kind, NoticeKind::RebalanceRecommendation)
}
