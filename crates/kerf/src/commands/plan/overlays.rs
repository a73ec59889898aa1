//! What NodeOverlays change about the instance types of the pools.

use std::sync::Arc;

use kerf_api::convert::node_overlay_to_model;
use kerf_api::node_overlay::NodeOverlay;
use kerf_api::validation::validate_node_overlay;
use kerf_kube::Sourced;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::overlay;
use kerf_model::overlay_evaluation::apply_overlays;
use kerf_model::pool::NodePool;

/// Changes the instance types of the pools as the overlays say. The answer says which overlays are
/// skipped, and why.
pub(super) fn apply(
    overlays: &[Sourced<NodeOverlay>],
    pools: &mut [(Arc<NodePool>, Arc<[InstanceType]>)],
    label_rules: &LabelRules,
) -> Vec<String> {
    if overlays.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let mut usable = Vec::new();
    for Sourced { object, .. } in overlays {
        match read(object, label_rules) {
            Ok(overlay) => usable.push(overlay),
            Err(why) => {
                let name = object.metadata.name.as_deref().unwrap_or_default();
                notes.push(skipped(name, &why));
            }
        }
    }
    let conflicts = apply_overlays(&usable, pools, label_rules.normalization());
    match usable.len() - conflicts.len() {
        0 => {}
        1 => notes.push("prices and capacities as 1 NodeOverlay changes them".to_owned()),
        count => notes.push(format!("prices and capacities as {count} NodeOverlays change them")),
    }
    let conflicts = conflicts.iter();
    notes.extend(conflicts.map(|it| skipped(&usable[it.overlay].name, &it.reason.to_string())));
    notes
}

/// An overlay that a controller would use, or what it would say against it.
fn read(object: &NodeOverlay, label_rules: &LabelRules) -> Result<overlay::NodeOverlay, String> {
    let mut problems = validate_node_overlay(&object.spec, label_rules);
    match node_overlay_to_model(object) {
        Ok(overlay) if problems.is_empty() => Ok(overlay),
        read => {
            problems.extend(read.err().into_iter().flatten());
            problems.dedup();
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(texts.join("; "))
        }
    }
}

fn skipped(name: &str, why: &str) -> String {
    format!("NodeOverlay {name} skipped: {why}")
}
