//! Claims that are made together with a pod: those of a StatefulSet's templates and of ephemeral
//! volumes.

use k8s_openapi::api::core::v1 as core;

/// A claim a pod needs: by name, and what it will ask for if it is made together with the pod.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeseenClaim {
    /// The name in the pod's namespace.
    pub name: String,
    /// What it will ask for; none where it must exist beforehand.
    pub spec: Option<core::PersistentVolumeClaimSpec>,
}

impl ForeseenClaim {
    /// The claims of a StatefulSet's pod: `<template>-<pod>`.
    #[must_use]
    pub fn of_templates(
        templates: &[core::PersistentVolumeClaim],
        pod_name: &str,
    ) -> Vec<ForeseenClaim> {
        let claim = |template: &core::PersistentVolumeClaim| ForeseenClaim {
            name: format!("{}-{pod_name}", template.metadata.name.as_deref().unwrap_or_default()),
            spec: Some(template.spec.clone().unwrap_or_default()),
        };
        templates.iter().map(claim).collect()
    }
}

/// Every claim a pod needs, each once: those of templates, then those its volumes name.
pub(super) fn claims_of(
    pod_name: &str,
    spec: &core::PodSpec,
    foreseen: &[ForeseenClaim],
) -> Vec<ForeseenClaim> {
    let mut claims = foreseen.to_vec();
    for volume in spec.volumes.iter().flatten() {
        // A volume of a template's name is that template's, whatever the pod says.
        let replaced = |claim: &ForeseenClaim| {
            claim
                .name
                .strip_suffix(pod_name)
                .is_some_and(|rest| rest.strip_suffix('-').is_some_and(|name| name == volume.name))
        };
        if foreseen.iter().any(replaced) {
            continue;
        }
        if let Some(claim) = claim_of(pod_name, volume)
            && !claims.iter().any(|known| known.name == claim.name)
        {
            claims.push(claim);
        }
    }
    claims
}

fn claim_of(pod_name: &str, volume: &core::Volume) -> Option<ForeseenClaim> {
    if let Some(source) = &volume.persistent_volume_claim {
        return Some(ForeseenClaim { name: source.claim_name.clone(), spec: None });
    }
    let template = volume.ephemeral.as_ref()?.volume_claim_template.as_ref();
    Some(ForeseenClaim {
        name: format!("{pod_name}-{}", volume.name),
        spec: template.map(|template| template.spec.clone()),
    })
}
