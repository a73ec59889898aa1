//! `kerf termination-handler` as a program: a real API server with simulated nodes, stand-ins for SQS,
//! EC2, Auto Scaling and the instance metadata service, and the rights of
//! `deploy/rbac-termination-handler.yaml` alone.
//!
//! What people complain of in NTH, and where it is proved that it is not so here:
//!
//! | Complaint | Test |
//! |---|---|
//! | a second event of a node is never completed | `guide::…`, `kerf-engine/tests/drain.rs` |
//! | an old values file has no effect (`checkASGTagBeforeDraining`) | `guide::…` |
//! | several replicas drain each | `interrupted_work::of_several_replicas…` |
//! | a drain over its time, a process that ends: the hook is left | `interrupted_work::a_drain_over…` |
//! | a launch hook is completed for a node that is not ready | `lifecycle_hooks::…`, `kerf-engine/tests/drain.rs` |
//! | an instance without a node keeps its group waiting | `lifecycle_hooks::…` |
//! | host names that are not the node's name | `lifecycle_hooks::…`, `kerf-engine/tests/drain.rs` |
//! | two hundred interruptions wait behind ten workers | `mass_interruption::…` |
//! | a list of nodes and a lookup for each event | `mass_interruption::…` |
//! | an empty state matches, unreadable messages circle | `standing_aside::…` |
//! | a foreign instance's message is taken from others | `standing_aside::…` |
//! | a dry run deletes messages | `standing_aside::…` |
//! | the state of an Auto Scaling group is a new event each time it is asked for | `metadata::…` |
//! | labels of others are removed, the handler's own are left | `metadata::…`, `kerf-engine/tests/drain.rs` |
//! | repeated errors end the process | `metadata::the_metadata_service…` |
//! | a webhook for each event of a node, a body that is no JSON | `webhooks::…` |
//! | webhooks only after the drain, `tcp://` proxies that do nothing | `webhooks::…` |
//! | metrics that grow with every node and event | `guide::…` |
//! | load balancers send on while pods are evicted | `kerf-engine/tests/drain.rs` |
//! | Health events about several instances | `kerf-termination-handler/tests/messages.rs` |
//! | regions found in the queue's name | `commands/termination_handler/region.rs` |
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod chart;
mod cluster;
mod guide;
mod handing_over;
mod interrupted_work;
#[path = "../journal/mod.rs"]
mod journal;
mod lifecycle_hooks;
mod mass_interruption;
mod metadata;
mod process;
mod standing_aside;
mod webhooks;
