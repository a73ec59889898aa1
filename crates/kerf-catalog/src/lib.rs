//! The instances a cloud sells.
//!
//! **Knows**: what AWS's instance types have, where they are sold and for how much; how much of a
//! instance pods can use once kubelet, operating system and eviction thresholds have had their
//! share; the types of the kwok provider and its file format.
//!
//! **Must never know**: Kubernetes or AWS client types, async, the time of day, files, the
//! environment. The built-in tables are text compiled into the program; other catalogues come in
//! as text that the caller has read.
//!
//! ```text
//!  data/shapes.csv ──┐
//!  data/limits.csv ──┼─► Shape ──┐
//!  data/bandwidth.csv┘           ├─ instance_type ─► kerf_model InstanceType
//!       NodeClassSettings ───────┤    capacity, overhead, labels, compatibility
//!  data/offerings.txt ─► zones ──┤
//!  data/prices.csv ─► PriceBook ─┘
//!
//!  kwok(), from_json(text) ────────────────────────► kerf_model InstanceType
//! ```
//!
//! Start with [`aws`](fn@aws), [`kwok`](fn@kwok) or [`from_json`]. A provider that has live data
//! builds [`shape::Shape`]s itself and asks an [`aws::Market`] with its own
//! [`price::PriceBook`]; [`reserved`] adds what was bought beforehand. All arithmetic is on integers; the same input gives the same list in the
//! same order.

pub mod ami_family;
pub mod aws;
pub mod capacity;
pub mod compatibility;
pub mod kwok;
pub mod kwok_file;
mod labels;
pub mod name;
mod offerings;
pub mod overhead;
pub mod price;
pub mod region;
pub mod reserved;
pub mod resource_name;
pub mod settings;
pub mod shape;
pub mod share;
pub mod table;
pub mod threshold;

pub use aws::aws;
pub use kwok::kwok;
pub use kwok_file::{from_json, to_json};
pub use price::price_source;
pub use region::regions;
