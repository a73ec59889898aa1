//! Between API objects and the model.
//!
//! Into the model an object is read field by field; whatever cannot be understood is reported with
//! its path and the object is set aside, so a bad object never stops the others. Out of the model
//! nothing can fail. There and back again gives the same meaning.

mod capacity_buffer;
mod node_claim;
mod node_overlay;
mod node_pool;
mod node_spec;
mod own_fields;

pub use capacity_buffer::{capacity_buffer_from_model, capacity_buffer_to_model};
pub use node_claim::{node_claim_from_model, node_claim_to_model};
pub use node_overlay::{node_overlay_from_model, node_overlay_to_model};
pub use node_pool::{node_pool_from_model, node_pool_to_model};

pub(crate) use node_pool::read_budgets;
