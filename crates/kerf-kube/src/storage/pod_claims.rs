//! The PersistentVolumeClaims a pod uses.

use k8s_openapi::api::core::v1 as core;

/// A claim a pod uses: by name, and what it will ask for if it is made together with the pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodClaim {
    /// The name in the pod's namespace.
    pub(super) name: String,
    /// What the claim of an ephemeral volume will ask for; others must exist beforehand.
    pub(super) ephemeral: Option<core::PersistentVolumeClaimSpec>,
}

/// Every claim a pod uses, each once.
pub(super) fn claims_of(pod_name: &str, spec: &core::PodSpec) -> Vec<PodClaim> {
    let mut claims: Vec<PodClaim> = Vec::new();
    for volume in spec.volumes.iter().flatten() {
        if let Some(claim) = claim_of(pod_name, volume)
            && !claims.iter().any(|known| known.name == claim.name)
        {
            claims.push(claim);
        }
    }
    claims
}

/// The names of the claims a pod uses.
pub(crate) fn claim_names(pod_name: &str, spec: &core::PodSpec) -> Vec<String> {
    claims_of(pod_name, spec).into_iter().map(|claim| claim.name).collect()
}

fn claim_of(pod_name: &str, volume: &core::Volume) -> Option<PodClaim> {
    if let Some(source) = &volume.persistent_volume_claim {
        return Some(PodClaim { name: source.claim_name.clone(), ephemeral: None });
    }
    let template = volume.ephemeral.as_ref()?.volume_claim_template.as_ref();
    Some(PodClaim {
        name: format!("{pod_name}-{}", volume.name),
        ephemeral: template.map(|template| template.spec.clone()),
    })
}
