//! The bodies of queue messages, as typed events.
//!
//! [`recognise`] tells a Lambda batch from a bare event by its shape; [`read`] turns one body into
//! an [`Event`] worth routing, or says why it is not; [`read_zonal_shift`] reads the rest of an
//! announcement about a zone, which only that zone's cluster needs. Any bytes give an answer: nothing here
//! recurses with the input, so 256 KiB of brackets cost no stack.

mod bridged;
mod direct;
mod event;
mod event_id;
mod field;
mod input;
mod instance_id;
mod kind;
mod origin;
mod quick;
mod raw_list;
mod reading;
mod split;
mod time;
mod wire;
mod zonal_shift;

pub use event::{Event, Instances};
pub use event_id::EventId;
pub use input::{Input, Record, recognise};
pub use instance_id::InstanceId;
pub use kind::{Kind, State};
pub use reading::{BODY_BYTES_MAX, Drop, Reading, Unreadable, read, read_bytes};
pub use split::only_with;
pub use time::time_of;
pub use zonal_shift::{Unusable, read_zonal_shift};
