//! Whether instances launched lately became nodes. It is told, and stops nothing.

use super::Work;
use crate::condition::pool::NODE_REGISTRATION_HEALTHY;
use crate::memory::{Registration, Update};

/// So many of the last four launches failing is too many.
const FAILURES_MAX: usize = 2;

/// Keeps the condition. A new generation of the pool or its node class is a new start.
pub(super) fn judge(work: &mut Work<'_>) {
    let key = &work.pool.spec.template.spec.node_class;
    let class_generation = work.world.node_classes.get(key).map(|class| class.meta.generation);
    let known = work.conditions.get(NODE_REGISTRATION_HEALTHY);
    let is_old = known.is_none_or(|known| known.observed_generation != work.pool.meta.generation);
    if is_old || work.status.node_class_observed_generation != class_generation {
        work.status.node_class_observed_generation = class_generation;
        work.conditions.reset(NODE_REGISTRATION_HEALTHY);
        work.decision.remember(Update::ForgetRegistrations(work.pool.meta.uid.clone()));
        return;
    }
    let outcomes = work.world.memory.registrations.get(&work.pool.meta.uid);
    let outcomes = outcomes.map_or(&[][..], Vec::as_slice);
    let failures = outcomes.iter().filter(|outcome| **outcome != Registration::Joined).count();
    match outcomes.last() {
        Some(Registration::Joined) if failures < FAILURES_MAX => {
            work.conditions.set_true(NODE_REGISTRATION_HEALTHY);
        }
        Some(Registration::Failed { reason, message }) if failures >= FAILURES_MAX => {
            work.conditions.set_false(NODE_REGISTRATION_HEALTHY, reason, message);
        }
        _ => {}
    }
}
