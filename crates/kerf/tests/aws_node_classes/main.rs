//! EC2NodeClasses against the stand-in for AWS: what is found, made, tried and removed for them,
//! and what each says that cannot be used.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod bad_classes;
mod discovery;
mod profiles;
mod trying;
