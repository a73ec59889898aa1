//! `kerf controller` as a program, broken on purpose: the API server throttles, forgets, falls
//! silent and goes away; the process is killed, stopped and cut off. A real control plane with
//! simulated nodes, a proxy between, and the rights of `deploy/rbac*.yaml` alone.
//!
//! | What is broken | Test | The large run |
//! |---|---|---|
//! | 429, 500, 503, conflicts, lost answers, a store that is slow | `storms` | |
//! | a watch that is silent, for one kind of object | `watches` | |
//! | history that the server has forgotten (410) | `watches` | `KERF_PODS=5000` |
//! | the API server is away | `away` | `KERF_AWAY_SECONDS=300` |
//! | the host's clock is ahead of the API server's | `clock` | |
//! | the process is killed between two writes | `kills` | `KERF_KILLS=200` |
//! | the leader is stopped, or cut off from its Lease | `lease` | |
//! | Karpenter hands a cluster over to Kerf, and Kerf hands it back | `handover` | |
//! | the process is asked to end while everything is under way | `lease` | |
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod away;
mod clock;
mod cluster;
mod controller;
mod handover;
mod kills;
mod lease;
mod ledger;
mod objects;
mod storms;
mod watches;
