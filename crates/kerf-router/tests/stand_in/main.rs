//! The router against a stand-in for AWS: real calls, real queues, injected faults.
//!
//! The acceptance checks of the router, and the tests that cover each: here in `acceptance`, and
//! again on the pure core in `crates/kerf-notices/tests/routing.rs`, by the same numbers.
//!
//! | Check | Test |
//! |---|---|
//! | 1 one message, in the right queue, byte for byte | `check_1_…` |
//! | 2 ten notices: one lookup, one send | `check_2_…` |
//! | 3 Health event split between clusters | `check_3_…` |
//! | 4 every form of tag; `owned` before `shared` | `check_4_…` |
//! | 5 `running` dropped; a forgotten instance routed from memory | `check_5_…` |
//! | 6 an unknown id among fifty | `check_6_…` |
//! | 7 missing queue, failing queue, redelivery of the failed alone | `check_7_…`; `batchItemFailures`: `fronts::the_function_…` |
//! | 8 batches split by bytes | `check_8_…` |
//! | 9 EC2 throttled | `check_9_…` (for three seconds: the core's, whose clock is an argument) |
//! | 10 duplicates | `check_10_…` |
//! | 11 zonal shifts to all known queues | `check_11_…` |
//! | 12 two thousand events a second on a core | the core's `check_12_…`; `cargo xtask bench router` measures the whole |
//! | 13 from the central queue to the end of the claim, in one cluster alone | `check_13_…` up to the cluster's queue; the whole way `crates/kerf/tests/aws_controller/interruption.rs`, by the same number |

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod acceptance;
mod elsewhere;
mod fronts;
mod http;
mod place;
mod templates;
