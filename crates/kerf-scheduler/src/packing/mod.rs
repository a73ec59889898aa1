//! From pods to new nodes: which instance types, how many, and who stands on which.
//!
//! Start with [`pack`], which makes one fleet; [`fleets`] makes several and keeps the best.

pub(crate) mod bin;
pub(crate) mod candidates;
pub(crate) mod covering;
pub(crate) mod dual_prices;
pub(crate) mod filled_bin;
pub(crate) mod fleets;
pub(crate) mod forced;
pub(crate) mod greedy;
pub(crate) mod improve;
pub(crate) mod item;
pub(crate) mod merge;
pub(crate) mod min_values;
pub(crate) mod pack;
pub(crate) mod pack_state;
pub(crate) mod simulated_binding;
