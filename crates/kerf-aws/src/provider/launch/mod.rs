//! Launching instances for claims.

pub(crate) mod free_addresses;
