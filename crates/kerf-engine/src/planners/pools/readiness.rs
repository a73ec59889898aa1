//! Whether nodes can be made from a pool: its spec makes sense and its node class is ready.

use super::Work;
use crate::condition::pool::{NODE_CLASS_READY, VALIDATION_SUCCEEDED};
use crate::observed::Readiness;

/// Keeps both conditions.
pub(super) fn judge(work: &mut Work<'_>) {
    let faults = &work.pool.faults;
    if faults.is_empty() {
        work.conditions.set_true(VALIDATION_SUCCEEDED);
    } else {
        let message = faults.join("; ");
        work.conditions.set_false(VALIDATION_SUCCEEDED, "NodePoolValidationFailed", &message);
    }
    match failure(work) {
        None => work.conditions.set_true(NODE_CLASS_READY),
        Some((reason, message)) => work.conditions.set_false(NODE_CLASS_READY, &reason, &message),
    };
}

/// What is wrong with the node class: reason and message.
fn failure(work: &Work<'_>) -> Option<(String, String)> {
    let key = &work.pool.spec.template.spec.node_class;
    let name = format!("{} {}", key.kind, key.name);
    let Some(class) = work.world.node_classes.get(key) else {
        return Some(("NodeClassNotFound".to_owned(), format!("{name} does not exist")));
    };
    if class.meta.is_deleting() {
        return Some(("NodeClassTerminating".to_owned(), format!("{name} is being deleted")));
    }
    match &class.readiness {
        Readiness::Ready => None,
        Readiness::NotReady { reason, message } => Some((reason.clone(), message.clone())),
        Readiness::Unknown => {
            let message = format!("{name} has not said whether it is ready");
            Some(("NodeClassReadinessUnknown".to_owned(), message))
        }
    }
}
