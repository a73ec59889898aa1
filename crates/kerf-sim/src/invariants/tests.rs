//! The checker sees what an engine must not do: a cluster in order, and one rogue action each.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionId, ActionKind, Launch};
use kerf_engine::command::CommandId;
use kerf_engine::command::record::{COMMAND, Record};
use kerf_engine::event::Key;
use kerf_engine::observed::{Claim, Node, Pod, PodOwner};
use kerf_engine::reason::{DeletionCause, Reason};
use kerf_engine::time::Span;
use kerf_model::budget::DisruptionReason;
use kerf_model::quantity::Quantity;

use super::{Checker, Rule};
use crate::replica::ReplicaId;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::store::Precondition;

const SCENARIO: &str = "
name: calm
ends: 2h
cloud: {catalogue: kwok, zones: [a]}
pools:
  - name: default
    requirements: [os in linux, arch in amd64, type in c-4x-amd64-linux]
    consolidateAfter: 1h
    limits: {cpu: '12'}
    budgets: [{nodes: '0'}]
workloads:
  - {deployment: web, replicas: 2, requests: {cpu: '2'}}
  - {deployment: still, replicas: 2, requests: {cpu: '1'}, doNotDisrupt: 'true'}
";

/// Ten minutes into a cluster where nothing goes wrong.
fn calm() -> Simulation {
    calm_at(SCENARIO)
}

fn calm_at(scenario: &str) -> Simulation {
    let scenario = Scenario::parse(scenario).unwrap();
    let mut simulation = Simulation::new(Arc::new(scenario), 1).unwrap();
    let target = simulation.now() + Span::from_minutes(10);
    simulation.run_until(target);
    assert_eq!(simulation.checker().violations, []);
    assert_eq!(simulation.pending_count(), 0);
    simulation
}

fn rogue(kind: ActionKind) -> Action {
    let reason = Reason::NotLaunched;
    let (at, class) = Default::default();
    Action { id: ActionId(1), at, class, reason, kind }
}

fn rules(simulation: &Simulation) -> Vec<Rule> {
    simulation.checker().violations.iter().map(|violation| violation.rule).collect()
}

/// A pod of a workload, its node, and the claim of that.
fn pod_of(simulation: &Simulation, workload: &str) -> (Pod, Node, Claim) {
    let store = &simulation.store;
    let is_of = |pod: &&Pod| pod.shape.labels.get("app").is_some_and(|app| app == workload);
    let pod = store.pods.values().map(Arc::as_ref).find(is_of).unwrap();
    assert_eq!(pod.owner, PodOwner::Other);
    let node = store.nodes[pod.node().unwrap()].as_ref();
    (pod.clone(), node.clone(), store.claim_of(node).unwrap().clone())
}

/// A launch that nobody decided on.
fn launch(claim: Claim) -> ActionKind {
    ActionKind::Launch(Box::new(Launch { claim, node_class: None, instance_types: None }))
}

#[test]
fn a_launch_for_a_claim_that_was_never_stored_is_seen() {
    let mut simulation = calm();
    let (_, _, mut claim) = pod_of(&simulation, "web");
    claim.meta.uid = Arc::from("never stored");
    simulation.carry_out(&rogue(launch(claim)));
    assert!(rules(&simulation).contains(&Rule::FinalizerBeforeLaunch));
}

#[test]
fn an_eviction_from_a_node_that_stays_is_seen() {
    let mut simulation = calm();
    let (pod, _, _) = pod_of(&simulation, "web");
    simulation.carry_out(&rogue(ActionKind::EvictPod { pod: pod.key, uid: pod.meta.uid }));
    assert_eq!(rules(&simulation), [Rule::NeedlessEviction]);
}

#[test]
fn an_eviction_of_a_pod_that_must_not_be_disturbed_is_seen() {
    let mut simulation = calm();
    let (pod, node, _) = pod_of(&simulation, "still");
    simulation.store.delete::<Node>(&node.meta.name, Precondition::Nothing);
    simulation.carry_out(&rogue(ActionKind::EvictPod { pod: pod.key, uid: pod.meta.uid }));
    assert_eq!(rules(&simulation), [Rule::DoNotDisrupt]);
}

#[test]
fn a_pod_ended_by_force_before_its_time_is_seen() {
    let mut simulation = calm();
    let (pod, _, _) = pod_of(&simulation, "web");
    let kind = ActionKind::DeletePod { pod: pod.key, uid: pod.meta.uid, grace_seconds: 1 };
    simulation.carry_out(&rogue(kind));
    assert_eq!(rules(&simulation), [Rule::Pdb]);
}

#[test]
fn an_instance_ended_under_its_pods_is_seen() {
    let mut simulation = calm();
    let (_, _, claim) = pod_of(&simulation, "web");
    let kind = ActionKind::Terminate {
        claim: claim.meta.name.clone(),
        provider_id: claim.status.provider_id.clone(),
    };
    simulation.carry_out(&rogue(kind));
    assert_eq!(rules(&simulation), [Rule::Drain]);
}

#[test]
fn a_node_in_use_given_up_past_its_budget_is_seen() {
    let mut simulation = calm();
    let (_, _, claim) = pod_of(&simulation, "still");
    let kind = ActionKind::DeleteClaim { name: claim.meta.name, uid: claim.meta.uid };
    simulation.carry_out(&rogue(kind));
    let seen = rules(&simulation);
    for rule in [Rule::Empty, Rule::DoNotDisrupt, Rule::Budget] {
        assert!(seen.contains(&rule), "{rule} in {seen:?}");
    }
}

#[test]
fn a_node_given_up_before_its_replacement_is_up_is_seen() {
    let mut simulation = calm();
    let (_, _, claim) = pod_of(&simulation, "web");
    let record = Record {
        id: CommandId("rogue".into()),
        reason: DisruptionReason::Drifted.as_str().to_owned(),
        decided_at_millis: 0,
        candidates: vec![claim.meta.name.clone()],
        replacements: vec!["never-came".into()],
        destinations: BTreeMap::new(),
    };
    let name = claim.meta.name.clone();
    let _ = simulation.store.change(&name, Precondition::Nothing, |claim: &mut Claim| {
        claim.spec.annotations.insert(COMMAND.to_owned(), record.to_text());
    });
    simulation.carry_out(&give_up(&claim, DisruptionReason::Drifted));
    assert!(rules(&simulation).contains(&Rule::ReplacedFirst), "{:?}", rules(&simulation));
}

/// Launches more instances of the pool, each of a third of its limit, until four are there.
fn launch_to_four(simulation: &mut Simulation) {
    let (_, _, claim) = pod_of(simulation, "web");
    for number in simulation.cloud.instances.len()..4 {
        let mut spec = claim.spec.clone();
        spec.name = format!("default-{number}");
        let pool = (Arc::from("default"), Arc::from("uid"));
        let new = kerf_engine::action::NewClaim { spec, pool };
        simulation.carry_out(&rogue(ActionKind::CreateClaim(Box::new(new))));
        let stored = Claim::clone(&simulation.store.claims[format!("default-{number}").as_str()]);
        simulation.settle();
        simulation.carry_out(&rogue(launch(stored)));
    }
}

#[test]
fn a_pool_over_its_limit_is_seen() {
    let mut simulation = calm();
    launch_to_four(&mut simulation);
    assert!(rules(&simulation).contains(&Rule::Limits));
}

#[test]
fn what_the_cloud_takes_back_leaves_its_room_to_others() {
    let mut simulation = calm();
    let (_, _, claim) = pod_of(&simulation, "web");
    let id = claim.status.provider_id.unwrap();
    simulation.cloud.instances.get_mut(&id).unwrap().is_announced = true;
    launch_to_four(&mut simulation);
    assert!(!rules(&simulation).contains(&Rule::Limits), "{:?}", rules(&simulation));
}

#[test]
fn an_instance_nobody_ends_after_its_claim_is_gone_is_seen() {
    let mut simulation = calm();
    simulation.silence_engines();
    let (_, _, claim) = pod_of(&simulation, "web");
    simulation.store.remove(Key::Claim(claim.meta.name));
    let target = simulation.now() + Span::from_minutes(15);
    simulation.run_until(target);
    assert!(rules(&simulation).contains(&Rule::NoLeak));
}

#[test]
fn pods_nobody_places_and_deletions_nobody_ends_are_seen() {
    let mut simulation = calm();
    simulation.silence_engines();
    let (pod, node, claim) = pod_of(&simulation, "web");
    simulation.store.delete::<Claim>(&claim.meta.name, Precondition::Nothing);
    let leaving: Vec<_> =
        simulation.store.pods_on(&node.meta.name).map(|pod| pod.key.clone()).collect();
    simulation.store.remove(Key::Node(node.meta.name));
    for key in leaving {
        simulation.store.delete_pod(&key, Precondition::Nothing, Span::default());
    }
    assert!(pod.is_ready);
    let target = simulation.now() + Span::from_minutes(15);
    simulation.run_until(target);
    let seen = rules(&simulation);
    for rule in [Rule::Progress, Rule::Stuck] {
        assert!(seen.contains(&rule), "{rule} in {seen:?}");
    }
}

#[test]
fn an_engine_that_never_shrinks_is_seen() {
    let text = SCENARIO.replace("consolidateAfter: 1h", "consolidateAfter: 1m");
    let text = text.replace("nodes: '0'", "nodes: '10'");
    let text = text + "timeline: [{at: 11m, scale: web, to: 0}]\n";
    let text =
        text.replace("replicas: 2, requests: {cpu: '1'}", "replicas: 0, requests: {cpu: '1'}");
    let scenario = Arc::new(Scenario::parse(&text).unwrap());
    for (minds, expected) in [(true, vec![]), (false, vec![Rule::KeptEmpty])] {
        let mut simulation = Simulation::new(scenario.clone(), 1).unwrap();
        let start = simulation.now();
        simulation.run_until(start + Span::from_minutes(10));
        assert!(!simulation.store.nodes.is_empty());
        if !minds {
            simulation.silence_engines();
        }
        simulation.run_until(start + Span::from_minutes(40));
        let mut seen = rules(&simulation);
        seen.dedup();
        assert_eq!(seen, expected, "{:?}", simulation.checker().violations);
    }
}

#[test]
fn a_second_instance_for_a_claim_is_seen() {
    let mut simulation = calm();
    let instance = simulation.cloud.instances.values().next().unwrap().clone();
    simulation.cloud.instances.insert("second".into(), instance.clone());
    let mut checker = Checker::default();
    checker.launched(&instance, &simulation.store, &simulation.cloud);
    let seen: Vec<Rule> = checker.violations.iter().map(|violation| violation.rule).collect();
    assert!(seen.contains(&Rule::OneInstance), "{seen:?}");
}

/// Two pods of 3 CPUs, each on a node of its own with 4 CPUs.
const TWO_NODES: &str = "
name: two nodes
ends: 2h
cloud: {catalogue: kwok, zones: [a]}
pools:
  - name: default
    requirements: [os in linux, arch in amd64, type in c-4x-amd64-linux, capacity in on-demand]
    consolidateAfter: 1h
    limits: {cpu: '12'}
    budgets: [{nodes: '10'}]
workloads:
  - {deployment: web, replicas: 2, requests: {cpu: '3'}}
";

/// What is seen of the decision to do without one of two nodes.
fn seen_when_given_up(scenario: &str, cpus_elsewhere: i64) -> Vec<Rule> {
    let mut simulation = calm_at(scenario);
    let (_, node, claim) = pod_of(&simulation, "web");
    let mut others = simulation.store.nodes.keys().filter(|name| **name != node.meta.name);
    let other = others.next().unwrap().clone();
    simulation.store.change(&other, Precondition::Nothing, |node: &mut Node| {
        node.allocatable.insert("cpu", Quantity::from_int(cpus_elsewhere));
    });
    let command = CommandId(Arc::from("rogue"));
    let kind = ActionKind::DeleteClaim { name: claim.meta.name, uid: claim.meta.uid };
    let reason =
        Reason::Disruption { reason: DisruptionReason::Underutilized, command, cause: None };
    simulation.order(ReplicaId(1), Action { reason, ..rogue(kind) });
    rules(&simulation)
}

#[test]
fn a_node_given_up_whose_pods_have_nowhere_to_go_is_seen() {
    let stock = "zones: [a], stock: [{zone: a, capacity: on-demand, instances: 2}]";
    let sold_out = TWO_NODES.replace("zones: [a]", stock);
    let apart = sold_out.replace("cpu: '3'}", "cpu: '3'}, apart: [hostname]");
    for (why, scenario, cpus_elsewhere, expected) in [
        ("a node can be bought", TWO_NODES, 4, vec![]),
        ("there is room", &sold_out, 8, vec![]),
        ("there is neither", &sold_out, 4, vec![Rule::NowhereToGo]),
        ("there is room where it may not go", &apart, 8, vec![Rule::NowhereToGo]),
    ] {
        assert_eq!(seen_when_given_up(scenario, cpus_elsewhere), expected, "{why}");
    }
}

/// Each pod alone has a place, but there is only one place for both.
#[test]
fn pods_of_a_node_given_up_do_not_share_one_place() {
    let text = TWO_NODES
        .replace("replicas: 2, requests: {cpu: '3'}", "replicas: 4, requests: {cpu: 1500m}");
    let stock = "zones: [a], stock: [{zone: a, capacity: on-demand, instances: 2}]";
    let text = text.replace("zones: [a]", stock);
    assert_eq!(seen_when_given_up(&text, 5), [Rule::NowhereToGo], "room for one of two");
    assert_eq!(seen_when_given_up(&text, 6), [], "room for both");
}

/// Three nodes like those of [`TWO_NODES`].
fn three_nodes(budget: &str) -> Simulation {
    let text = TWO_NODES.replace("replicas: 2", "replicas: 3");
    calm_at(&text.replace("nodes: '10'", &format!("nodes: '{budget}'")))
}

fn give_up(claim: &Claim, reason: DisruptionReason) -> Action {
    let command = CommandId(Arc::from("rogue"));
    let kind =
        ActionKind::DeleteClaim { name: claim.meta.name.clone(), uid: claim.meta.uid.clone() };
    Action { reason: Reason::Disruption { reason, command, cause: None }, ..rogue(kind) }
}

#[test]
fn nodes_that_cost_more_than_the_one_they_replace_to_save_money_are_seen() {
    for (replacements, reason, expected) in [
        (2, DisruptionReason::Underutilized, true),
        (1, DisruptionReason::Underutilized, false),
        (2, DisruptionReason::Drifted, false),
    ] {
        let mut simulation = three_nodes("10");
        let (_, _, claim) = pod_of(&simulation, "web");
        let name = claim.meta.name.clone();
        let others = simulation.store.claims.keys().filter(|other| **other != name);
        let record = Record {
            id: CommandId("rogue".into()),
            reason: reason.as_str().to_owned(),
            decided_at_millis: simulation.now().millis(),
            candidates: vec![name.clone()],
            replacements: others.take(replacements).cloned().collect(),
            destinations: BTreeMap::new(),
        };
        let _ = simulation.store.change(&name, Precondition::Nothing, |claim: &mut Claim| {
            claim.spec.annotations.insert(COMMAND.to_owned(), record.to_text());
        });
        simulation.carry_out(&give_up(&claim, reason));
        let seen = rules(&simulation);
        assert_eq!(seen.contains(&Rule::Dearer), expected, "{replacements} {reason}: {seen:?}");
    }
}

#[test]
fn a_price_counts_as_it_could_be_known_when_it_was_decided() {
    let mut simulation = calm();
    let instance = simulation.cloud.instances.values().next().unwrap().clone();
    let (index, now) = (instance.offering, simulation.now());
    let price = instance.price.micros_per_hour();
    simulation.cloud.reprice(index.instance_type, 200, now);
    let (minute, cloud) = (Span::from_minutes(1), &simulation.cloud);
    let bounds = |from, to| cloud.price_bounds(index, from, to);
    assert_eq!(bounds(now - minute - minute, now - minute), (price, price));
    assert_eq!(bounds(now - minute, now + minute), (price, 2 * price));
    assert_eq!(bounds(now + minute, now + minute + minute), (2 * price, 2 * price));
}

#[test]
fn a_node_that_is_not_ready_uses_up_budgets_but_not_for_its_repair() {
    for (reason, expected) in
        [(DisruptionReason::Drifted, true), (DisruptionReason::Unhealthy, false)]
    {
        let mut simulation = three_nodes("1");
        simulation.silence_engines();
        let (_, node, claim) = pod_of(&simulation, "web");
        let mut others = simulation.store.nodes.keys().filter(|name| **name != node.meta.name);
        let other = others.next().unwrap().clone();
        simulation.store.change(&other, Precondition::Nothing, |node: &mut Node| {
            node.is_ready = false;
        });
        let target = simulation.now() + Span::from_seconds(10);
        simulation.run_until(target);
        simulation.carry_out(&give_up(&claim, reason));
        let seen = rules(&simulation);
        assert_eq!(seen.contains(&Rule::Budget), expected, "{reason}: {seen:?}");
    }
}

#[test]
fn pods_that_consolidation_evicts_all_day_are_seen() {
    let mut simulation = three_nodes("10");
    simulation.silence_engines();
    let (pod, _, claim) = pod_of(&simulation, "web");
    simulation.carry_out(&give_up(&claim, DisruptionReason::Underutilized));
    let evict = ActionKind::EvictPod { pod: pod.key, uid: pod.meta.uid };
    simulation.carry_out(&rogue(evict.clone()));
    simulation.carry_out(&rogue(evict));
    let counted = simulation.checker().evictions.by_workload["web"].clone();
    assert_eq!(counted.len(), 1, "each pod counts once");
    for (evictions, expected) in [(18, false), (19, true)] {
        let mut checker = simulation.checker().clone();
        let times = std::iter::repeat_n(counted[0], evictions).collect();
        checker.evictions.by_workload.insert("web".to_owned(), times);
        checker.check_churn(&simulation.workloads);
        let seen: Vec<Rule> = checker.violations.iter().map(|violation| violation.rule).collect();
        assert_eq!(seen.contains(&Rule::Churn), expected, "{evictions}: {seen:?}");
    }
}

/// What is given up as too many where there are not.
#[test]
fn a_node_of_a_static_pool_given_up_for_nothing_is_seen() {
    let text = TWO_NODES.replace("    limits: {cpu: '12'}\n", "    replicas: 3\n");
    let mut simulation = calm_at(&text);
    let (_, _, claim) = pod_of(&simulation, "web");
    let reason = Reason::Deletion(DeletionCause::Overprovisioned);
    let action = Action { reason, ..give_up(&claim, DisruptionReason::Empty) };
    simulation.carry_out(&action);
    assert_eq!(rules(&simulation), [Rule::Replicas]);
}
