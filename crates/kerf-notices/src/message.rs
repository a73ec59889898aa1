//! The bodies of queue messages, as typed events.
//!
//! [`recognise`] tells a Lambda batch from a bare event by its shape; [`read`] turns one body into
//! an [`Event`] worth routing, or says why it is not. Any bytes give an answer: nothing here
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

pub use event::{Event, Instances};
pub use event_id::EventId;
pub use input::{Input, Record, recognise};
pub use instance_id::InstanceId;
pub use kind::{Kind, State};
pub use reading::{BODY_BYTES_MAX, Drop, Reading, Unreadable, read, read_bytes};
pub use split::only_with;
pub use time::time_of;
