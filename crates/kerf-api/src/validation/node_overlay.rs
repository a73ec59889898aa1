//! NodeOverlays.

use kerf_model::labels::LabelRules;
use kerf_model::price::{Price, PriceAdjustment};
use kerf_model::quantity::Quantity;

use super::requirement::validate_requirement;
use crate::field_error::FieldError;
use crate::node_overlay::{FIXED_RESOURCES, NodeOverlaySpec};

/// Everything wrong with an overlay.
#[must_use]
pub fn validate_node_overlay(spec: &NodeOverlaySpec, rules: &LabelRules) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for (index, requirement) in spec.requirements.iter().enumerate() {
        validate_requirement(
            requirement,
            &format!("spec.requirements[{index}]"),
            rules,
            &mut problems,
        );
    }
    for (name, quantity) in spec.capacity.iter().flatten() {
        let path = format!("spec.capacity.{name}");
        if FIXED_RESOURCES.contains(&name.as_str()) {
            problems.push(FieldError::new(&path, "an overlay cannot change this resource"));
        }
        if let Err(error) = Quantity::parse(&quantity.text()) {
            problems.push(FieldError::new(&path, error));
        }
    }
    let price = spec.price.as_deref().map(|text| ("spec.price", Price::parse(text).err()));
    let change = spec
        .price_adjustment
        .as_deref()
        .map(|text| ("spec.priceAdjustment", PriceAdjustment::parse(text).err()));
    for (path, error) in price.into_iter().chain(change) {
        problems.extend(error.map(|error| FieldError::new(path, error)));
    }
    problems
}
