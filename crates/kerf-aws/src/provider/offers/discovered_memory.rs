//! How much memory nodes really have: what the hypervisor keeps is only known once a node of the
//! type has started.
//!
//! Nothing is stored for it. Every node that runs tells its memory, so a process that starts anew
//! learns from the nodes there are what the one before had learned from them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kerf_engine::observed::{Claim, Node};
use kerf_model::labels::well_known::{INSTANCE_TYPE, REGISTERED};
use kerf_model::quantity::Quantity;
use kerf_model::resources::MEMORY;

use super::Changes;
use crate::provider::info::HASH;

/// What memory depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    instance_type: String,
    image: String,
    /// The hash of the node class, which covers user data and the kubelet's settings.
    class: String,
}

/// The memory of nodes that were seen.
#[derive(Debug)]
pub(crate) struct DiscoveredMemory {
    known: Mutex<HashMap<Key, Quantity>>,
    changes: Arc<Changes>,
}

impl DiscoveredMemory {
    /// No node was seen.
    pub(crate) fn new(changes: Arc<Changes>) -> Self {
        Self { known: Mutex::default(), changes }
    }

    /// A node was seen. Of several that differ, the one with the least counts: pods must fit on any.
    pub(crate) fn see(&self, node: &Node, claim: &Claim) {
        let is_registered = node.labels.get(REGISTERED).is_some_and(|value| value == "true");
        let told = || {
            let key = Key {
                instance_type: node.labels.get(INSTANCE_TYPE)?.clone(),
                image: claim.status.image_id.clone()?,
                class: claim.annotations().get(HASH).cloned().unwrap_or_default(),
            };
            let memory = node.capacity.get(MEMORY).filter(|memory| !memory.is_zero())?;
            Some((key, memory))
        };
        let Some((key, memory)) = told().filter(|_| is_registered) else { return };
        let mut known = self.known();
        if known.get(&key).is_none_or(|least| memory < *least) {
            known.insert(key, memory);
            drop(known);
            self.changes.note();
        }
    }

    /// The memory of nodes of a type that start from one of these images, if any was seen. Types
    /// fit one image of a class, so only one can have been seen.
    pub(super) fn of<'a>(
        &self,
        instance_type: &str,
        images: impl IntoIterator<Item = &'a str>,
        class: &str,
    ) -> Option<Quantity> {
        let known = self.known();
        if known.is_empty() {
            return None;
        }
        images.into_iter().find_map(|image| {
            let key = Key {
                instance_type: instance_type.to_owned(),
                image: image.to_owned(),
                class: class.to_owned(),
            };
            known.get(&key).copied()
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Key, Quantity>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
