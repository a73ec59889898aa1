//! One what-if about a cluster, from the first preference to the answer in words.
//!
//! Start with [`solver`]; [`rounds`] places, [`why_not`] explains, [`bound`] says how good it can
//! get.

pub(crate) mod affinity_repair;
pub(crate) mod answer;
pub(crate) mod assign;
pub(crate) mod bound;
pub(crate) mod fill_up;
pub(crate) mod nodes;
pub(crate) mod pod_rows;
pub(crate) mod rounds;
pub(crate) mod solver;
pub(crate) mod why_not;
