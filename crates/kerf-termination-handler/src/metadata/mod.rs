//! The mode that asks the metadata service of the instance it runs on: no queue, no account, one
//! node.
//!
//! ```text
//!  metadata service ◄─ every 2 s ─ monitor ─► event ─► kerf_kube::Controller: this node is drained
//!                                     └── called off, or rebooted ─► this node is opened again
//! ```

mod announcements;
mod client;
mod mode;
mod node_metadata;

pub use client::{MetadataClient, MetadataError};
pub(crate) use mode::MetadataMode;
pub use node_metadata::NodeMetadata;
