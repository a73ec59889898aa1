//! Capacity of nodes: whole, requested, free.

use kerf_model::resources::{CPU, MEMORY, PODS, ResourceList};

/// Amounts of resources: the three that every pod has as numbers, the others as a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capacity {
    cpu_millis: i128,
    memory_bytes: i128,
    pods: i128,
    others: ResourceList,
}

/// Parts of a whole that scores are counted in.
const PARTS: i128 = 1_000;

impl Capacity {
    pub(crate) fn of(list: &ResourceList) -> Self {
        let others = list.iter().filter(|(name, _)| ![CPU, MEMORY, PODS].contains(name));
        Self {
            cpu_millis: list.quantity(CPU).milli_value(),
            memory_bytes: list.quantity(MEMORY).value(),
            pods: list.quantity(PODS).value(),
            others: others.collect(),
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.cpu_millis += other.cpu_millis;
        self.memory_bytes += other.memory_bytes;
        self.pods += other.pods;
        if !other.others.is_empty() {
            self.others.add(&other.others);
        }
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.cpu_millis -= other.cpu_millis;
        self.memory_bytes -= other.memory_bytes;
        self.pods -= other.pods;
        if !other.others.is_empty() {
            self.others.subtract(&other.others);
        }
    }

    /// Processors, then memory: what pods are put in order by.
    pub(crate) fn size(&self) -> (i128, i128) {
        (self.cpu_millis, self.memory_bytes)
    }

    /// Whether a pod that takes `wanted` fits in here. What it does not ask for does not matter.
    pub(crate) fn holds(&self, wanted: &Self) -> bool {
        self.pods >= wanted.pods
            && (wanted.cpu_millis == 0 || self.cpu_millis >= wanted.cpu_millis)
            && (wanted.memory_bytes == 0 || self.memory_bytes >= wanted.memory_bytes)
            && wanted.others.iter().all(|(name, amount)| amount <= self.others.quantity(name))
    }

    /// How much of `whole` this is, from nothing to twice [`PARTS`]: processors and memory.
    pub(crate) fn share_of(&self, whole: &Self) -> i128 {
        let part = |left: i128, all: i128| if all > 0 { left.max(0) * PARTS / all } else { 0 };
        part(self.cpu_millis, whole.cpu_millis) + part(self.memory_bytes, whole.memory_bytes)
    }

    /// How much of `whole` is used if this is left, in thousandths: processors and memory.
    pub(crate) fn used_of(&self, whole: &Self) -> (u32, u32) {
        let part = |left: i128, all: i128| {
            let used = if all > 0 { (all - left).max(0) * PARTS / all } else { 0 };
            u32::try_from(used).unwrap_or(u32::MAX)
        };
        (part(self.cpu_millis, whole.cpu_millis), part(self.memory_bytes, whole.memory_bytes))
    }
}
