//! Pods that are read again when what they depend on changes, found by what it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kerf_engine::observed::{NamespacedName, PodKey};

use crate::storage::claim_names;

/// Pods whose volumes, or whose like, may not all be known. Those with a node only until all of
/// that is known.
#[derive(Debug, Default)]
pub(super) struct DependentPods {
    pods: BTreeMap<PodKey, core::Pod>,
    /// By the PersistentVolumeClaims they use.
    by_claim: BTreeMap<NamespacedName, BTreeSet<PodKey>>,
}

impl DependentPods {
    pub(super) fn insert(&mut self, key: PodKey, pod: core::Pod) {
        self.remove(&key);
        for claim in claims(&key, &pod) {
            self.by_claim.entry(claim).or_default().insert(key.clone());
        }
        self.pods.insert(key, pod);
    }

    pub(super) fn remove(&mut self, key: &PodKey) {
        let Some(pod) = self.pods.remove(key) else { return };
        for claim in claims(key, &pod) {
            if let Some(users) = self.by_claim.get_mut(&claim) {
                users.remove(key);
                if users.is_empty() {
                    self.by_claim.remove(&claim);
                }
            }
        }
    }

    /// Forgets pods that a whole list did not name.
    pub(super) fn retain(&mut self, is_there: impl Fn(&PodKey) -> bool) {
        let gone: Vec<PodKey> = self.pods.keys().filter(|key| !is_there(key)).cloned().collect();
        gone.iter().for_each(|key| self.remove(key));
    }

    /// The pods that use one of these PersistentVolumeClaims.
    pub(super) fn using(&self, claims: &[NamespacedName]) -> Vec<core::Pod> {
        let users = claims.iter().filter_map(|claim| self.by_claim.get(claim)).flatten();
        let users: BTreeSet<&PodKey> = users.collect();
        users.into_iter().filter_map(|key| self.pods.get(key)).cloned().collect()
    }

    /// The pods whose name fits.
    pub(super) fn named(&self, fits: impl Fn(&PodKey) -> bool) -> Vec<core::Pod> {
        self.pods.iter().filter(|(key, _)| fits(key)).map(|(_, pod)| pod.clone()).collect()
    }
}

fn claims(key: &PodKey, pod: &core::Pod) -> impl Iterator<Item = NamespacedName> {
    let names = pod.spec.iter().flat_map(|spec| claim_names(&key.name, spec));
    let names: Vec<String> = names.collect();
    let namespace = key.namespace.clone();
    names
        .into_iter()
        .map(move |name| NamespacedName { namespace: namespace.clone(), name: Arc::from(name) })
}
