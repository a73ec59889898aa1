//! NodeOverlays: whether they are applied, and what keeps them from it.

use crate::action::ActionKind;
use crate::condition::Draft;
use crate::condition::overlay::{DEPENDENTS, VALIDATION_SUCCEEDED};
use crate::decision::Decision;
use crate::observed::Name;
use crate::reason::Reason;
use crate::time::Time;
use crate::world::World;

/// What an overlay needs now: its status, where that is behind.
pub(super) fn plan(world: &World, name: &Name, now: Time) -> Decision {
    let mut decision = Decision::default();
    let Some(overlay) = world.overlays.get(name) else { return decision };
    if overlay.meta.is_deleting() {
        return decision;
    }
    let mut conditions = Draft::of(&overlay.conditions, &DEPENDENTS, &overlay.meta, now);
    match (&overlay.spec, world.overlay_conflict(name)) {
        (Err(fault), _) => {
            conditions.set_false(VALIDATION_SUCCEEDED, "RuntimeValidation", fault);
        }
        (Ok(_), Some(conflict)) => {
            conditions.set_false(VALIDATION_SUCCEEDED, "Conflict", conflict);
        }
        (Ok(_), None) => {
            conditions.set_true(VALIDATION_SUCCEEDED);
        }
    }
    if let Some(conditions) = conditions.into_changed() {
        let (name, revision) = (name.clone(), overlay.meta.revision);
        let kind = ActionKind::WriteOverlayStatus { name, revision, conditions };
        decision.act(kind, Reason::OverlayStatusOutdated);
    }
    decision
}
