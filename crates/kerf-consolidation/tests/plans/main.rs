//! Plans for whole clusters: small ones by hand, and many made up by chance.

mod brute_force;
mod carrying_out;
mod causes;
mod cluster;
mod large_clusters;
mod random_clusters;
mod removals;
mod replacements;
mod stopping;
