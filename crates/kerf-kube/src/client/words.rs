//! Actions as the log tells them.

use kerf_engine::action::{Action, ActionKind};

/// One line about an action; the reason is logged apart.
pub(crate) fn words(action: &Action) -> String {
    let info = action.kind.info();
    match &action.kind {
        ActionKind::Solve(request) => {
            format!("{} for {} pods", info.name, request.problem.pods.len())
        }
        _ => format!("{} {}", info.name, info.subject).trim_end().to_owned(),
    }
}
