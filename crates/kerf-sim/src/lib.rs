//! A whole cluster and cloud in one process, under virtual time.
//!
//! **Knows**: an API server with watches, a scheduler, kubelets, controllers, a cloud with stock
//! and prices, what can go wrong with each of them, and what must hold all the same.
//!
//! **Must never know**: a Kubernetes client, AWS, the time of day. Everything follows from the
//! [`Scenario`] and a seed; two runs of the same are the same to the last byte.
//!
//! Start with [`Scenario::parse`] and [`Simulation::new`]; [`Simulation::run`] plays it, and
//! [`Report::of`] says what came of it. The engine under test is the real one.

mod binder;
mod cloud;
mod controllers;
mod greedy;
mod hours;
mod invariants;
mod kubelet;
mod matching;
mod replica;
mod report;
mod rng;
mod scenario;
mod sim_event;
mod simulation;
mod store;
mod trace;
mod view;

pub use binder::Waits;
pub use cloud::{Cloud, CloudInstance};
pub use hours::Hour;
pub use invariants::{Checker, Rule, Violation};
pub use replica::Busy;
pub use report::Report;
pub use rng::Delay;
pub use scenario::{
    CallFaults, Catalogue, CloudPlan, Count, Expectation, Fault, FaultPlan, PdbRule, Scenario,
    ScenarioError, Share, Step, Stock, Victim, Workload, WorkloadKind,
};
pub use simulation::Simulation;
pub use store::Store;
pub use trace::{Record, RecordKind, Trace};
pub use view::{NodeView, Phase, View, WorkloadView};
