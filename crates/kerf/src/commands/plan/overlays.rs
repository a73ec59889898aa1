//! What to say about NodeOverlays.

use kerf_engine::World;

/// How many overlays there are, and which of them are skipped, and why.
pub(super) fn notes(world: &World) -> Vec<String> {
    let mut notes = Vec::new();
    let mut applied = 0;
    for (name, overlay) in world.overlays.iter().filter(|(_, it)| !it.meta.is_deleting()) {
        let why = overlay.spec.as_ref().err().map(String::as_str);
        match why.or_else(|| world.overlay_conflict(name)) {
            Some(why) => notes.push(format!("NodeOverlay {name} skipped: {why}")),
            None => applied += 1,
        }
    }
    match applied {
        0 => {}
        1 => notes.insert(0, "prices and capacities as 1 NodeOverlay changes them".to_owned()),
        count => {
            notes.insert(0, format!("prices and capacities as {count} NodeOverlays change them"));
        }
    }
    notes
}
