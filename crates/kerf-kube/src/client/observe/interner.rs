//! One shape for all replicas: what decides where pods may stand is kept once for pods alike.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use kerf_model::pod::PodShape;

/// The shapes in use, by what controls their pods.
#[derive(Debug, Default)]
pub(super) struct Interner {
    shapes: HashMap<Box<str>, Vec<Weak<PodShape>>>,
    /// How many owners there may be before those without pods are forgotten.
    sweep_at: usize,
}

/// Sweeping costs a look at every owner, so it waits until there are twice as many as after the
/// last sweep, and at least so many.
const SWEEP_AT_LEAST: usize = 256;
/// An owner's pods differ when its template changed, or when each has volumes of its own. Beyond so
/// many different ones no sharing is tried: the search would cost more than it saves.
const SHAPES_PER_OWNER_MAX: usize = 8;

impl Interner {
    /// The shape, or one just like it that other pods of the owner have already.
    pub(super) fn share(&mut self, shape: PodShape, owner: &str) -> Arc<PodShape> {
        if !self.shapes.contains_key(owner) {
            self.sweep();
            self.shapes.insert(owner.into(), Vec::new());
        }
        let known = self.shapes.get_mut(owner).expect("it was just put in");
        known.retain(|shape| shape.strong_count() > 0);
        let alike = known.iter().filter_map(Weak::upgrade).find(|known| **known == shape);
        alike.unwrap_or_else(|| {
            let shape = Arc::new(shape);
            if known.len() < SHAPES_PER_OWNER_MAX {
                known.push(Arc::downgrade(&shape));
            }
            shape
        })
    }

    fn sweep(&mut self) {
        if self.shapes.len() < self.sweep_at.max(SWEEP_AT_LEAST) {
            return;
        }
        self.shapes.retain(|_, shapes| shapes.iter().any(|shape| shape.strong_count() > 0));
        self.sweep_at = self.shapes.len() * 2;
    }
}
