//! Zones being avoided, and what that changes in pools.

mod ageing;
mod event;
mod event_parse;
mod instant;
mod listing;
mod machine;
mod scope;
mod state;
mod zone;

pub use ageing::Ageing;
pub use event::{EventKind, Origin, SOURCE, ShiftEvent, Transition};
pub use event_parse::{BODY_BYTES_MAX, Unusable};
pub use instant::UnixSeconds;
pub use listing::{ArcReplies, ListedShift, Listing, TOMBSTONE_SECONDS};
pub use machine::{Disposal, Received, Verdict};
pub use scope::{Admission, Matching, Scope};
pub use state::{CONFIG_MAP, CONFIG_MAP_KEY, Ended, EndedBy, Shift, ShiftState, StateUnreadable};
pub use zone::{ZoneId, ZoneName, ZoneRef, ZoneTable};
