//! What an action does, in words for the log.

use kerf_engine::action::{Action, Deed};

/// One line about an action; the reason is told apart.
pub(crate) fn words(action: &Action) -> String {
    match &action.deed {
        Deed::CreateClaim(claim) => format!("create nodeclaim {}", claim.wish.name),
        Deed::PatchClaim { name, .. } => format!("change nodeclaim {name}"),
        Deed::WriteClaimStatus { name, .. } => format!("write the status of nodeclaim {name}"),
        Deed::DeleteClaim { name, .. } => format!("delete nodeclaim {name}"),
        Deed::PatchNode { name, .. } => format!("change node {name}"),
        Deed::DeleteNode { name, .. } => format!("delete node {name}"),
        Deed::EvictPod { pod, .. } => format!("evict pod {pod}"),
        Deed::DeletePod { pod, grace_seconds, .. } => {
            format!("delete pod {pod} within {grace_seconds} s")
        }
        Deed::PatchPool { name, .. } => format!("change nodepool {name}"),
        Deed::WritePoolStatus { name, .. } => format!("write the status of nodepool {name}"),
        Deed::Launch(claim) => format!("launch a machine for nodeclaim {}", claim.meta.name),
        Deed::Terminate { claim, .. } => format!("terminate the machine of nodeclaim {claim}"),
        Deed::ListMachines => "list the cloud's machines".to_owned(),
        Deed::Solve(problem) => format!("find places for {} pods", problem.pods.len()),
    }
}
