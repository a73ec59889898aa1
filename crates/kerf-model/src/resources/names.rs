//! Resource names as small numbers.

use rustc_hash::FxHashMap;

use super::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS};

/// A resource name in a [`ResourceNames`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(u32);

impl ResourceId {
    /// `cpu` in every table.
    pub const CPU: ResourceId = ResourceId(0);
    /// `memory` in every table.
    pub const MEMORY: ResourceId = ResourceId(1);
    /// `ephemeral-storage` in every table.
    pub const EPHEMERAL_STORAGE: ResourceId = ResourceId(2);
    /// `pods` in every table.
    pub const PODS: ResourceId = ResourceId(3);

    /// The place of this resource in a vector.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names at the ids every table starts with.
const FIXED: [&str; 4] = [CPU, MEMORY, EPHEMERAL_STORAGE, PODS];

/// Gives each resource name an id, in the order they are first seen.
#[derive(Clone, Debug)]
pub struct ResourceNames {
    names: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, ResourceId>,
}

impl ResourceNames {
    /// A table with the four resources every node has.
    pub fn new() -> ResourceNames {
        let mut table = ResourceNames { names: Vec::new(), ids: FxHashMap::default() };
        for name in FIXED {
            table.intern(name);
        }
        table
    }

    /// The id of a name, a new one if it has none yet.
    pub fn intern(&mut self, name: &str) -> ResourceId {
        if let Some(id) = self.id(name) {
            return id;
        }
        let id = ResourceId(u32::try_from(self.names.len()).expect("fewer than 2³² names"));
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The id of a name, if it has one.
    pub fn id(&self, name: &str) -> Option<ResourceId> {
        self.ids.get(name).copied()
    }

    /// The name behind an id of this table; an id of another table may have none here.
    pub fn name(&self, id: ResourceId) -> Option<&str> {
        self.names.get(id.index()).map(|name| &**name)
    }

    /// Ids and names, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, &str)> {
        (0..).map(ResourceId).zip(self.names.iter().map(|name| &**name))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Never: the fixed names are always there.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl Default for ResourceNames {
    fn default() -> ResourceNames {
        ResourceNames::new()
    }
}
