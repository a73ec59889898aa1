//! The solver against the checker, over problems made up by chance.
//!
//! `KERF_CHECK_PROBLEMS` says how many seeds to try (300 unless set), `KERF_CHECK_SEED` where to
//! start. A failure names its seed and size.

use std::sync::Arc;

use kerf_checker::{Size, check, random_problem};
use kerf_model::labels::well_known;
use kerf_model::node::Node;
use kerf_model::quantity::Quantity;
use kerf_scheduler::{PlacementProblem, Solution, solve};

mod seeds;

/// Tries every seed with one of the sizes; `violation` says what is wrong with its problem.
fn for_every_problem(violation: impl Fn(&PlacementProblem) -> Option<String>) {
    let reserving = Size { reservations: true, ..Size::SMALL };
    let sizes = [
        ("small", Size::SMALL),
        ("medium", Size::MEDIUM),
        ("reserving", reserving),
        ("ranked", Size::RANKED),
    ];
    seeds::for_every_seed(|seed| {
        let (name, size) = &sizes[(seed % sizes.len() as u64) as usize];
        let violation = violation(&random_problem(seed, size))?;
        Some(format!("({name}) {violation}"))
    });
}

fn placed(solution: &Solution) -> usize {
    let existing = solution.existing.iter().map(|each| each.pods.len());
    existing.chain(solution.new_nodes.iter().map(|each| each.pods.len())).sum()
}

#[test]
fn answers_break_no_rule() {
    for_every_problem(|problem| {
        let found = check(problem, &solve(problem));
        let sentences: Vec<_> = found.iter().map(|each| format!("\n    {each}")).collect();
        (!found.is_empty()).then(|| sentences.concat())
    });
}

#[test]
fn the_same_problem_has_the_same_answer() {
    for_every_problem(|problem| {
        let same = solve(problem) == solve(&problem.clone());
        (!same).then(|| "two answers".to_owned())
    });
}

#[test]
fn a_problem_read_back_from_json_is_the_same_problem() {
    for_every_problem(|problem| {
        let text = serde_json::to_string(problem).expect("a problem has a serialised form");
        let back: PlacementProblem = serde_json::from_str(&text).expect("and is read back");
        let again = serde_json::to_string(&back).expect("a problem has a serialised form");
        if text != again {
            return Some("written differently".to_owned());
        }
        let solution = solve(problem);
        let text = serde_json::to_string(&solution).expect("so has an answer");
        let read: Solution = serde_json::from_str(&text).expect("and is read back");
        (solve(&back) != solution || read != solution).then(|| "another answer".to_owned())
    });
}

/// The solver keeps nothing between problems, so however many of it run side by side, each answers
/// as one alone does.
#[test]
fn eight_threads_answer_as_one_does() {
    for_every_problem(|problem| {
        let alone = solve(problem);
        let answers = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| solve(problem))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        answers.iter().any(|answer| *answer != alone).then(|| "another answer".to_owned())
    });
}

#[test]
fn an_empty_node_more_never_leaves_more_pods_without_a_place() {
    for_every_problem(|problem| {
        let problem = without_scarcity(problem);
        let before = placed(&solve(&problem));
        let after = placed(&solve(&with_empty_node(&problem)));
        (after < before).then(|| format!("{before} pods placed without it, {after} with it"))
    });
}

/// The problem without required affinities and pool limits. A pod that others need near may be
/// drawn to the empty node, where they cannot follow; and which pods a limited fleet leaves out
/// depends on how it is cut. Neither is a mistake.
fn without_scarcity(problem: &PlacementProblem) -> PlacementProblem {
    let mut problem = problem.clone();
    for pod in &mut problem.pods {
        Arc::make_mut(&mut pod.shape).affinity.required.clear();
    }
    for pool in &mut problem.pools {
        Arc::make_mut(&mut pool.pool).limits = Default::default();
    }
    problem
}

/// The problem with a large stranger. It has no zone, so that no spread gets a new domain to fill.
fn with_empty_node(problem: &PlacementProblem) -> PlacementProblem {
    let name = "empty".to_owned();
    let amounts = [("cpu", 32), ("memory", 128 << 30), ("pods", 50)];
    let amounts = amounts.map(|(name, count)| (name, Quantity::from_int(count)));
    let node = Node {
        labels: [(well_known::HOSTNAME.to_owned(), name.clone())].into(),
        name,
        pool: None,
        taints: Vec::new(),
        initialized: true,
        capacity: amounts.into_iter().collect(),
        allocatable: amounts.into_iter().collect(),
        pods: Vec::new(),
        volume_limits: Default::default(),
    };
    let mut problem = problem.clone();
    problem.nodes.push(node.into());
    problem
}
