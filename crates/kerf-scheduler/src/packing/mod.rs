//! From pods to new nodes: which machines, how many, and who stands on which.
//!
//! Start with [`pack`], which makes one fleet; [`fleets`] makes several and keeps the best.

pub(crate) mod bin;
pub(crate) mod candidates;
pub(crate) mod covering;
pub(crate) mod filling;
pub(crate) mod fleets;
pub(crate) mod forced;
pub(crate) mod improve;
pub(crate) mod item;
pub(crate) mod merge;
pub(crate) mod pack;
pub(crate) mod pack_state;
pub(crate) mod rehearsal;
pub(crate) mod worth;
