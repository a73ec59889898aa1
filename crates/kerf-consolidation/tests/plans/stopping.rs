//! Searches that are stopped, and plans that are carried out in waves.

use kerf_consolidation::{Kept, Search, Settings, Snapshot, first_wave, plan, waves};
use kerf_scheduler::PreparedCluster;

use crate::carrying_out::violations;
use crate::cluster::{add, cluster};
use crate::random_clusters::{eager, for_every_cluster};

/// Twelve nodes, half empty.
fn half_empty() -> Snapshot {
    let mut snapshot = cluster();
    for _ in 0..12 {
        add(&mut snapshot, "c8", &[2, 1, 1]);
    }
    snapshot
}

/// A search that takes so many steps.
fn stopped<'a>(
    snapshot: &'a Snapshot,
    cluster: &'a PreparedCluster<'a>,
    settings: &'a Settings,
    first: &[String],
    mut steps: usize,
) -> Search<'a> {
    let mut search = Search::new(snapshot, cluster, settings);
    search.visit_first(first);
    search.run(|| {
        let is_over = steps == 0;
        steps = steps.saturating_sub(1);
        is_over
    });
    search
}

#[test]
fn a_search_that_is_stopped_has_the_plan_so_far_and_says_whom_it_did_not_reach() {
    let (snapshot, settings) = (half_empty(), eager());
    let cluster = PreparedCluster::read(&snapshot.problem);
    let search = stopped(&snapshot, &cluster, &settings, &[], 3);
    let plan = search.plan();
    assert!(!plan.is_complete);
    assert_eq!(plan.moves.len(), 3);
    let unreached = plan.kept.iter().filter(|kept| **kept == Some(Kept::NotReached)).count();
    assert_eq!(search.unreached().len(), unreached);
    assert!(unreached > 0);
}

#[test]
fn the_next_search_begins_with_those_that_the_last_did_not_reach() {
    let (snapshot, settings) = (half_empty(), eager());
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut left = Vec::new();
    let mut reached: Vec<String> = Vec::new();
    for _ in 0..4 {
        let search = stopped(&snapshot, &cluster, &settings, &left, 3);
        left = search.unreached();
        let names = snapshot.problem.nodes.iter().map(|node| node.name.clone());
        reached.extend(names.filter(|name| !left.contains(name)));
    }
    reached.sort();
    reached.dedup();
    assert_eq!(reached.len(), snapshot.nodes.len(), "every node was reached by some search");
}

/// The small pods of one node and the large ones of the other each find their holes; all at once
/// they mix, and the small ones may take the holes of the large.
#[test]
fn a_wave_ends_where_pods_that_mix_would_be_left_over() {
    let mut snapshot = cluster();
    let staying = [add(&mut snapshot, "c8", &[4]), add(&mut snapshot, "c8", &[4])];
    for node in staying {
        snapshot.nodes[node].may_go = Err(kerf_consolidation::Ineligible::DoNotDisruptNode);
    }
    add(&mut snapshot, "c4", &[4]);
    add(&mut snapshot, "c4", &[1, 1]);
    let plan = plan(&snapshot, &eager());
    let removed: Vec<Vec<usize>> = plan.moves.iter().map(|each| each.removed.clone()).collect();
    assert_eq!(removed, [[2], [3]]);
    let cluster = PreparedCluster::read(&snapshot.problem);
    assert_eq!(first_wave(&snapshot, &cluster, &plan, 10), 1);
    assert_eq!(first_wave(&snapshot, &cluster, &plan, 0), 0);
}

#[test]
fn every_plan_has_a_first_wave() {
    for_every_cluster(|snapshot| {
        let plan = plan(snapshot, &eager());
        let cluster = PreparedCluster::read(&snapshot.problem);
        let wave = first_wave(snapshot, &cluster, &plan, usize::MAX);
        let is_right = if plan.moves.is_empty() { wave == 0 } else { wave >= 1 };
        let wrong = format!("a wave of {wave} of {} moves", plan.moves.len());
        (!is_right).then_some(wrong).into_iter().collect()
    });
}

/// Each of four nodes is far too large for its pod of this size, and no other node can take it.
fn too_large(cpus: i64) -> Snapshot {
    let mut snapshot = cluster();
    for _ in 0..4 {
        let node = add(&mut snapshot, "c32", &[cpus]);
        snapshot.nodes[node].may_receive = false;
    }
    snapshot
}

#[test]
fn nodes_are_replaced_at_the_same_time_where_their_pods_may_mix() {
    let (snapshot, settings) = (too_large(7), Settings { group_max: 1, ..eager() });
    let plan = plan(&snapshot, &settings);
    assert_eq!(plan.moves.len(), 4, "each by a node of its own");
    let cluster = PreparedCluster::read(&snapshot.problem);
    assert_eq!(first_wave(&snapshot, &cluster, &plan, 10), 4);
    assert_eq!(first_wave(&snapshot, &cluster, &plan, 3), 3);
}

#[test]
fn waves_keep_to_what_may_go_together_and_cover_the_whole_plan() {
    let snapshot = half_empty();
    let plan = plan(&snapshot, &eager());
    let cluster = PreparedCluster::read(&snapshot.problem);
    let one_by_one = waves(&snapshot, &cluster, &plan, |_, together| together.len() <= 1);
    assert_eq!(one_by_one.waves.len(), plan.moves.len());
    assert!(one_by_one.held.is_empty());
    let at_once = waves(&snapshot, &cluster, &plan, |_, _| true);
    assert!(at_once.waves.len() < one_by_one.waves.len());
    assert_eq!(at_once.waves.concat().len(), plan.moves.len());
    let none = waves(&snapshot, &cluster, &plan, |_, _| false);
    assert_eq!((none.waves.len(), none.held.len()), (0, plan.moves.len()));
}

#[test]
fn a_move_that_must_wait_holds_up_no_other() {
    let snapshot = half_empty();
    let plan = plan(&snapshot, &eager());
    let first = plan.moves[0].removed[0];
    let cluster = PreparedCluster::read(&snapshot.problem);
    let cut = waves(&snapshot, &cluster, &plan, |_, together| !together.contains(&first));
    assert_eq!(cut.held, [0]);
    assert_eq!(cut.waves.concat().len(), plan.moves.len() - 1);
}

#[test]
fn waves_take_every_move_of_every_plan_once() {
    for_every_cluster(|snapshot| {
        let plan = plan(snapshot, &eager());
        let cluster = PreparedCluster::read(&snapshot.problem);
        let cut = waves(snapshot, &cluster, &plan, |_, together| together.len() <= 3);
        let mut taken = cut.waves.concat();
        taken.extend(&cut.held);
        taken.sort_unstable();
        let is_whole = taken.iter().copied().eq(0..plan.moves.len());
        let too_many = |wave: &Vec<usize>| {
            wave.iter().map(|place| plan.moves[*place].removed.len()).sum::<usize>() > 3
        };
        let is_right = is_whole && !cut.waves.iter().any(too_many);
        let wrong = format!("{cut:?} of {} moves", plan.moves.len());
        (!is_right).then_some(wrong).into_iter().collect()
    });
}

/// The nodes of each move of a search that was told this before it began.
fn moves(
    snapshot: &Snapshot,
    settings: &Settings,
    tell: impl Fn(&mut Search<'_>),
) -> Vec<Vec<usize>> {
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut search = Search::new(snapshot, &cluster, settings);
    tell(&mut search);
    search.run(|| false);
    let plan = search.plan();
    assert!(plan.is_complete);
    assert_eq!(violations(snapshot, &plan), Vec::<String>::new());
    plan.moves.into_iter().map(|each| each.removed).collect()
}

#[test]
fn a_search_goes_on_with_what_is_left_of_an_earlier_plan() {
    let (snapshot, settings) = (half_empty(), eager());
    let name = |node: usize| snapshot.problem.nodes[node].name.clone();
    let by_itself = moves(&snapshot, &settings, |_| {});
    assert_eq!(by_itself[0], [0], "of nodes that are alike the first goes first");
    // Of the earlier plan one node is not there any more.
    let planned = [vec![name(11)], vec!["gone".to_owned()], vec![name(9)]];
    let gone_on = moves(&snapshot, &settings, |search| search.go_on(&planned, &[name(0)]));
    assert_eq!(gone_on[..2], [[11], [9]], "as it was planned");
    assert_eq!(gone_on.len(), by_itself.len(), "the rest of the cluster is looked at as well");
    assert!(!gone_on.concat().contains(&0), "pods came there for the plan; they move once");
}

#[test]
fn what_no_longer_holds_drops_out_of_an_earlier_plan() {
    let (mut snapshot, settings) = (half_empty(), eager());
    let planned: Vec<Vec<String>> =
        [11, 10].map(|node: usize| vec![snapshot.problem.nodes[node].name.clone()]).into();
    snapshot.nodes[11].may_go = Err(kerf_consolidation::Ineligible::DoNotDisruptNode);
    let gone_on = moves(&snapshot, &settings, |search| search.go_on(&planned, &[]));
    assert_eq!(gone_on[0], [10]);
    assert!(!gone_on.concat().contains(&11));
}

#[test]
fn nodes_that_budgets_never_let_go_together_are_no_group() {
    // Three pods of five processors fit on a node of sixteen, and one alone needs eight.
    let (snapshot, settings) = (too_large(5), eager());
    let most = |moves: Vec<Vec<usize>>| moves.iter().map(Vec::len).max();
    assert!(most(moves(&snapshot, &settings, |_| {})) > Some(2));
    for limit in [1, 2] {
        let limited = moves(&snapshot, &settings, |search| {
            search.limit_groups(|pool| (pool == "ash").then_some(limit));
        });
        assert_eq!(limited.concat().len(), 4, "each finds its replacement all the same");
        assert!(most(limited) <= Some(limit));
    }
}
