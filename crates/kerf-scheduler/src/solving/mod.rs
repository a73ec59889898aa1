//! One question about a cluster, from the first wish to the answer in words.
//!
//! Start with [`solver`]; [`rounds`] places, [`why_not`] explains, [`bound`] says how good it can get.

pub(crate) mod answer;
pub(crate) mod assign;
pub(crate) mod bound;
pub(crate) mod near;
pub(crate) mod nodes;
pub(crate) mod rounds;
pub(crate) mod solver;
pub(crate) mod why_not;
