//! Notices: what the cloud announces about instances becomes the end of their claims.
//!
//! ```text
//!  Noticed ─► claims of its instances ─┬─ none: settled
//!                                     ├─ worth telling only: told, settled
//!                                     └─ marked as interrupted ─► their planner deletes them
//!                                              settled once every deletion is stored ◄─┘
//! ```
//!
//! Budgets and guards do not count: the instance goes whether its pods are ready or not.

mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::decision::Decision;
use crate::memory::{OpenNotice, Update};
use crate::notice::{NoticeKind, NoticeOutcome, Settled};
use crate::observed::{Claim, Name};
use crate::time::{Span, Time};
use crate::world::World;

pub(super) use messages::terminating;

/// A notice that has no outcome by then gets one: queues hide a message for 20 s, and it should be
/// known by then that it has to come again.
const SETTLE_WITHIN: Span = Span::from_seconds(15);

/// Claims by the last part of their instance's provider id. More than one is a fault; all must go.
type Found<'a> = BTreeMap<&'a str, Vec<&'a Claim>>;

/// Looks at notices that are new, and at what others wait for.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let open = &world.memory.notices;
    let unread = open.values().filter(|open| open.awaits.is_none());
    let instances: BTreeSet<&str> =
        unread.flat_map(|open| open.notice.instances.iter().map(|instance| &**instance)).collect();
    let found = if instances.is_empty() { Found::new() } else { find(world, &instances) };
    for open in open.values() {
        let outcome = match &open.awaits {
            None => read(world, open, &found, &mut decision),
            Some(awaits) => is_stored(world, awaits).then_some(NoticeOutcome::ClaimsDeleted),
        };
        let give_up_at = open.at + SETTLE_WITHIN;
        match outcome {
            Some(outcome) => settle(open, outcome, &mut decision),
            None if now >= give_up_at => settle(open, NoticeOutcome::NotInTime, &mut decision),
            None => decision.wake(give_up_at),
        }
    }
    decision
}

/// Walks over all claims once, however many instances are asked for.
fn find<'a>(world: &'a World, instances: &BTreeSet<&str>) -> Found<'a> {
    let mut found = Found::new();
    for claim in world.claims.values() {
        let launched = world.memory.launched.get(&claim.meta.uid).map(|it| &it.provider_id);
        let provider_id = claim.status.provider_id.as_ref().or(launched);
        let instance = provider_id.and_then(|id| id.rsplit('/').next());
        if let Some(instance) = instance.filter(|instance| instances.contains(instance))
            && world.is_supported(&claim.spec.node.node_class)
        {
            found.entry(instance).or_default().push(claim);
        }
    }
    found
}

/// The first look: tells people, and says which claims have to go. `None` if that takes time.
fn read(
    world: &World,
    open: &OpenNotice,
    found: &Found<'_>,
    decision: &mut Decision,
) -> Option<NoticeOutcome> {
    let kind = open.notice.kind;
    let mut awaits: Vec<(Name, Arc<str>)> = Vec::new();
    let mut is_ours = false;
    for instance in &open.notice.instances {
        for claim in found.get(&**instance).into_iter().flatten() {
            is_ours = true;
            decision.kubernetes_events.extend(messages::announced(world, claim, kind, instance));
            if !claim.meta.is_deleting() && is_the_end(kind) {
                let name = &claim.meta.name;
                decision.remember(Update::Interrupted { claim: name.clone(), kind });
                awaits.push((name.clone(), claim.meta.uid.clone()));
            }
        }
    }
    match (is_ours, is_the_end(kind)) {
        (false, _) => Some(NoticeOutcome::NoClaim),
        (true, false) => Some(NoticeOutcome::EventSpec),
        (true, true) if awaits.is_empty() => Some(NoticeOutcome::ClaimsDeleted),
        (true, true) => {
            decision.remember(Update::NoticeAwaits { id: open.notice.id, awaits });
            None
        }
    }
}

/// Whether an instance goes for which this is announced. A recommendation often comes to nothing, and
/// to follow each would only move pods about.
fn is_the_end(kind: NoticeKind) -> bool {
    !matches!(kind, NoticeKind::RebalanceRecommendation)
}

fn is_stored(world: &World, awaits: &[(Name, Arc<str>)]) -> bool {
    awaits.iter().all(|(name, uid)| {
        let claim = world.claims.get(name).filter(|claim| claim.meta.uid == *uid);
        claim.is_none_or(|claim| claim.meta.is_deleting())
    })
}

fn settle(open: &OpenNotice, outcome: NoticeOutcome, decision: &mut Decision) {
    let id = open.notice.id;
    decision.remember(Update::NoticeSettled(id));
    decision.settled.push(Settled { id, outcome });
}
