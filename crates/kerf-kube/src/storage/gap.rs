//! Storage objects that files leave out, because a cluster has them already.

use k8s_openapi::api::core::v1 as core;
use thiserror::Error;

use super::{Claim, Storage, existing, pod_claims};

/// What is assumed of an object that is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum StorageGap {
    /// The class of a claim is not there.
    #[error("StorageClass {0} not given: assumed that it makes volumes in any zone")]
    Class(String),
    /// A claim names no class, and no class is marked as the default.
    #[error("no default StorageClass given: assumed one that makes volumes in any zone")]
    DefaultClass,
    /// A claim wants no class, and no volume is there for it.
    #[error("no PersistentVolume given for claim {0}: assumed one that any node can reach")]
    VolumeFor(String),
    /// The volume of a claim is not there.
    #[error("PersistentVolume {0} not given: assumed that any node can reach it")]
    Volume(String),
}

impl Storage {
    /// From now on what is missing is taken to be somewhere else, as with files, which rarely hold
    /// all objects of a cluster. What is there counts as it is.
    pub fn assume_what_is_missing(&mut self) {
        self.is_partial = true;
    }

    /// What is assumed about the volumes of a pod.
    #[must_use]
    pub fn gaps(&self, namespace: &str, pod_name: &str, spec: &core::PodSpec) -> Vec<StorageGap> {
        let claims = pod_claims::claims_of(pod_name, spec).into_iter();
        let gaps = claims.filter_map(|wanted| {
            let name = format!("{namespace}/{}", wanted.name);
            match (self.claims.get(&(namespace.to_owned(), wanted.name)), &wanted.ephemeral) {
                (Some(claim), _) => self.gap(&existing(name, claim).ok()?),
                (None, Some(spec)) => self.gap(&Claim { name, spec, bound: false }),
                (None, None) => None,
            }
        });
        gaps.collect()
    }

    /// What is missing to resolve a claim, where that is assumed.
    pub(super) fn gap(&self, claim: &Claim<'_>) -> Option<StorageGap> {
        if !self.is_partial {
            return None;
        }
        if let Some(volume) = self.volume_name(claim) {
            let is_missing = !self.volumes.contains_key(volume);
            return is_missing.then(|| StorageGap::Volume(volume.to_owned()));
        }
        match claim.spec.storage_class_name.as_deref() {
            Some("") => Some(StorageGap::VolumeFor(claim.name.clone())),
            Some(class) if self.classes.contains_key(class) => None,
            Some(class) => Some(StorageGap::Class(class.to_owned())),
            None if self.default_class().is_some() => None,
            None => Some(StorageGap::DefaultClass),
        }
    }

    /// The volume a claim names or, among files, the volume that names the claim.
    pub(super) fn volume_name<'a>(&'a self, claim: &Claim<'a>) -> Option<&'a str> {
        let named = claim.spec.volume_name.as_deref().filter(|name| !name.is_empty());
        named.or_else(|| {
            let mut volumes = self.volumes.iter().filter(|_| self.is_partial);
            let reserved = volumes.find(|(_, volume)| {
                let reference = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
                reference.is_some_and(|it| {
                    let namespace = it.namespace.as_deref().unwrap_or("default");
                    claim.name == format!("{namespace}/{}", it.name.as_deref().unwrap_or_default())
                })
            });
            reserved.map(|(name, _)| name.as_str())
        })
    }
}
