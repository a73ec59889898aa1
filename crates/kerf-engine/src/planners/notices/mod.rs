//! Interruption notices: what the cloud announces about instances becomes the end of their claims,
//! or, where there are no claims, the drain of their nodes.
//!
//! ```text
//!  Noticed ─► claims of its instances ─┬─ none: settled
//!             or nodes, by role        ├─ worth an Event only: recorded, settled
//!                                      ├─ too many within a minute: held, comes again
//!                                      ├─ nodes closed, claims deleted or nodes drained ─► settled
//!                                      └─ withdrawn: nodes opened again ─► settled
//! ```
//!
//! Disruption budgets and PodDisruptionBudgets do not count: the instance goes whether its pods are
//! ready or not.

mod breaker;
mod claims;
mod closing;
mod cordon;
mod messages;
mod node_lookup;
mod nodes;
mod opening;

use std::collections::BTreeMap;

use breaker::Breaker;

use crate::decision::Decision;
use crate::memory::{Awaited, OpenNotice, Update};
use crate::notice::{NoticeOutcome, Settled};
use crate::planners::Planner;
use crate::time::{Span, Time};
use crate::world::World;

pub(super) use closing::plan_node;
pub(super) use messages::terminating;

/// A notice that has no outcome by then gets one: queues hide a message for 20 s, and it should be
/// known by then that it has to come again.
const SETTLE_WITHIN: Span = Span::from_seconds(15);

/// Looks at notices that are new, and at what others wait for.
pub(super) fn plan(world: &World, now: Time) -> Decision {
    let mut decision = Decision::default();
    let open = &world.memory.notices;
    let unread: Vec<&OpenNotice> = open.values().filter(|open| open.awaits.is_none()).collect();
    let outcomes = if world.settings.role.planners().contains(&Planner::Claims) {
        let mut breaker = Breaker::of(world, world.claims.len(), now);
        let outcomes = claims::read(world, &unread, &mut breaker, &mut decision);
        breaker.conclude(now, &mut decision);
        outcomes
    } else {
        let mut breaker = Breaker::of(world, world.nodes.len(), now);
        let outcomes = nodes::read(world, &unread, &mut breaker, &mut decision);
        breaker.conclude(now, &mut decision);
        outcomes
    };
    let mut outcomes = outcomes.into_iter();
    for open in open.values() {
        let outcome = match &open.awaits {
            None => outcomes.next().flatten(),
            Some(Awaited::Deletion(claims)) => {
                claims::are_deleted(world, claims).then_some(NoticeOutcome::ClaimsDeleted)
            }
            Some(Awaited::Cordon(nodes)) => {
                cordon::are_cordoned(world, nodes, &mut decision).then_some(NoticeOutcome::Cordoned)
            }
            Some(Awaited::Drain(nodes)) if opening::is_called_off(world, nodes) => {
                Some(NoticeOutcome::Opened)
            }
            Some(Awaited::Drain(nodes)) => {
                nodes::are_drained(world, open, nodes).then_some(NoticeOutcome::Drained)
            }
            Some(Awaited::Opening(nodes)) => {
                opening::are_open(world, nodes, &mut decision).then_some(NoticeOutcome::Opened)
            }
        };
        let within = world.settings.drain.time_out.unwrap_or(SETTLE_WITHIN);
        let give_up_at = open.at + within;
        match outcome {
            Some(outcome) => settle(open, outcome, &mut decision),
            None if now >= give_up_at => settle(open, NoticeOutcome::NotInTime, &mut decision),
            None => decision.wake(give_up_at),
        }
    }
    decision
}

/// Objects by the id of their instance, as notices name it. More than one claim for an instance is
/// a fault; all must go.
type ByInstance<'a, T> = BTreeMap<&'a str, Vec<&'a T>>;

/// The objects whose instances notices are about, each looked up once.
fn by_instance<'a, T>(
    notices: &[&'a OpenNotice],
    objects: impl Fn(&'a str) -> Vec<&'a T>,
) -> ByInstance<'a, T> {
    let mut found = ByInstance::new();
    for instance in notices.iter().flat_map(|open| open.notice.instances.iter()) {
        found.entry(instance).or_insert_with(|| objects(instance));
    }
    found
}

fn settle(open: &OpenNotice, outcome: NoticeOutcome, decision: &mut Decision) {
    let id = open.notice.id;
    decision.remember(Update::NoticeSettled(id));
    decision.settled.push(Settled { id, outcome });
}
