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
fn a_cancelled_solve_has_no_answer() {
    let cancel = CancelFlag::default();
    cancel.cancel();
    let problem = random_problem(1, &Size::SMALL);
    assert_eq!(solve_within(&problem, Effort::UNLIMITED, &cancel), None);
}
