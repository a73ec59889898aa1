//! AWS as Kerf calls it: queues, instance descriptions, one table.
//!
//! Every call has a time-out and is made once. Whether and when to try again is decided by whoever
//! asked, where it can be seen and tested; a retry hidden in a client can be neither. Endpoints
//! follow `AWS_ENDPOINT_URL` and `AWS_ENDPOINT_URL_<SERVICE>`, which is how a stand-in plugs in.
//!
//! Start reading at [`Session`]. This crate must never know what a message means or why an instance
//! is asked for.

mod error;
mod instances;
mod queues;
mod session;
mod table;

pub use error::{CallError, Result};
pub use instances::{Instances, Tagged};
pub use queues::{Attributes, Depth, Message, Queues, Refusal};
pub use session::{Session, TimeOuts};
pub use table::ClusterTable;
