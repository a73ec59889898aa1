//! The running half: what feeds the engine and carries out what it decides.
//!
//! ```text
//!  watch ─► observe ─► ┌────────────┐ ─► execute ─► API server, cloud
//!  offers, notices ──► │ controller │ ─► announce ─► Events
//!          metrics ◄─ └────────────┘
//! ```

mod cluster_facts;
mod connection;
mod controller;
mod event_recorder;
mod event_spec;
mod execute;
mod executor_pool;
mod health;
mod instance_types;
mod journal;
mod legacy;
mod list_watch;
mod metrics;
mod notices;
mod observe;
mod provider;
mod runbook_log;
mod server_time;
mod shifts;
mod solver_pool;
mod watch;
mod words;
mod zonal;

pub use cluster_facts::{ClusterFacts, cluster_facts};
pub use connection::{connect, connect_leading};
pub use controller::Controller;
pub use event_spec::{CLUSTER_NAMESPACE, EventSpec};
pub use execute::{Executor, Pace, unavailable};
pub use health::Health;
pub use journal::{JournalFiles, JournalWriter, read_order as journal_files};
pub use legacy::LegacyUpdate;
pub use metrics::{Metrics, Scrape, Shows};
pub use notices::{NoticeDelivery, no_notices};
pub use observe::{Change, Guarded, Observer, ShiftUpdate, WatchUpdate};
pub use provider::{Ending, NoProvider, Provider};
pub use zonal::{
    Pending, ServedKinds, ShiftAccount, ZonalShifts, config_map as read_shift_state,
    write_state as write_shift_state,
};
