//! The Kubernetes API objects Kerf serves: types, schemas, admission rules, hash, conversions.
//!
//! **Knows**: every kind of `karpenter.sh`, its node classes, CapacityBuffer, and the two kinds of
//! old; what an API server admits ([`crds`]) and what the controller checks beyond that
//! ([`validation`]); how objects become the model's and come back ([`convert`]); how the old kinds
//! become the new ([`legacy`]).
//!
//! **Must never know**: a client, a cluster, a clock. Everything here is a function of an object.
//!
//! ```text
//!   types (node_pool, node_claim, …) ──derive──► crds ──► deploy/crds/, kerf lint
//!        │
//!        ├── validation ──► problems by field        legacy kinds ── convert ──► types
//!        └── convert ◄──► kerf_model
//! ```
//!
//! Start with [`node_pool`]: the other kinds are written the same way. What more than one kind uses
//! lies in `schema`.
#![allow(
    clippy::duplicated_attributes,
    reason = "every printcolumn of kube's derive names the same keys"
)]

pub mod capacity_buffer;
pub mod convert;
mod crds;
pub mod ec2_node_class;
mod field_error;
mod hash;
pub mod kwok_node_class;
pub mod legacy;
pub mod node_claim;
mod node_class_ref;
pub mod node_overlay;
pub mod node_pool;
pub mod reader;
mod schema;
pub mod validation;

pub use crds::{crds, crds_of, file_name, has_crd};
pub use field_error::FieldError;
pub use hash::{NODE_POOL_HASH_VERSION, node_pool_hash};
pub use node_class_ref::NodeClassRef;
pub use schema::condition::Condition;
pub use schema::quantity::{Quantity, ResourceList};
pub use schema::requirement::{OPERATORS, Requirement};
