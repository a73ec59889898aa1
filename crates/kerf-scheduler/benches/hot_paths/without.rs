//! Questions about a running cluster without one of its nodes.

use std::hint::black_box;

use kerf_scheduler::{PlacementProblem, PreparedCluster};

use crate::workload;

/// The nodes a what-if is asked about in turn, before it is measured: what it shares with others
/// is worked out by then, as in the middle of a long series of what-ifs.
const ASKED_BEFORE: usize = 40;

/// `reading-PODS` reads a cluster, `overlay-PODS` takes away its empty node, `without-PODS` one with
/// ten pods, and `packed-PODS` such a one where all are full: its pods need a new node.
pub(crate) fn work(name: &str) -> Option<Box<dyn FnMut()>> {
    let (what, pods) = name.rsplit_once('-')?;
    let family = match what {
        "reading" | "overlay" | "without" => "running",
        "packed" => what,
        _ => return None,
    };
    let problem = workload::problem(&format!("{family}-{pods}"))?;
    if what == "reading" {
        return Some(Box::new(move || drop(black_box(PreparedCluster::read(black_box(&problem))))));
    }
    // The cluster borrows the problem, and both are needed to the end of the program.
    let problem: &'static PlacementProblem = Box::leak(Box::new(problem));
    let cluster = PreparedCluster::read(problem);
    for node in 0..ASKED_BEFORE.min(problem.nodes.len()) {
        black_box(cluster.without(&[node]));
    }
    let node = if what == "overlay" { problem.nodes.len() - 1 } else { problem.nodes.len() / 2 };
    Some(Box::new(move || drop(black_box(cluster.without(black_box(&[node]))))))
}
