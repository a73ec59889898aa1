//! Questions about a cluster without some of its nodes, against the same cluster written down
//! without them.
//!
//! `KERF_CHECK_PROBLEMS` says how many seeds to try (300 unless set), `KERF_CHECK_SEED` where to
//! start. A failure names its seed.

use kerf_checker::{Size, check, random_problem};
use kerf_scheduler::{PlacementProblem, PreparedCluster, Solution, WhatIf, solve};

mod seeds;

/// Every node with an odd index, or the first, or all.
fn sets_of_nodes(problem: &PlacementProblem) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..problem.nodes.len()).collect();
    let odd = all.iter().copied().filter(|node| node % 2 == 1).collect();
    let first = all.iter().copied().take(1).collect();
    vec![odd, first, all]
}

/// The cluster without the nodes, their pods waiting after the others.
fn written_without(
    problem: &PlacementProblem,
    gone: &[usize],
    answer: &WhatIf,
) -> PlacementProblem {
    let mut written = problem.clone();
    let displaced = answer.displaced.iter().map(|displaced| displaced.of(problem).clone());
    written.pods.extend(displaced);
    let nodes = written.nodes.into_iter().enumerate();
    written.nodes = nodes.filter(|(node, _)| !gone.contains(node)).map(|(_, node)| node).collect();
    written
}

/// The answer in the words of the cluster without the nodes.
fn renumbered(answer: &WhatIf, gone: &[usize]) -> Solution {
    let mut solution = answer.solution.clone();
    for placement in &mut solution.existing {
        placement.node -= gone.iter().filter(|node| **node < placement.node).count();
    }
    solution
}

#[test]
fn a_cluster_without_some_nodes_is_answered_as_if_it_never_had_them() {
    let reserving = Size { reservations: true, ..Size::SMALL };
    seeds::for_every_seed(|seed| {
        let size = [Size::SMALL, Size::MEDIUM, reserving][(seed % 3) as usize];
        let problem = random_problem(seed, &size);
        let cluster = PreparedCluster::read(&problem);
        let mut violations = Vec::new();
        for gone in sets_of_nodes(&problem) {
            let answer = cluster.without(&gone);
            let written = written_without(&problem, &gone, &answer);
            let solution = renumbered(&answer, &gone);
            let found = check(&written, &solution);
            violations.extend(found.iter().map(|each| format!("\n    without {gone:?}: {each}")));
            let fresh = solve(&written);
            // Who is left out where headroom is scarce may depend on the order in which names were
            // met; where there is headroom for everybody, nothing does.
            if fresh.unplaced.is_empty()
                && (!solution.unplaced.is_empty() || fresh.price != solution.price)
            {
                let asked = (solution.unplaced.len(), solution.price);
                violations.push(format!(
                    "\n    without {gone:?}: {asked:?} left out and to pay, and not {:?}",
                    fresh.price
                ));
            }
        }
        (!violations.is_empty()).then(|| violations.concat())
    });
}

#[test]
fn what_ifs_do_not_change_each_other_whatever_their_order_and_thread() {
    seeds::for_every_seed(|seed| {
        let problem = random_problem(seed, &Size::SMALL);
        let sets = sets_of_nodes(&problem);
        let alone: Vec<WhatIf> =
            sets.iter().map(|gone| PreparedCluster::read(&problem).without(gone)).collect();
        let cluster = PreparedCluster::read(&problem);
        let together = std::thread::scope(|scope| {
            let threads = sets.iter().rev().map(|gone| scope.spawn(|| cluster.without(gone)));
            let threads: Vec<_> = threads.collect();
            let answers = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            answers.rev().collect::<Vec<WhatIf>>()
        });
        (alone != together).then(|| "another answer beside other questions".to_owned())
    });
}
