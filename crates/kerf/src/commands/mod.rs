//! One module per command.

pub(crate) mod adopt;
pub(crate) mod bench_solve;
pub(crate) mod controller;
pub(crate) mod convert;
pub(crate) mod crds;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod exit;
pub(crate) mod install;
mod journal;
pub(crate) mod lint;
pub(crate) mod listing;
mod log;
pub(crate) mod man;
pub(crate) mod money;
pub(crate) mod plan;
pub(crate) mod policies;
pub(crate) mod replay;
pub(crate) mod router;
pub(crate) mod simulate;
pub(crate) mod terminal;
pub(crate) mod termination_handler;
pub(crate) mod uninstall;
pub(crate) mod version;
pub(crate) mod zonal_autoshift;
pub(crate) mod zonal_shift;
