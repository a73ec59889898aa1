//! Pods that are alike, found by what they look like.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use kerf_model::pod::PodShape;
use rustc_hash::{FxHashMap, FxHasher};

/// Distinct shapes, numbered in the order they are met. A shape that is shared is found by its
/// address, any other by its content.
#[derive(Default)]
pub(crate) struct Shapes {
    /// The shape itself is held, so that its address stays its own.
    by_address: FxHashMap<usize, (usize, Arc<PodShape>)>,
    by_content: FxHashMap<u64, Vec<usize>>,
    shapes: Vec<Arc<PodShape>>,
}

impl Shapes {
    /// The number of a shape.
    pub(crate) fn number(&mut self, shape: &Arc<PodShape>) -> usize {
        let address = Arc::as_ptr(shape).addr();
        if let Some(known) = self.by_address.get(&address) {
            return known.0;
        }
        let bucket = self.by_content.entry(fingerprint(shape)).or_default();
        let known = bucket.iter().copied().find(|known| *self.shapes[*known] == **shape);
        let number = known.unwrap_or_else(|| {
            self.shapes.push(shape.clone());
            bucket.push(self.shapes.len() - 1);
            self.shapes.len() - 1
        });
        self.by_address.insert(address, (number, shape.clone()));
        number
    }

    /// The number of a shape that has one.
    pub(crate) fn known(&self, shape: &Arc<PodShape>) -> Option<usize> {
        let by_address = self.by_address.get(&Arc::as_ptr(shape).addr()).map(|known| known.0);
        by_address.or_else(|| {
            let bucket = self.by_content.get(&fingerprint(shape))?;
            bucket.iter().copied().find(|known| *self.shapes[*known] == **shape)
        })
    }

    /// The shape of a number.
    pub(crate) fn get(&self, number: usize) -> &Arc<PodShape> {
        &self.shapes[number]
    }

    /// How many shapes are held, equal ones counted as often as they were met.
    pub(crate) fn held(&self) -> usize {
        self.by_address.len()
    }

    /// Every shape, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<PodShape>> {
        self.shapes.iter()
    }
}

/// A number that equal shapes share. What it leaves out is compared afterwards.
fn fingerprint(shape: &PodShape) -> u64 {
    let mut hasher = FxHasher::default();
    shape.namespace.hash(&mut hasher);
    for (key, value) in &shape.labels {
        (key, value).hash(&mut hasher);
    }
    for (name, quantity) in shape.requests.iter() {
        (name, quantity.nanos()).hash(&mut hasher);
    }
    for (key, value) in &shape.placement.node_selector {
        (key, value).hash(&mut hasher);
    }
    shape.spreads.hash(&mut hasher);
    shape.affinity.hash(&mut hasher);
    shape.anti_affinity.hash(&mut hasher);
    hasher.finish()
}
