//! AWS as Kerf calls it: queues, descriptions of instances, networks and clusters, zonal shifts.
//!
//! Every call has a time-out and is made once. Whether and when to try again is decided by whoever
//! asked, where it can be seen and tested; a retry hidden in a client can be neither. Endpoints
//! follow `AWS_ENDPOINT_URL` and `AWS_ENDPOINT_URL_<SERVICE>`, which is how a stand-in plugs in.
//!
//! What node classes make of AWS's instance types is worked out in [`catalogue`], without a call.
//!
//! Start reading at [`Session`]. This crate must never know what a message means or why an instance
//! is asked for.

mod auto_scaling;
mod aws_action;
mod call_metrics;
pub mod catalogue;
mod clusters;
mod error;
pub mod iam;
mod inspection;
mod installation;
mod instances;
mod network;
pub mod node_class;
pub mod provider;
mod queues;
mod session;
mod sqs_queue;
mod table;
mod zonal_shifts;

pub use auto_scaling::{AutoScaling, LifecycleAction};
pub use aws_action::AwsAction;
pub use clusters::{ClusterDescription, Clusters};
pub use error::{CallError, Result};
pub use inspection::{AccessEntry, ClusterAccess, Inspection, QueueFacts, RoleFacts, RuleFacts};
pub use installation::{
    Association, Installation, InstalledSubnet, OidcProvider, StackFacts, StackResource,
    TaggedGroup,
};
pub use instances::{Described, Instances, Tagged};
pub use network::{Network, SubnetDescription, Zone};
pub use queues::{Attributes, Depth, Queues, Refusal};
pub use session::{Session, TimeOuts};
pub use sqs_queue::SqsQueue;
pub use table::ClusterTable;
pub use zonal_shifts::{ListedZonalShift, ManagedResource, ZonalShifts};
