//! Storage: which volumes a pod claims, what attaches them and where they can be reached.
//!
//! ```text
//!  pod ─► volume ─► PersistentVolumeClaim ─┬─ bound ───► PersistentVolume ─► node affinity, driver
//!                                          └─ unbound ─► StorageClass ─────► topologies, provisioner
//! ```

mod driver;
mod gap;
mod gone;
mod pod_claims;
mod problem;
mod topology;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use kerf_model::pod::PodVolume;

use crate::pod::namespace_of;

pub use gap::StorageGap;
use pod_claims::PodClaim;
pub(crate) use pod_claims::claim_names;
pub use problem::VolumeProblem;

/// Set by the volume controller once claim and volume know each other.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// `"true"` on the class that claims without a class get.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// The storage objects of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Storage {
    /// By namespace and name.
    claims: BTreeMap<(String, String), core::PersistentVolumeClaim>,
    volumes: BTreeMap<String, core::PersistentVolume>,
    /// The claims that name a volume, by the volume.
    naming: BTreeMap<String, BTreeSet<(String, String)>>,
    classes: BTreeMap<String, storage::StorageClass>,
    /// Whether objects that are not there are taken to exist somewhere else.
    is_partial: bool,
}

/// A claim and what is known of it.
struct Claim<'a> {
    /// `namespace/name`, to tell people and to tell claims apart.
    name: String,
    spec: &'a core::PersistentVolumeClaimSpec,
    /// Whether the volume controller has finished binding it.
    bound: bool,
}

impl Storage {
    /// Adds a claim.
    pub fn add_claim(&mut self, claim: core::PersistentVolumeClaim) {
        let name = claim.metadata.name.clone().unwrap_or_default();
        let key = (namespace_of(&claim.metadata), name);
        self.remove_claim(&key.0, &key.1);
        if let Some(volume) = named_volume(&claim) {
            self.naming.entry(volume.to_owned()).or_default().insert(key.clone());
        }
        self.claims.insert(key, claim);
    }

    /// Adds a volume.
    pub fn add_volume(&mut self, volume: core::PersistentVolume) {
        self.volumes.insert(volume.metadata.name.clone().unwrap_or_default(), volume);
    }

    /// Adds a storage class.
    pub fn add_class(&mut self, class: storage::StorageClass) {
        self.classes.insert(class.metadata.name.clone().unwrap_or_default(), class);
    }

    /// The volumes a pod claims, each resolved. The claims of ephemeral volumes need not exist yet.
    ///
    /// # Errors
    /// The first claim that keeps the pod from being placed.
    pub fn volumes_of(
        &self,
        namespace: &str,
        pod_name: &str,
        spec: &core::PodSpec,
    ) -> Result<Vec<PodVolume>, VolumeProblem> {
        let resolve = |claim| self.resolve(namespace, claim);
        pod_claims::claims_of(pod_name, spec).into_iter().map(resolve).collect()
    }

    /// As [`Self::volumes_of`], for a pod that runs already: what cannot be resolved does not
    /// count, since the pod stands where it stands.
    #[must_use]
    pub fn volumes_of_bound(
        &self,
        namespace: &str,
        pod_name: &str,
        spec: &core::PodSpec,
    ) -> Vec<PodVolume> {
        let claims = pod_claims::claims_of(pod_name, spec);
        claims.into_iter().filter_map(|claim| self.resolve(namespace, claim).ok()).collect()
    }

    fn resolve(&self, namespace: &str, wanted: PodClaim) -> Result<PodVolume, VolumeProblem> {
        let name = format!("{namespace}/{}", wanted.name);
        match (self.claims.get(&(namespace.to_owned(), wanted.name)), &wanted.ephemeral) {
            (Some(claim), _) => self.resolve_claim(&existing(name, claim)?),
            (None, Some(spec)) => self.resolve_claim(&Claim { name, spec, bound: false }),
            (None, None) => Err(VolumeProblem::ClaimMissing { claim: name }),
        }
    }

    fn resolve_claim(&self, claim: &Claim<'_>) -> Result<PodVolume, VolumeProblem> {
        if self.gap(claim).is_some() {
            let (driver, reachable_from) = (None, Vec::new());
            return Ok(PodVolume { claim: claim.name.clone(), driver, reachable_from });
        }
        match self.volume_name(claim) {
            Some(volume) if self.is_partial => self.resolve_bound(claim, volume),
            Some(volume) if claim.bound => self.resolve_bound(claim, volume),
            Some(_) => Err(VolumeProblem::NotYetBound { claim: claim.name.clone() }),
            None => self.resolve_unbound(claim),
        }
    }

    fn resolve_bound(&self, claim: &Claim<'_>, name: &str) -> Result<PodVolume, VolumeProblem> {
        let (claim, volume) = (claim.name.clone(), name.to_owned());
        let Some(found) = self.volumes.get(name) else {
            return Err(VolumeProblem::VolumeMissing { claim, volume });
        };
        if found.metadata.deletion_timestamp.is_some() {
            return Err(VolumeProblem::VolumeDeleting { claim, volume });
        }
        let reachable_from = topology::of_volume(found).map_err(|problem| {
            VolumeProblem::Topology { object: format!("PersistentVolume {volume}"), problem }
        })?;
        let class = found.spec.as_ref().and_then(|spec| spec.storage_class_name.as_deref());
        let provisioner = class.and_then(|class| self.classes.get(class));
        let driver = driver::of_volume(found)
            .or_else(|| provisioner.map(|class| driver::current_name(&class.provisioner)));
        Ok(PodVolume { claim, driver, reachable_from })
    }

    fn resolve_unbound(&self, claim: &Claim<'_>) -> Result<PodVolume, VolumeProblem> {
        let name = claim.name.clone();
        let class = match claim.spec.storage_class_name.as_deref() {
            Some("") => return Err(VolumeProblem::NoClass { claim: name }),
            Some(class) => self.classes.get(class).ok_or_else(|| VolumeProblem::ClassMissing {
                claim: name.clone(),
                class: class.to_owned(),
            })?,
            None => self
                .default_class()
                .ok_or_else(|| VolumeProblem::NoClass { claim: name.clone() })?,
        };
        if class.volume_binding_mode.as_deref().unwrap_or("Immediate") == "Immediate" {
            let class = class.metadata.name.clone().unwrap_or_default();
            return Err(VolumeProblem::ImmediateUnbound { claim: name, class });
        }
        Ok(PodVolume {
            claim: name,
            driver: Some(driver::current_name(&class.provisioner)),
            reachable_from: topology::of_class(class),
        })
    }

    /// The class of claims without one: the newest marked so, as the API server chooses.
    fn default_class(&self) -> Option<&storage::StorageClass> {
        let marked = |class: &&storage::StorageClass| {
            let annotations = class.metadata.annotations.as_ref();
            annotations.and_then(|all| all.get(DEFAULT_CLASS)).is_some_and(|mark| mark == "true")
        };
        self.classes.values().filter(marked).max_by_key(|class| {
            let name = std::cmp::Reverse(class.metadata.name.clone());
            (class.metadata.creation_timestamp.clone(), name)
        })
    }
}

/// The volume that a claim names.
fn named_volume(claim: &core::PersistentVolumeClaim) -> Option<&str> {
    let volume = claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref());
    volume.filter(|name| !name.is_empty())
}

/// A claim that exists, if a pod that uses it can start.
fn existing(name: String, claim: &core::PersistentVolumeClaim) -> Result<Claim<'_>, VolumeProblem> {
    let phase = claim.status.as_ref().and_then(|status| status.phase.as_deref());
    if claim.metadata.deletion_timestamp.is_some() {
        return Err(VolumeProblem::ClaimDeleting { claim: name });
    }
    if phase == Some("Lost") {
        return Err(VolumeProblem::ClaimLost { claim: name });
    }
    let annotations = claim.metadata.annotations.as_ref();
    let bound = annotations.is_some_and(|all| all.contains_key(BIND_COMPLETED));
    match &claim.spec {
        Some(spec) => Ok(Claim { name, spec, bound }),
        None => Err(VolumeProblem::NoClass { claim: name }),
    }
}
