//! NodeOverlays.

use kerf_model::overlay as model;
use kerf_model::price::{Price, PriceAdjustment};

use super::node_spec;
use crate::field_error::FieldError;
use crate::node_overlay::{NodeOverlay, NodeOverlaySpec};
use crate::reader::Reader;

/// Reads an overlay.
///
/// # Errors
/// Every field that cannot be understood.
pub fn node_overlay_to_model(overlay: &NodeOverlay) -> Result<model::NodeOverlay, Vec<FieldError>> {
    let NodeOverlaySpec { capacity, price, price_adjustment, requirements, weight } = &overlay.spec;
    let mut reader = Reader::default();
    let capacity = reader.resources("spec.capacity", capacity.as_ref());
    let requirements = reader.requirements("spec.requirements", requirements);
    let weight = reader.count("spec.weight", i64::from(weight.unwrap_or_default()));
    let price = match (price, price_adjustment) {
        (None, None) => Some(None),
        (Some(text), None) => reader
            .parse::<Price>("spec.price", text)
            .map(|price| Some(PriceAdjustment::Absolute(price))),
        (None, Some(text)) => reader.parse("spec.priceAdjustment", text).map(Some),
        (Some(_), Some(_)) => {
            reader.refuse("spec", "price and priceAdjustment exclude each other; keep one");
            None
        }
    };
    let read = || {
        Some(model::NodeOverlay {
            name: overlay.metadata.name.clone().unwrap_or_default(),
            weight: weight?,
            requirements: requirements?,
            price: price?,
            capacity: capacity?,
        })
    };
    let value = read();
    reader.finish(value)
}

/// Writes an overlay.
#[must_use]
pub fn node_overlay_from_model(overlay: &model::NodeOverlay) -> NodeOverlay {
    let model::NodeOverlay { name, weight, requirements, price, capacity } = overlay;
    let (price, price_adjustment) = match price {
        None => (None, None),
        Some(PriceAdjustment::Absolute(price)) => (Some(price.to_string()), None),
        Some(change) => (None, Some(change.to_string())),
    };
    NodeOverlay::new(
        name,
        NodeOverlaySpec {
            capacity: node_spec::resources(capacity),
            price,
            price_adjustment,
            requirements: node_spec::requirements(requirements),
            weight: (*weight > 0).then(|| i32::try_from(*weight).unwrap_or(i32::MAX)),
        },
    )
}
