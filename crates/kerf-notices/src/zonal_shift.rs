//! Zones being avoided, and what that changes in pools.

mod ageing;
mod auto_mode;
mod discovery;
mod edit_memory;
mod event;
mod event_parse;
mod instant;
mod keep_out;
mod listing;
mod machine;
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
mod scope;
mod state;
mod zone;
mod zone_requirement;

pub use ageing::Ageing;
pub use auto_mode::AutoModeRevert;
pub use discovery::{Subnet, node_class_zones, subnet_zones};
pub use edit_memory::EditMemory;
pub use event::{EventKind, Origin, SOURCE, ShiftEvent, Transition};
pub use event_parse::{BODY_BYTES_MAX, Unusable};
pub use instant::UnixSeconds;
pub use listing::{ArcReplies, ListedShift, Listing, TOMBSTONE_SECONDS};
pub use machine::{Disposal, Received, Verdict};
pub use node::{
    AWAY_ZONE_TAINT, NODE_BATCH, NODE_BATCHES_IN_PARALLEL, NodeAction, NodeEdit, NodeView,
    PROTECTED,
};
pub use note::{Note, PoolEvent};
pub use offering_mode::{NotAManagedResource, OfferingChange, OfferingMode, READ_EVERY_SECONDS};
pub use outlook::GRACE_SECONDS;
pub use plan::{Cluster, Options, Plan, Step};
pub use pool::{APPLIED_ZONES, AWAY_ZONES, COPY_OF, IGNORE, NodeClassKey, ORIGINAL_ZONES, PoolKey};
pub use pool_edit::{CopyEdit, PoolAction, PoolEdit};
pub use pool_plan::SkipReason;
pub use scope::{Admission, Matching, Scope};
pub use state::{CONFIG_MAP, CONFIG_MAP_KEY, Ended, EndedBy, Shift, ShiftState, StateUnreadable};
pub use zone::{ZoneId, ZoneName, ZoneRef, ZoneTable};
