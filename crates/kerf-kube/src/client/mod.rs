//! The running half: what feeds the engine and carries out what it decides.
//!
//! ```text
//!  watch ─► observe ─► ┌────────────┐ ─► hands ─► execute ─► API server, cloud
//!  offers, notices ──► │ controller │ ─► announce ─► Events
//!  serve ◄─ metrics ◄─ └────────────┘
//!              lease: who may decide
//! ```

mod announce;
mod cloud;
mod connection;
mod controller;
mod execute;
mod hands;
mod health;
mod lease;
mod metrics;
mod notices;
mod observe;
mod offers;
mod serve;
mod shifts;
mod told_event;
mod watch;
mod words;

pub use cloud::{Cloud, Ending};
pub use connection::connect;
pub use controller::{Controller, Farewell};
pub use execute::{Executor, Pace};
pub use health::Health;
pub use lease::{Candidate, LEASE_DURATION, Lost, RENEW_WITHIN, RETRY_AFTER};
pub use metrics::{Metrics, Scrape, Shows};
pub use notices::{NoticeDelivery, no_notices};
pub use observe::{Change, News, Observer};
pub use serve::{MorePages, serve_health, serve_metrics};
pub use told_event::{CLUSTER_NAMESPACE, Told};
