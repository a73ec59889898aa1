//! NodeOverlays.

use std::sync::Arc;

use kerf_api::convert::node_overlay_to_model;
use kerf_api::node_overlay::NodeOverlay;
use kerf_api::validation::validate_node_overlay;
use kerf_engine::observed::Overlay;
use kerf_model::labels::LabelRules;

use super::meta::{conditions, meta};

/// Reads an overlay. One that cannot be used is there all the same, with what is wrong.
pub(crate) fn read(overlay: &NodeOverlay, rules: &LabelRules) -> Overlay {
    let mut problems = validate_node_overlay(&overlay.spec, rules);
    let spec = match node_overlay_to_model(overlay) {
        Ok(spec) if problems.is_empty() => Ok(Arc::new(spec)),
        read => {
            problems.extend(read.err().into_iter().flatten());
            problems.dedup();
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Err(texts.join("; "))
        }
    };
    let stored = overlay.status.as_ref().and_then(|status| status.conditions.as_ref());
    Overlay { meta: meta(&overlay.metadata), spec, conditions: conditions(stored) }
}
