//! The bodies of queue messages, as typed events.
//!
//! [`recognise`] tells a Lambda batch from a bare event by its shape; [`read`] turns one body into
//! an [`Event`] worth routing, or says why it is not. Any bytes give an answer: nothing here
//! recurses with the input, so 256 KiB of brackets cost no stack.

mod event;
mod field;
mod input;
mod instance_id;
mod kind;
mod split;
mod wire;

pub use event::{BODY_BYTES_MAX, Drop, Event, Reading, Unreadable, read, read_bytes};
pub use input::{Input, Record, recognise};
pub use instance_id::InstanceId;
pub use kind::{Kind, State};
pub use split::only_with;
