//! The Kubernetes API objects Kerf serves: types, schemas, admission rules, hash, conversions.

mod crds;
mod node_class_ref;
pub mod node_pool;
mod schema;

pub use crds::{crds, file_name};
pub use node_class_ref::NodeClassRef;
pub use schema::condition::Condition;
pub use schema::quantity::{Quantity, ResourceList};
pub use schema::requirement::{OPERATORS, Requirement};
