//! Notices about the instances of claims: the claims are deleted, and replaced.

use std::sync::Arc;

use super::breaker::Breaker;
use super::{ByInstance, by_instance, cordon, messages};
use crate::decision::Decision;
use crate::memory::{Awaited, OpenNotice, Update};
use crate::notice::{AnnouncedInstance, NoticeKind, NoticeOutcome, RebalancePolicy};
use crate::observed::{Claim, Name, instance_id};
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

fn find<'a>(world: &'a World, notices: &[&'a OpenNotice]) -> ByInstance<'a, Claim> {
    let mut launched: ByInstance<'_, Claim> = ByInstance::new();
    // Their instances are known, but not stored yet.
    for claim in world.claims_without_node().filter(|it| it.status.provider_id.is_none()) {
        if let Some(instance) = world.memory.launched.get(&claim.meta.uid) {
            launched.entry(instance_id(&instance.provider_id)).or_default().push(claim);
        }
    }
    by_instance(notices, |id| {
        let launched = launched.get(id).into_iter().flatten().copied();
        let claims = world.claims_with_instance_id(id).chain(launched);
        claims.filter(|claim| world.is_supported(&claim.spec.node.node_class)).collect()
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
    let is_the_end = is_the_end(world, kind);
    let mut awaits: Vec<(Name, Arc<str>)> = Vec::new();
    let mut cordoned = Vec::new();
    let (mut is_ours, mut is_held) = (false, false);
    for instance in &open.notice.instances {
        for claim in found.get(&**instance).into_iter().flatten() {
            is_ours = true;
            if is_ignored(world, kind) {
                continue;
            }
            announce(world, open, claim, instance, decision);
            if claim.meta.is_deleting() {
                continue;
            }
            if !is_the_end {
                cordoned.extend(cordon::nodes_of(world, claim));
                continue;
            }
            let name = &claim.meta.name;
            if world.memory.interrupted.contains_key(name) || breaker.admits(name) {
                interrupt(world, open, claim, decision);
                awaits.push((name.clone(), claim.meta.uid.clone()));
            } else {
                is_held = true;
                decision.kubernetes_events.extend(messages::held(world, claim, kind));
            }
        }
    }
    let awaited = match (is_ours, is_the_end) {
        (false, _) => return Some(NoticeOutcome::NoClaim),
        (true, false) if is_ignored(world, kind) => return Some(NoticeOutcome::Ignored),
        (true, false) if world.settings.rebalance == RebalancePolicy::Cordon => {
            if cordon::are_cordoned(world, &cordoned, decision) {
                return Some(NoticeOutcome::Cordoned);
            }
            Awaited::Cordon(cordoned)
        }
        (true, false) => return Some(NoticeOutcome::EventRecorded),
        (true, true) if is_held => return Some(NoticeOutcome::Held),
        (true, true) if awaits.is_empty() => return Some(NoticeOutcome::ClaimsDeleted),
        (true, true) => Awaited::Deletion(awaits),
    };
    decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits: awaited });
    None
}

/// Tells people of it, and the provider.
fn announce(
    world: &World,
    open: &OpenNotice,
    claim: &Claim,
    instance: &str,
    decision: &mut Decision,
) {
    let kind = open.notice.kind;
    decision.kubernetes_events.extend(messages::announced(world, claim, kind, instance));
    decision.announced.push(AnnouncedInstance { kind, labels: claim.spec.labels.clone() });
}

/// Has a claim deleted, and its pods placed elsewhere: at once, not when they begin to leave. The
/// node calls under its own name, so that it does not call again when it is seen to be closed.
fn interrupt(world: &World, open: &OpenNotice, claim: &Claim, decision: &mut Decision) {
    let (name, kind, at) = (&claim.meta.name, open.notice.kind, open.at);
    if !world.memory.interrupted.contains_key(name) {
        let nodes = cordon::nodes_of(world, claim).into_iter();
        decision.updates.extend(nodes.map(|(_, caller)| Update::Call { caller, at }));
    }
    decision.remember(Update::Interrupted { claim: name.clone(), kind });
}

/// Whether an instance goes for which this is announced. A recommendation often comes to nothing,
/// and to follow each would only move pods about, unless somebody wants it so.
fn is_the_end(world: &World, kind: NoticeKind) -> bool {
    let is_recommended = kind == NoticeKind::RebalanceRecommendation;
    !is_recommended || world.settings.rebalance == RebalancePolicy::Replace
}

fn is_ignored(world: &World, kind: NoticeKind) -> bool {
    let is_recommended = kind == NoticeKind::RebalanceRecommendation;
    // Nothing ends because something was launched, or stays.
    matches!(kind, NoticeKind::LifecycleLaunch | NoticeKind::Withdrawn)
        || is_recommended && world.settings.rebalance == RebalancePolicy::Ignore
}
