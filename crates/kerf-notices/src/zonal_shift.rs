//! Zones being avoided, and what that changes in pools.
//!
//! When AWS, a practice run, an experiment or a person shifts traffic away from a zone, nodes are kept
//! out of it, and everything is put back afterwards.
//!
//! ```text
//!  message ──► ShiftEvent ──► ShiftState ◄── Listing (what ARC lists), time, ManualShift
//!                                 │ stored before the message is deleted
//!                                 ▼
//!      pools, nodes, zones ──► Plan ──► steps: edits of pools, stand-ins, nodes
//!                                  └──► notes: Events and log lines
//!
//!  ARC's managed resource ──► OfferingMode ──► zones whose offerings are unavailable
//! ```
//!
//! [`ShiftState`] is the one thing to remember: who wants which zone avoided. [`Plan`] follows from
//! it and from what is there, never from events, so it can be made again after a crash at any
//! point. What a pool was like before is kept in its annotations, so that it comes back exactly,
//! merged with what its operator changed meanwhile.
//!
//! Nothing here knows a queue, a client, a clock or a file.

mod ageing;
mod auto_mode;
mod discovery;
mod edit_memory;
mod event;
mod instant;
mod keep_out;
mod listing;
mod manual_shift;
mod merge;
mod node;
mod note;
mod offering_mode;
mod outlook;
mod plan;
mod pool;
mod pool_edit;
mod pool_plan;
mod pool_record;
mod receive;
mod scope;
mod state;
mod status;
mod zone;
mod zone_requirement;

pub use ageing::Ageing;
pub use auto_mode::AutoModeRevert;
pub use discovery::{Subnet, node_class_zones, subnet_zones};
pub use edit_memory::EditMemory;
pub use event::{EventKind, Origin, SOURCE, ShiftEvent, Transition};
pub use instant::UnixSeconds;
pub use listing::{ArcReplies, ListedShift, Listing, TOMBSTONE_SECONDS};
pub use manual_shift::{ManualShift, ManualShiftOutcome, UnknownZone};
pub use node::{AWAY_ZONE_TAINT, NodeAction, NodeEdit, NodeView, PROTECTED};
pub use note::{Note, PoolEvent};
pub use offering_mode::{
    AppliedShift, NotAManagedResource, OfferingChange, OfferingMode, READ_EVERY_SECONDS,
};
pub use outlook::GRACE_SECONDS;
pub use plan::{Cluster, Options, Plan, Step};
pub use pool::{APPLIED_ZONES, AWAY_ZONES, COPY_OF, IGNORE, NodeClassKey, ORIGINAL_ZONES, PoolKey};
pub use pool_edit::{CopyEdit, PoolAction, PoolEdit};
pub use pool_plan::SkipReason;
pub use receive::{Disposal, Received, Verdict};
pub use scope::{Admission, Matching, Scope};
pub use state::{CONFIG_MAP, CONFIG_MAP_KEY, Ended, EndedBy, Shift, ShiftState, StateUnreadable};
pub use status::{PoolStatus, ShiftStatus, Status};
pub use zone::{ZoneId, ZoneName, ZoneRef, ZoneTable};
