//! A real Kubernetes control plane, and who may talk to it.

pub(crate) mod access;
pub(crate) mod api_proxy;
pub(crate) mod client;
mod container;
pub(crate) mod control_plane;
pub(crate) mod flags;
pub(crate) mod helm;
pub(crate) mod options;
pub(crate) mod shared;
