//! Provisioners and AWSNodeTemplates, served as the pools and node classes they stand for.
//!
//! ```text
//!  Provisioner, AWSNodeTemplate ─ watch ─► LegacyObjects ─► Seen(Pool), Seen(NodeClass)
//!             ▲                                  ▲
//!             └──── status ──── executor ────────┘ what the engine wrote about them
//! ```
//!
//! The engine knows pools and node classes, and nothing of this. A pool that stands for a
//! Provisioner has the Provisioner's name and uid, so claims belong to the Provisioner. What the
//! engine writes on such a pool or class (hashes, finalizers, conditions) is kept here and not in
//! the legacy object: of that only the status is written, in the words of its time. All of it can be
//! lost in a crash: it is found again.
//!
//! A NodePool or EC2NodeClass of the same name is the one that counts.

mod objects;
mod served;
mod status;
mod translation;

pub(crate) use objects::LegacyObjects;
pub use served::LegacyUpdate;
pub(crate) use served::watch_served;
pub(crate) use status::{write_class_status, write_pool_status};
