//! Replacing nodes by cheaper ones, and the rules that say what is cheaper.

use kerf_consolidation::{Ineligible, Kept, Move, Plan, Settings, Snapshot, plan};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::{self, ON_DEMAND, RESERVED, SPOT};
use kerf_model::price::Price;
use kerf_model::requirement::RequirementEntry;

use crate::carrying_out::violations;
use crate::cluster::{
    ZONES, add, add_node, change_pool, cluster, instance_type, is_in, offering, on_demand_type,
    sell_out, set_types, shape,
};

fn planned(snapshot: &Snapshot) -> Plan {
    let plan = plan(snapshot, &Settings::default());
    assert_eq!(violations(snapshot, &plan), Vec::<String>::new());
    plan
}

fn only_move(plan: &Plan) -> &Move {
    assert_eq!(plan.moves.len(), 1, "{:#?}", plan.kept);
    &plan.moves[0]
}

/// The instance types of a launch.
fn types(snapshot: &Snapshot, each: &Move, launch: usize) -> Vec<String> {
    let types = &snapshot.problem.pools[0].instance_types;
    let options = each.launches[launch].node.options.iter();
    options.map(|option| types[option.instance_type].name.clone()).collect()
}

fn capacity_types(each: &Move) -> Vec<String> {
    let entries = &each.launches[0].node.requirements;
    let entry = entries.iter().find(|entry| entry.key == well_known::CAPACITY_TYPE);
    entry.expect("a launch says how it is paid for").values.clone()
}

fn dollars(text: &str) -> Price {
    Price::parse(text).expect("a price")
}

#[test]
fn a_node_that_is_too_large_is_replaced_by_whatever_is_cheaper() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c16", &[3]);
    let plan = planned(&snapshot);
    let only = only_move(&plan);
    assert_eq!(types(&snapshot, only, 0), ["c4", "c8"], "0.2 and 0.4 dollars, for 0.8");
    assert_eq!(only.saving, dollars("0.6"));
    assert_eq!(only.saving_at_least, dollars("0.4"));
    assert_eq!(plan.price_after, dollars("0.2"));
    // Three processors at 0.05 dollars are needed; the bound is rounded to be safe.
    assert_eq!(plan.saving_bound, dollars("0.650001"));
}

#[test]
fn pods_use_free_capacity_before_anything_is_launched() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[7]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    add(&mut snapshot, "c32", &[8, 5, 1]);
    let plan = planned(&snapshot);
    let only = only_move(&plan);
    assert_eq!(only.removed, [1]);
    assert_eq!(only.destinations.len(), 1, "one small pod fits beside the other node's");
    assert_eq!(types(&snapshot, only, 0), ["c16"]);
}

/// Five processors fill no type, and three times five do: nobody fits on another's node, no node
/// alone has a cheaper replacement, but one of 16 processors holds all.
#[test]
fn three_nodes_are_replaced_by_one() {
    let mut snapshot = cluster();
    for _ in 0..3 {
        add(&mut snapshot, "c8", &[5]);
    }
    let plan = planned(&snapshot);
    let only = only_move(&plan);
    assert_eq!(only.removed, [0, 1, 2]);
    assert_eq!(types(&snapshot, only, 0), ["c16"]);
    assert_eq!(only.saving, dollars("0.4"));
}

#[test]
fn eight_nodes_are_replaced_by_two() {
    let mut snapshot = cluster();
    for _ in 0..8 {
        add(&mut snapshot, "c8", &[5]);
    }
    let plan = planned(&snapshot);
    let launched: usize = plan.moves.iter().map(|each| each.launches.len()).sum();
    assert_eq!(launched, 2, "a fleet of 32 and 16 processors");
    assert_eq!(plan.saving(), dollars("0.8"));
}

/// x is sold as spot for 0.10 and 0.12 dollars, on demand for 0.30; y on demand for 0.45 only.
fn two_types() -> Vec<InstanceType> {
    let (a, b) = (ZONES[0], ZONES[1]);
    let x = vec![
        offering(a, SPOT, 100_000),
        offering(b, SPOT, 120_000),
        offering(a, ON_DEMAND, 300_000),
    ];
    let m = vec![offering(a, ON_DEMAND, 400_000), offering(a, SPOT, 110_000)];
    let m = m.into_iter().map(|it| kerf_model::instance_type::Offering { available: false, ..it });
    vec![
        instance_type("x", 4, x),
        instance_type("y", 4, vec![offering(a, ON_DEMAND, 450_000)]),
        instance_type("m", 4, m.collect()),
    ]
}

fn one_node_of(types: Vec<InstanceType>, name: &str, capacity_type: &str) -> Snapshot {
    let mut snapshot = cluster();
    set_types(&mut snapshot, types);
    add_node(&mut snapshot, name, (ZONES[0], capacity_type), [shape("web", 3)]);
    snapshot
}

fn require(snapshot: &mut Snapshot, entry: RequirementEntry) {
    change_pool(snapshot, |pool| pool.template.spec.requirements.push(entry));
}

#[test]
fn a_replacement_that_may_be_spot_is_pinned_to_spot_at_its_worst_price() {
    let snapshot = one_node_of(two_types(), "m", ON_DEMAND);
    let plan = planned(&snapshot);
    let only = only_move(&plan);
    assert_eq!(types(&snapshot, only, 0), ["x"], "y costs more");
    assert_eq!(capacity_types(only), [SPOT]);
    assert_eq!(only.saving, dollars("0.3"));
    assert_eq!(only.saving_at_least, dollars("0.28"));
}

#[test]
fn a_replacement_on_demand_counts_at_its_price_on_demand() {
    let mut snapshot = one_node_of(two_types(), "m", ON_DEMAND);
    require(&mut snapshot, is_in(well_known::CAPACITY_TYPE, &[ON_DEMAND]));
    let plan = planned(&snapshot);
    assert_eq!(types(&snapshot, only_move(&plan), 0), ["x"]);
    assert_eq!(only_move(&plan).saving_at_least, dollars("0.1"));
}

#[test]
fn a_spot_node_is_replaced_by_spot_only_where_that_is_switched_on_and_types_are_many() {
    let snapshot = one_node_of(two_types(), "m", SPOT);
    assert_eq!(planned(&snapshot).kept[0], Some(Kept::SpotToSpotOff));
    let on = Settings { spot_to_spot: true, ..Settings::default() };
    let (price, best) = (dollars("0.11"), dollars("0.12"));
    assert_eq!(plan(&snapshot, &on).kept[0], Some(Kept::NotCheaper { price, best }));

    let many = |count: u64| {
        let price = |number: u64| 50_000 + 1_000 * number;
        let spot = |number: u64| vec![offering(ZONES[0], SPOT, price(number))];
        let mut types: Vec<InstanceType> = (0..count)
            .map(|number| instance_type(&format!("s{number}"), 4, spot(number)))
            .collect();
        let dear = vec![offering(ZONES[0], SPOT, 150_000)];
        types.push(instance_type("dear", 4, dear));
        one_node_of(types, "dear", SPOT)
    };
    let few = plan(&many(14), &on);
    assert_eq!(few.kept[0], Some(Kept::TooFewTypes { found: 14, needed: 15 }));
    let enough = many(20);
    let plan = plan(&enough, &on);
    assert_eq!(types(&enough, only_move(&plan), 0).len(), 15, "the cheapest fifteen");
    assert_eq!(only_move(&plan).saving, dollars("0.1"));
}

#[test]
fn min_values_must_hold_among_what_is_cheaper() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[1]);
    let names = ["c2", "c4", "c8", "c16", "c32"];
    let entry = |min_values| RequirementEntry {
        min_values: Some(min_values),
        ..is_in(well_known::INSTANCE_TYPE, &names)
    };
    let mut flexible = snapshot.clone();
    require(&mut flexible, entry(2));
    assert_eq!(types(&flexible, only_move(&planned(&flexible)), 0), ["c2", "c4"]);
    require(&mut snapshot, entry(3));
    assert_eq!(planned(&snapshot).kept[0], Some(Kept::TooFewTypes { found: 2, needed: 3 }));
}

#[test]
fn reserved_capacity_is_used_while_some_is_left() {
    let reserved = |remaining| {
        let mut reserved = offering(ZONES[0], RESERVED, 1_000);
        reserved.reservation.as_mut().expect("it is reserved").remaining = remaining;
        let on_demand = || vec![offering(ZONES[0], ON_DEMAND, 200_000)];
        let r = [on_demand(), vec![reserved]].concat();
        let types = vec![instance_type("r", 4, r), instance_type("o", 4, on_demand())];
        one_node_of(types, "o", ON_DEMAND)
    };
    let plan = planned(&reserved(1));
    assert_eq!(capacity_types(only_move(&plan)), [RESERVED]);
    assert_eq!(only_move(&plan).saving_at_least, dollars("0.199"));
    assert_eq!(planned(&reserved(0)).moves, []);
    let mut two = reserved(1);
    add_node(&mut two, "o", (ZONES[0], ON_DEMAND), [shape("web", 3)]);
    assert_eq!(planned(&two).moves.len(), 1, "the reservation has one place");
}

/// One processor is free beside the other node's pod, and eight on a new node for the rest. But
/// kube-scheduler may give both small pods to the new node, where the large one then fits no more.
#[test]
fn a_replacement_that_only_fits_when_placed_well_does_not_count() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[7]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    let node = add(&mut snapshot, "c16", &[7, 1, 1]);
    sell_out(&mut snapshot);
    let mut types = snapshot.problem.pools[0].instance_types.to_vec();
    types[2] = on_demand_type(8);
    set_types(&mut snapshot, types);
    let plan = planned(&snapshot);
    assert_eq!(plan.moves, []);
    assert!(matches!(plan.kept[node], Some(Kept::NotInEveryOrder { .. })));
}

/// The same with small nodes on sale: then all pods go to new nodes that hold them in any order.
#[test]
fn pods_that_might_be_placed_badly_all_go_to_new_nodes() {
    let mut snapshot = cluster();
    add(&mut snapshot, "c8", &[7]);
    snapshot.nodes[0].may_go = Err(Ineligible::DoNotDisruptNode);
    add(&mut snapshot, "c16", &[7, 1, 1]);
    let plan = planned(&snapshot);
    assert_eq!(only_move(&plan).destinations, []);
    assert_eq!(types(&snapshot, only_move(&plan), 0), ["c8"]);
    assert_eq!(types(&snapshot, only_move(&plan), 1), ["c2"]);
}
