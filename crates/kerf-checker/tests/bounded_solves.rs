//! Solves that end early: what was found so far counts, and breaks no rule.

use kerf_checker::{Size, check, random_problem};
use kerf_scheduler::{CancelFlag, Effort, solve, solve_within};

mod seeds;

#[test]
fn what_is_found_before_the_effort_is_spent_breaks_no_rule() {
    seeds::for_every_seed(|seed| {
        let problem = random_problem(seed, &Size::MEDIUM);
        let effort = Effort(u32::try_from(seed % 7).expect("a small number"));
        let solution = solve_within(&problem, effort, &CancelFlag::default())?;
        let found = check(&problem, &solution);
        let sentences: Vec<_> = found.iter().map(|each| format!("\n    {each}")).collect();
        (!found.is_empty()).then(|| sentences.concat())
    });
}

#[test]
fn a_bounded_solve_has_one_answer() {
    seeds::for_every_seed(|seed| {
        let problem = random_problem(seed, &Size::SMALL);
        let bounded = || solve_within(&problem, Effort(2), &CancelFlag::default());
        (bounded() != bounded()).then(|| "two answers".to_owned())
    });
}

#[test]
fn without_effort_everything_that_needs_a_new_node_is_deferred_and_not_refused() {
    let mut deferred = 0;
    for seed in 0..50 {
        let problem = random_problem(seed, &Size::SMALL);
        let nothing = CancelFlag::default();
        let solution = solve_within(&problem, Effort(0), &nothing).expect("nobody cancels it");
        assert!(solution.new_nodes.is_empty());
        deferred += solution.deferred.len();
    }
    assert!(deferred > 0, "no problem needs a new node");
}

#[test]
fn enough_effort_changes_nothing() {
    seeds::for_every_seed(|seed| {
        let problem = random_problem(seed, &Size::SMALL);
        let bounded = solve_within(&problem, Effort(1_000_000), &CancelFlag::default());
        (bounded != Some(solve(&problem))).then(|| "another answer".to_owned())
    });
}

#[test]
fn a_solve_whose_time_is_over_answers_with_what_it_has_and_defers_the_rest() {
    let stopped = CancelFlag::default();
    stopped.stop();
    for seed in 0..50 {
        let problem = random_problem(seed, &Size::MEDIUM);
        let solution = solve_within(&problem, Effort::UNLIMITED, &stopped).expect("it answers");
        assert_eq!(check(&problem, &solution), []);
        assert_eq!(solution.deferred.len() + solution.unplaced.len(), problem.pods.len());
        // Refused are only those that nobody can place, however long it takes.
        let hopeless = solve(&problem).unplaced;
        assert!(solution.unplaced.iter().all(|it| hopeless.contains(it)), "seed {seed}");
    }
}

/// Wherever the end finds it, a solve answers legally and about every pod.
#[test]
fn a_solve_that_is_stopped_anywhere_answers_for_every_pod() {
    let size = Size { pods: 3_000, replicas: 40, types: 60, ..Size::RANKED };
    for seed in 0..12 {
        let problem = random_problem(seed, &size);
        let flag = CancelFlag::default();
        let solution = std::thread::scope(|scope| {
            let solving = scope.spawn(|| solve_within(&problem, Effort::UNLIMITED, &flag));
            for _ in 0..seed * 40_000 {
                std::hint::spin_loop();
            }
            flag.stop();
            solving.join().expect("no panic").expect("a stopped solve answers")
        });
        let found = check(&problem, &solution);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

#[test]
fn a_cancelled_solve_has_no_answer() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let problem = random_problem(1, &Size::SMALL);
    assert_eq!(solve_within(&problem, Effort::UNLIMITED, &cancel), None);
}
