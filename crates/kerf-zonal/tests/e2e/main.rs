//! The daemon on a real API server, with the rights of `deploy/zonal-autoshift.yaml` alone, a queue
//! stand-in, and stand-ins for EKS and ARC.
//!
//! The acceptance checks of zonal shifts, and the tests here that cover each (those of the pure
//! core, which cover most of them again, are in `crates/kerf-notices/tests/zonal_shift`):
//!
//! | Check | Test |
//! |---|---|
//! | 1 three zones, byte for byte; 2 no key; 3 `NotIn`; 4 `minValues`; 5 single zone; 6 budgets | `pools::every_shape_of_pool_…` |
//! | 7 two zones, either order | `pools::two_zones_…` |
//! | 8 practice run cut short by an autoshift | `announcements::a_practice_run_…` |
//! | 9 end before start, twice, any order | `announcements::late_doubled_and_…` (every order: `every_interleaving.rs` of the core) |
//! | 10 kill between state and patch, between patch and delete | `kills::…` |
//! | 11 pool made and pool overwritten during the shift | `pools::a_pool_made_…`, `pools::a_pool_reset_…` |
//! | 12 operator adds a zone | `pools::a_zone_an_operator_adds_…` |
//! | 13 Auto Mode | `auto_mode::…` |
//! | 14 unknown zone id | `announcements::an_unknown_zone_…` |
//! | 15 manual shift known only to ARC | `corrections::a_manual_shift_…` |
//! | 16 do-not-disrupt leaves foreign cordons alone | `nodes::…` |
//!
//! Pools are the whole cluster's, so tests take turns. Time stands still unless a test moves it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod daemon;
mod objects;
mod place;

mod announcements;
mod auto_mode;
mod corrections;
mod kills;
mod manual_shift;
mod nodes;
mod offering;
mod permissions;
mod pools;
