//! Nodes as the engine sees them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::resources::ResourceList;
use kerf_model::taint::{DISRUPTED_KEY, Taint};
use serde::{Deserialize, Serialize};

use super::index::instance_id;
use super::{Index, Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::condition::Conditions;
use crate::dependents::of_node;
use crate::world::World;

/// A node, exactly as it was stored; what counts of it is decided in [`crate::world`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What all objects have.
    pub meta: Meta,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations, those in the `karpenter.sh` domains only.
    pub annotations: BTreeMap<String, String>,
    /// The finalizers it waits for.
    pub finalizers: Vec<String>,
    /// The identity of the claim it belongs to, from its owner references.
    pub owner_claim: Option<Arc<str>>,
    /// The instance it runs on.
    pub provider_id: Option<Arc<str>>,
    /// Its taints, all of them, and that of a node closed by `kubectl cordon`.
    pub taints: Vec<Taint>,
    /// What it has in all.
    pub capacity: ResourceList,
    /// What pods can use.
    pub allocatable: ResourceList,
    /// Whether its Ready condition is True.
    pub is_ready: bool,
    /// How many volumes each driver can attach here; a driver not listed has no limit.
    pub volume_limits: BTreeMap<String, u32>,
    /// What is known of it beyond what pods need.
    pub profile: NodeProfile,
}

/// What is known of a node beyond what pods need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeProfile {
    /// What it says of itself, without the messages.
    pub conditions: Conditions,
    /// Another with every start of its machine; nothing where nobody says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot_id: String,
}

impl Node {
    /// Whether it is closed to pods because it is disrupted.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.taints.iter().any(|taint| taint.key == DISRUPTED_KEY)
    }
}

impl ObservedKind for Node {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }

    fn finalizers(&self) -> &[String] {
        &self.finalizers
    }

    fn add_to(node: &Arc<Self>, index: &mut Index) {
        let name = &node.meta.name;
        index.changed_nodes.insert(name.clone());
        index.loads.node_comes(name);
        if node.meta.is_deleting() || node.is_closed() {
            index.departing_nodes.insert(name.clone(), node.clone());
        }
        if let Some(id) = &node.provider_id {
            index.tally_instance(id, -1);
            index.nodes_on_instance.insert(instance_id(id), name, node);
            index.tally_instance(id, 1);
            index.note_arrivals(id);
        }
    }

    fn remove_from(&self, index: &mut Index) {
        let name = &self.meta.name;
        index.changed_nodes.insert(name.clone());
        index.loads.node_goes(name);
        index.departing_nodes.remove(name);
        if let Some(id) = &self.provider_id {
            index.tally_instance(id, -1);
            index.nodes_on_instance.remove(instance_id(id), name);
            index.tally_instance(id, 1);
            index.note_arrivals(id);
        }
    }

    fn subject(name: &Name) -> Option<Subject> {
        Some(Subject::Node(name.clone()))
    }

    fn dependents(&self, world: &World) -> Vec<Subject> {
        // Closing a node is a step of its removal, whoever waits for it.
        let may_go = self.is_closed() || world.may_need_repair(self);
        let removal = may_go.then_some(Subject::Disruption);
        of_node(world, self).into_iter().chain(removal).collect()
    }
}
