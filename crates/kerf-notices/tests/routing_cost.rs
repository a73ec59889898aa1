//! The cost table of `docs/router.md`, recomputed.

use kerf_notices::routing::{Cost, EventLoad};

const PAGE: &str = include_str!("../../../docs/router.md");

#[test]
fn the_table_in_the_documentation_is_what_the_arithmetic_gives() {
    for clusters in [1, 5, 20, 50, 100] {
        let cells = [100_000, 1_000_000, 5_000_000].map(|events| {
            let cost = Cost::of(EventLoad { clusters, events });
            let ways = [cost.rules_per_cluster, cost.router_direct, cost.router_central];
            ways.map(|way| way.to_string()).join(" / ")
        });
        let row = format!("| {clusters} | {} |\n", cells.join(" | "));
        assert!(PAGE.contains(&row), "the page lacks {row}");
    }
}
