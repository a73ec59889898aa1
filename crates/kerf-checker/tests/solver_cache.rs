//! A cache never changes an answer: what was read before serves only where it would be read alike.

use std::sync::Arc;

use kerf_checker::{Size, random_problem};
use kerf_model::labels::well_known;
use kerf_scheduler::{
    CancelFlag, Effort, PlacementProblem, PreparedCluster, Solution, SolverCache, solve,
};

mod seeds;

/// Problems solved one after the other with one cache.
const PROBLEMS: usize = 8;
/// The ways a cluster changes.
const STEPS: usize = 11;

fn cached(cache: &mut SolverCache, problem: &PlacementProblem) -> Solution {
    let nobody = CancelFlag::default();
    cache.solve_within(problem, Effort::UNLIMITED, &nobody).expect("nobody cancels it")
}

/// The cluster of a problem a moment later: some nodes went, came, were changed, or changed places; a
/// pool was told of again, as it was or otherwise.
fn later(problem: &PlacementProblem, other: &PlacementProblem, step: usize) -> PlacementProblem {
    let mut later = problem.clone();
    let count = later.nodes.len();
    match step % STEPS {
        0 => drop(later.nodes.pop()),
        1 => later.nodes.extend(other.nodes.first().cloned()),
        2 if count > 0 => drop(Arc::make_mut(&mut later.nodes[step % count]).pods.pop()),
        3 if count > 0 => drop(later.nodes.remove(0)),
        4 => later.nodes.reverse(),
        5 if count > 0 => {
            let node = Arc::make_mut(&mut later.nodes[step % count]);
            node.labels.insert("rack".to_owned(), format!("r{step}"));
            node.labels.remove(well_known::ZONE);
        }
        // The same node, read anew: its place in the order of names does not change.
        6 if count > 0 => later.nodes[0] = Arc::new(later.nodes[0].as_ref().clone()),
        7 if count > 0 => {
            let mut gone = later.nodes.remove(0);
            Arc::make_mut(&mut gone).labels.insert("first".to_owned(), format!("f{step}"));
            later.nodes.push(gone);
        }
        8 => later.pools[0].pool = Arc::new(later.pools[0].pool.as_ref().clone()),
        9 => Arc::make_mut(&mut later.pools[0].pool).weight += 1,
        _ => later.pods.reverse(),
    }
    later
}

#[test]
fn every_problem_has_the_answer_it_has_alone() {
    seeds::for_every_seed(|seed| {
        let mut problem = random_problem(seed, &Size::MEDIUM);
        let other = random_problem(seed + 1, &Size::MEDIUM);
        let mut cache = SolverCache::default();
        for step in 0..PROBLEMS {
            if cached(&mut cache, &problem) != solve(&problem) {
                return Some(format!("another answer at step {step}"));
            }
            let offset = usize::try_from(seed).expect("a small number") % STEPS;
            problem = later(&problem, &other, step + offset);
        }
        None
    });
}

#[test]
fn what_ifs_and_solves_share_what_was_read() {
    seeds::for_every_seed(|seed| {
        let problem = random_problem(seed, &Size::SMALL);
        let gone = [usize::try_from(seed % 3).expect("a small number")];
        let mut cache = SolverCache::default();
        let solved = cached(&mut cache, &problem);
        let shared = PreparedCluster::read_with(&problem, &mut cache).without(&gone);
        if shared != PreparedCluster::read(&problem).without(&gone) {
            return Some("another what-if after a solve".to_owned());
        }
        (cached(&mut cache, &problem) != solved).then(|| "another solve after it".to_owned())
    });
}

#[test]
fn another_cluster_has_its_own_answer() {
    let mut cache = SolverCache::default();
    for seed in 0..40 {
        let problem = random_problem(seed, &Size::SMALL);
        assert_eq!(cached(&mut cache, &problem), solve(&problem), "seed {seed}");
    }
}
