//! What an action does, in words for the log.

use kerf_engine::action::{Action, ActionKind};

/// One line about an action; the reason is told apart.
pub(crate) fn words(action: &Action) -> String {
    match &action.kind {
        ActionKind::CreateClaim(claim) => format!("create nodeclaim {}", claim.spec.name),
        ActionKind::PatchClaim { name, .. } => format!("change nodeclaim {name}"),
        ActionKind::WriteClaimStatus { name, .. } => {
            format!("write the status of nodeclaim {name}")
        }
        ActionKind::DeleteClaim { name, .. } => format!("delete nodeclaim {name}"),
        ActionKind::PatchNode { name, .. } => format!("change node {name}"),
        ActionKind::DeleteNode { name, .. } => format!("delete node {name}"),
        ActionKind::EvictPod { pod, .. } => format!("evict pod {pod}"),
        ActionKind::DeletePod { pod, grace_seconds, .. } => {
            format!("delete pod {pod} within {grace_seconds} s")
        }
        ActionKind::PatchPool { name, .. } => format!("change nodepool {name}"),
        ActionKind::WritePoolStatus { name, .. } => format!("write the status of nodepool {name}"),
        ActionKind::Launch(claim) => format!("launch a machine for nodeclaim {}", claim.meta.name),
        ActionKind::Terminate { claim, .. } => {
            format!("terminate the machine of nodeclaim {claim}")
        }
        ActionKind::ListInstances => "list the cloud's machines".to_owned(),
        ActionKind::Solve(request) => {
            format!("find places for {} pods", request.problem.pods.len())
        }
        ActionKind::ZonalShift(call) => format!("make a call of zonal shifts: {}", call.name()),
    }
}
