//! The conditions of a pool.

use super::Reconcile;
use crate::condition::pool::{NODE_CLASS_READY, NODE_REGISTRATION_HEALTHY, VALIDATION_SUCCEEDED};
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::memory::{Registration, Update};
use crate::observed::Readiness;

/// So many of the last four launches failing is too many.
const FAILURES_MAX: usize = 2;
/// The reason of a pool whose node class is not there.
const NOT_FOUND: &str = "NodeClassNotFound";

/// Whether nodes can be made from a pool: its spec makes sense and its node class is ready.
pub(super) fn judge_readiness(reconcile: &mut Reconcile<'_>) {
    let faults = &reconcile.pool.faults;
    if faults.is_empty() {
        reconcile.conditions.set_true(VALIDATION_SUCCEEDED);
    } else {
        let message = faults.join("; ");
        reconcile.conditions.set_false(VALIDATION_SUCCEEDED, "NodePoolValidationFailed", &message);
    }
    match failure(reconcile) {
        None => reconcile.conditions.set_true(NODE_CLASS_READY),
        Some((reason, message)) => {
            if reason == NOT_FOUND {
                let about = Key::Pool(reconcile.pool.meta.name.clone());
                reconcile.decision.record(KubernetesEvent::unresolved_node_class(about));
            }
            reconcile.conditions.set_false(NODE_CLASS_READY, &reason, &message)
        }
    };
}

/// What is wrong with the node class: reason and message.
fn failure(reconcile: &Reconcile<'_>) -> Option<(String, String)> {
    let key = &reconcile.pool.spec.template.spec.node_class;
    let name = format!("{} {}", key.kind, key.name);
    let Some(class) = reconcile.world.node_classes.get(key) else {
        return Some((NOT_FOUND.to_owned(), format!("{name} does not exist")));
    };
    if class.meta.is_deleting() {
        return Some(("NodeClassTerminating".to_owned(), format!("{name} is being deleted")));
    }
    match class.readiness() {
        Readiness::Ready => None,
        Readiness::NotReady { reason, message } => Some((reason.to_owned(), message.to_owned())),
        Readiness::Unknown => {
            let message = format!("{name} has not said whether it is ready");
            Some(("NodeClassReadinessUnknown".to_owned(), message))
        }
    }
}

/// Whether instances launched lately became nodes. The condition stops nothing. A new generation of the pool or its node class is a new start.
pub(super) fn judge_registration_health(reconcile: &mut Reconcile<'_>) {
    let key = &reconcile.pool.spec.template.spec.node_class;
    let class_generation = reconcile.world.node_classes.get(key).map(|class| class.meta.generation);
    let known = reconcile.conditions.get(NODE_REGISTRATION_HEALTHY);
    let is_old =
        known.is_none_or(|known| known.observed_generation != reconcile.pool.meta.generation);
    if is_old || reconcile.status.node_class_observed_generation != class_generation {
        reconcile.status.node_class_observed_generation = class_generation;
        reconcile.conditions.reset(NODE_REGISTRATION_HEALTHY);
        reconcile.decision.remember(Update::ForgetRegistrations(reconcile.pool.meta.uid.clone()));
        return;
    }
    let outcomes = reconcile.world.memory.registrations.get(&reconcile.pool.meta.uid);
    let outcomes = outcomes.map_or(&[][..], Vec::as_slice);
    let failures = outcomes.iter().filter(|outcome| **outcome != Registration::Joined).count();
    match outcomes.last() {
        Some(Registration::Joined) if failures < FAILURES_MAX => {
            reconcile.conditions.set_true(NODE_REGISTRATION_HEALTHY);
        }
        Some(Registration::Failed { reason, message }) if failures >= FAILURES_MAX => {
            reconcile.conditions.set_false(NODE_REGISTRATION_HEALTHY, reason, message);
        }
        _ => {}
    }
}
