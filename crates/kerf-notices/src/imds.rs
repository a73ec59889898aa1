//! What the instance metadata service says about the instance it is asked on: announcements
//! ([`answer`]), which of them are under way ([`active`]), and whether a reboot is over
//! ([`reboot`]).
//!
//! Answers come from the host and are read like any other input: into typed values, or a reason why
//! not. A time that cannot be read is none; the announcement counts all the same.

pub mod active;
pub mod answer;
pub mod reboot;
