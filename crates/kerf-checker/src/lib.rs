//! A second opinion on placements.
//!
//! **Knows**: what a legal answer to a placement problem is, as rules on the final state, and how
//! to make up problems that are small and nasty.
//!
//! **Must never know**: how answers are found. The solver is fast and clever; this crate is slow
//! and simple, works with words and plain loops, and shares nothing with the solver but the model's
//! types. A mistake must be made twice, in two different ways, to go unseen.
//!
//! ```text
//!  random_problem(seed, size) ──► Problem ──► solver ──► Solution
//!                                    │                      │
//!                                    └───────► check ◄──────┘ ──► Vec<Violation>
//! ```
//!
//! The rules, one module each: [`Rule`] lists them. Preferences (preferred affinities, spreads that
//! need not hold, `PreferNoSchedule` taints) never break one.

mod affinity;
mod anti_affinity;
mod bookkeeping;
mod domain;
mod existing_nodes;
mod facts;
mod host_ports;
mod new_nodes;
mod offerings;
mod options;
mod pool_limits;
mod pool_weights;
mod random;
mod selecting;
mod serving;
mod spread;
mod spread_domains;
mod violation;

pub use random::{Size, random_problem};
pub use violation::{Rule, Violation};

use kerf_scheduler::{PlacementProblem, Solution};

/// Every rule the answer breaks; empty if it is legal.
///
/// An answer that names things the problem does not have is judged by its bookkeeping alone.
#[must_use]
pub fn check(problem: &PlacementProblem, solution: &Solution) -> Vec<Violation> {
    let unknown = bookkeeping::unknown_names(problem, solution);
    if !unknown.is_empty() {
        return unknown;
    }
    let facts = facts::Facts::read(problem, solution);
    let rules = [
        bookkeeping::check,
        existing_nodes::check,
        new_nodes::check,
        options::check,
        offerings::check_reservations,
        pool_limits::check,
        pool_weights::check,
        spread::check,
        affinity::check,
        anti_affinity::check,
    ];
    let mut found = Vec::new();
    for violation in rules.into_iter().flat_map(|rule| rule(&facts)) {
        if !found.contains(&violation) {
            found.push(violation);
        }
    }
    found
}
