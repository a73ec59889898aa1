//! The Kubernetes API objects Kerf serves: types, schemas, admission rules, hash, conversions.

pub mod capacity_buffer;
pub mod convert;
mod crds;
pub mod ec2_node_class;
mod hash;
pub mod kwok_node_class;
pub mod legacy;
pub mod node_claim;
mod node_class_ref;
pub mod node_overlay;
pub mod node_pool;
mod problem;
mod schema;
pub mod validation;

pub use crds::{crds, file_name};
pub use hash::{NODE_POOL_HASH_VERSION, node_pool_hash};
pub use node_class_ref::NodeClassRef;
pub use problem::Problem;
pub use schema::condition::Condition;
pub use schema::quantity::{Quantity, ResourceList};
pub use schema::requirement::{OPERATORS, Requirement};
