//! Removing nodes whose pods fit on those that stay.

use kerf_consolidation::{Ineligible, Kept, Settings, Snapshot, plan};
use kerf_model::labels::well_known;
use kerf_model::node::Node;
use kerf_model::pool::ConsolidationPolicy;
use kerf_model::price::Price;
use kerf_model::resources::ResourceList;

use crate::carrying_out::{Carried, violations};
use crate::cluster::{
    ZONES, add, add_node, change_pool, cluster, on_demand_type, sell_out, set_types, shape,
    spread_shape,
};
use crate::random_clusters::{eager, for_every_cluster};

/// The nodes that go, in order.
fn removed(snapshot: &Snapshot) -> Vec<usize> {
    let plan = plan(snapshot, &Settings::default());
    assert_eq!(violations(snapshot, &plan), Vec::<String>::new());
    plan.moves.into_iter().flat_map(|each| each.removed).collect()
}

fn dollars(text: &str) -> Price {
    Price::parse(text).expect("a price")
}

fn kept(snapshot: &Snapshot, node: usize) -> Option<Kept> {
    plan(snapshot, &Settings::default()).kept[node].clone()
}

#[test]
fn a_node_goes_whose_pods_fit_on_another() {
    let mut snapshot = cluster();
    let busy = add(&mut snapshot, "c8", &[2, 2]);
    let idle = add(&mut snapshot, "c8", &[1]);
    assert_eq!(removed(&snapshot), [idle]);
    let plan = plan(&snapshot, &Settings::default());
    assert_eq!(plan.saving().to_string(), "0.4000");
    assert_eq!(plan.moves[0].destinations[0].node, busy);
    assert_eq!(plan.kept[busy], Some(Kept::Receives));
}

#[test]
fn all_nodes_of_a_shrunken_cluster_go_in_one_plan() {
    let mut snapshot = cluster();
    for _ in 0..40 {
        add(&mut snapshot, "c8", &[1, 1]);
    }
    assert_eq!(removed(&snapshot).len(), 30, "ten nodes hold eighty pods");
}

#[test]
fn the_emptier_of_two_nodes_goes() {
    let mut snapshot = cluster();
    let full = add(&mut snapshot, "c8", &[3, 3]);
    let empty = add(&mut snapshot, "c8", &[1, 1]);
    assert_eq!(removed(&snapshot), [empty]);
    assert_eq!(kept(&snapshot, full), Some(Kept::Receives));
}

#[test]
fn no_pod_goes_where_none_may() {
    let mut snapshot = cluster();
    let target = add(&mut snapshot, "c8", &[2]);
    let idle = add(&mut snapshot, "c8", &[1]);
    snapshot.nodes[target].may_receive = false;
    snapshot.nodes[target].may_go = Err(Ineligible::ConsolidateAfter { until: 60 });
    sell_out(&mut snapshot);
    assert_eq!(removed(&snapshot), [0; 0]);
    assert!(matches!(kept(&snapshot, idle), Some(Kept::NoPlace { .. })));
    let cause = Kept::Ineligible(Ineligible::ConsolidateAfter { until: 60 });
    assert_eq!(kept(&snapshot, target), Some(cause));
}

#[test]
fn a_spread_over_zones_keeps_the_node_it_needs() {
    let mut snapshot = cluster();
    let spread = || spread_shape("db", 1, well_known::ZONE);
    add_node(&mut snapshot, "c8", (ZONES[0], well_known::ON_DEMAND), [spread(), shape("web", 2)]);
    let other = (ZONES[1], well_known::ON_DEMAND);
    let alone = add_node(&mut snapshot, "c2", other, [spread()]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    assert_eq!(removed(&snapshot), [0; 0]);
    let (price, best) = (dollars("0.1"), dollars("0.1"));
    assert_eq!(kept(&snapshot, alone), Some(Kept::NotCheaper { price, best }));
}

/// Pods of five, four and one processors fit on two nodes with five free each, but not if the
/// smallest comes first: kube-scheduler gives each to the node least in use.
#[test]
fn a_removal_that_only_fits_when_placed_well_does_not_count() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c16", &[6, 5]);
    add(&mut snapshot, "c16", &[6, 5]);
    let idle = add(&mut snapshot, "c16", &[1, 4, 5]);
    for node in 0..2 {
        snapshot.nodes[node].may_go = Err(Ineligible::DoNotDisruptNode);
    }
    sell_out(&mut snapshot);
    assert_eq!(removed(&snapshot), [0; 0]);
    assert!(matches!(kept(&snapshot, idle), Some(Kept::NotInEveryOrder { .. })));
}

#[test]
fn pods_that_wait_keep_their_places_and_never_veto() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[4, 1]);
    let idle = add(&mut snapshot, "c8", &[2]);
    sell_out(&mut snapshot);
    assert_eq!(removed(&snapshot), [idle]);
    let waits = |cpu| {
        let mut other = cluster();
        add(&mut other, "c32", &[cpu]);
        other.problem.nodes[0].pods[0].pod.clone()
    };
    snapshot.problem.pods = vec![waits(3)];
    assert_eq!(removed(&snapshot), [0; 0], "the place is taken");
    let huge = waits(1000);
    snapshot.problem.pods = vec![huge];
    assert_eq!(removed(&snapshot), [idle], "a pod that fits nowhere stands in nobody's way");
}

#[test]
fn the_policy_when_empty_leaves_nodes_with_pods_alone() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[2, 2]);
    let idle = add(&mut snapshot, "c8", &[1]);
    let empty = add(&mut snapshot, "c8", &[]);
    change_pool(&mut snapshot, |pool| pool.disruption.policy = ConsolidationPolicy::WhenEmpty);
    assert_eq!(removed(&snapshot), [empty]);
    assert_eq!(kept(&snapshot, idle), Some(Kept::OnlyWhenEmpty));
}

/// Nine pods at 0.4 dollars an hour: 0.02 dollars of evictions pay back in 180 seconds.
#[test]
fn a_move_must_pay_back_in_time_and_twice_as_fast_after_one_that_was_undone() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c32", &[4]);
    let idle = add(&mut snapshot, "c8", &[0; 9]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    let within = |snapshot: &Snapshot, payback_max_seconds| {
        plan(snapshot, &Settings { payback_max_seconds, ..Settings::default() })
    };
    assert_eq!(within(&snapshot, 180).moves[0].payback_seconds, 180);
    let too_long = Kept::PaybackTooLong { payback_seconds: 180, most_seconds: 179 };
    assert_eq!(within(&snapshot, 179).kept[idle], Some(too_long));
    snapshot.nodes[idle].was_undone = true;
    let too_long = Kept::PaybackTooLong { payback_seconds: 180, most_seconds: 179 };
    assert_eq!(within(&snapshot, 359).kept[idle], Some(too_long));
    assert!(within(&snapshot, 360).moves[0].was_undone);
}

/// Half of a pool's price for a third of its disruption is worth it; a tenth for a half is not.
#[test]
fn balanced_pools_weigh_the_saving_against_the_disruption() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c32", &[4, 4]);
    let idle = add(&mut snapshot, "c2", &[0, 0, 0, 0]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    assert_eq!(removed(&snapshot), [idle]);
    change_pool(&mut snapshot, |pool| pool.disruption.policy = ConsolidationPolicy::Balanced);
    // (0.1 / 1.7) / (5 / 8) is 0.094.
    assert_eq!(kept(&snapshot, idle), Some(Kept::NotWorthIt { score_millis: 94 }));
    snapshot.nodes[idle].reschedule_cost = kerf_consolidation::EvictionCost::ONE;
    snapshot.nodes[idle].disruption_cost = kerf_consolidation::EvictionCost::ONE;
    // (0.1 / 1.7) / (1 / 4) is 0.235.
    assert_eq!(kept(&snapshot, idle), Some(Kept::NotWorthIt { score_millis: 235 }));
}

#[test]
fn an_empty_node_goes_whatever_the_score() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c32", &[4, 4]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    let empty = add(&mut snapshot, "c2", &[]);
    change_pool(&mut snapshot, |pool| pool.disruption.policy = ConsolidationPolicy::Balanced);
    assert_eq!(removed(&snapshot), [empty]);
}

/// A node that may go, costs the same and has no more on it than one that went is tried before it:
/// it stays only if its pods fit nowhere, or if it takes pods itself.
#[test]
fn a_fuller_node_never_goes_where_an_emptier_one_would_do() {
    for_every_cluster(|snapshot| {
        let plan = plan(snapshot, &eager());
        let mut carried = Carried::new(snapshot);
        let mut wrong = Vec::new();
        for each in plan.moves.iter().take_while(|each| each.launches.is_empty()) {
            let [fuller] = each.removed[..] else { break };
            for emptier in (0..snapshot.nodes.len()).filter(|node| *node != fuller) {
                let stays = plan.kept[emptier].as_ref().is_some_and(|kept| *kept != Kept::Receives);
                if stays && is_emptier(snapshot, emptier, fuller) && carried.could_go(emptier) {
                    wrong.push(format!("{fuller} goes and {emptier} stays"));
                }
            }
            carried.carry_out(each);
        }
        wrong
    });
}

/// Whether a node could go as well as another, at the same price, with less to move.
fn is_emptier(snapshot: &Snapshot, emptier: usize, fuller: usize) -> bool {
    let (one, other) = (&snapshot.problem.nodes[emptier], &snapshot.problem.nodes[fuller]);
    let (facts, others) = (&snapshot.nodes[emptier], &snapshot.nodes[fuller]);
    let same = [well_known::NODE_POOL, well_known::INSTANCE_TYPE, well_known::ZONE]
        .into_iter()
        .chain([well_known::CAPACITY_TYPE])
        .all(|key| one.labels.get(key) == other.labels.get(key));
    let asked = |node: &Node| {
        let mut sum = ResourceList::new();
        node.pods.iter().for_each(|bound| sum.add(&bound.pod.shape.requests));
        sum
    };
    facts.may_go.is_ok()
        && same
        && facts.reschedule_cost < others.reschedule_cost
        && asked(one).fits(&asked(other))
}

#[test]
fn a_node_that_is_sold_without_a_price_saves_nothing() {
    let mut snapshot = cluster();
    let mut types = vec![on_demand_type(8), on_demand_type(32)];
    for offering in std::sync::Arc::make_mut(&mut types[1].offerings) {
        offering.price = Price::UNKNOWN;
    }
    set_types(&mut snapshot, types);
    add(&mut snapshot, "c8", &[1]);
    let unpriced = add(&mut snapshot, "c32", &[2]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    let plan = plan(&snapshot, &Settings::default());
    assert_eq!(plan.moves, []);
    assert_eq!(plan.price_before, dollars("0.4"));
    assert!(plan.kept[unpriced].is_some());
}

#[test]
fn empty_nodes_go_before_all_others() {
    for_every_cluster(|snapshot| {
        let plan = plan(snapshot, &eager());
        let is_empty = |node: &usize| {
            let mut pods = snapshot.problem.nodes[*node].pods.iter();
            pods.all(|bound| bound.is_daemon || bound.is_leaving)
        };
        let mut free = plan.moves.iter().map(|each| each.removed.iter().all(is_empty));
        let rest_is_busy = free.by_ref().skip_while(|is_free| *is_free).all(|is_free| !is_free);
        (!rest_is_busy)
            .then(|| "an empty node waits for a busy one".to_owned())
            .into_iter()
            .collect()
    });
}
