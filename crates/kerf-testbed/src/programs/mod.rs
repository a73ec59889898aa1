//! Building the programs of a testbed, and running them so that none outlives its owner.

pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod fingerprint;
pub(crate) mod go_module;
pub(crate) mod listening;
pub(crate) mod port;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod toolchain;
mod usage;
pub(crate) mod wait;
pub(crate) mod work_dir;
