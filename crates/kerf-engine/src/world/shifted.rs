//! What stands in zones the cluster is shifted away from.

use std::collections::BTreeMap;

use kerf_model::labels::well_known::ZONE;

use super::World;
use crate::observed::{Claim, Name, ShiftedZone};

impl World {
    /// The zone these labels name, if the cluster is shifted away from it.
    #[must_use]
    pub fn shifted_zone(&self, labels: &BTreeMap<String, String>) -> Option<&ShiftedZone> {
        // Nearly always there is none, and no label has to be looked up.
        if self.shifted.is_empty() {
            return None;
        }
        self.shifted.get(labels.get(ZONE)?.as_str())
    }

    /// The zone a claim's instance is in, if the cluster is shifted away from it.
    #[must_use]
    pub fn shifted_zone_of(&self, claim: &Claim) -> Option<&ShiftedZone> {
        self.shifted_zone(&claim.spec.labels).or_else(|| {
            let launched = self.memory.launched.get(&claim.meta.uid);
            launched.and_then(|instance| self.shifted_zone(&instance.labels))
        })
    }

    /// The zone of an instance, by its claim, node or the cloud's list, if the cluster is shifted
    /// away from it.
    #[must_use]
    pub fn shifted_zone_of_instance(
        &self,
        claim: &Name,
        provider_id: Option<&str>,
    ) -> Option<&ShiftedZone> {
        let claim = self.claims.get(claim);
        let listed = || self.memory.instances.as_ref()?.instances.get(provider_id?);
        let of_node = || {
            let mut nodes = self.nodes_on_instance(provider_id?);
            nodes.find_map(|node| self.shifted_zone(&node.labels))
        };
        claim
            .and_then(|claim| self.shifted_zone_of(claim))
            .or_else(of_node)
            .or_else(|| self.shifted_zone(&listed()?.labels))
    }
}
