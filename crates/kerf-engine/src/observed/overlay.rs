//! NodeOverlays: corrections to the price and capacity of instance types.

use std::sync::Arc;

use kerf_model::overlay::NodeOverlay;
use serde::{Deserialize, Serialize};

use super::{Meta, Name, ObservedKind};
use crate::action::Subject;
use crate::condition::Conditions;
use crate::world::World;

/// An overlay with what was observed of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// What all objects have.
    pub meta: Meta,
    /// What it changes, and where; what is wrong with it otherwise.
    pub spec: Result<Arc<NodeOverlay>, String>,
    /// What was last written about it.
    pub conditions: Conditions,
}

impl ObservedKind for Overlay {
    type Key = Name;

    fn key(&self) -> Name {
        self.meta.name.clone()
    }

    fn subject(name: &Name) -> Option<Subject> {
        Some(Subject::Overlay(name.clone()))
    }

    /// One that changes may begin or cease to conflict with any other.
    fn dependents(&self, world: &World) -> Vec<Subject> {
        let overlays = world.overlays.keys().cloned().map(Subject::Overlay);
        let all = [Subject::Provisioning, Subject::Disruption, Subject::ZonalShift];
        all.into_iter().chain(overlays).collect()
    }
}
