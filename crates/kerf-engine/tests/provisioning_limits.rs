//! Limits hold, counting what is on its way.

#![allow(clippy::unwrap_used)]

mod cluster;

use cluster::{Cluster, instances, pod_key};
use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Failure, Key, Outcome};
use kerf_engine::observed::Claim;
use kerf_engine::time::Span;
use kerf_model::pool::NodePool;
use kerf_model::quantity::Quantity;
use proptest::prelude::*;

fn limit(name: &'static str, most: i64) -> impl Fn(&mut NodePool) {
    move |pool| {
        pool.limits.insert(name, Quantity::from_int(most));
    }
}

/// The CPUs a claim may turn out to have at most.
fn cpus(claim: &Claim) -> i64 {
    let known = claim.status.capacity.quantity("cpu");
    let most = match known.is_zero() {
        false => known,
        true => {
            let entries = claim.spec.node.requirements.iter();
            let named: Vec<&String> = entries.flat_map(|entry| &entry.values).collect();
            let types = instances();
            let options = types.iter().filter(|instance| named.contains(&&instance.name));
            options.map(|instance| instance.capacity.quantity("cpu")).max().unwrap_or_default()
        }
    };
    most.to_string().parse().expect("whole CPUs")
}

fn cpus_on_their_way(cluster: &Cluster) -> i64 {
    let staying = cluster.claims().into_iter().filter(|claim| !claim.meta.is_deleting());
    staying.map(cpus).sum()
}

#[test]
fn pods_beyond_the_limit_are_told_so_and_wait() {
    let mut cluster = Cluster::with_pool(limit("cpu", 10));
    for number in 0..3 {
        cluster.pend(&format!("pod-{number}"), "7");
    }
    cluster.seconds(60);
    assert_eq!(cluster.claims().len(), 1, "{:?}", cluster.log());
    let messages = cluster.messages("FailedScheduling");
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages.iter().all(|message| message.contains("limit")), "{messages:?}");
}

#[test]
fn the_number_of_nodes_is_limited_too() {
    let mut cluster = Cluster::with_pool(limit("nodes", 2));
    for number in 0..4 {
        cluster.pend(&format!("pod-{number}"), "7");
        cluster.seconds(15);
    }
    assert_eq!(cluster.claims().len(), 2, "{:?}", cluster.log());
}

#[test]
fn claims_that_are_not_stored_yet_count() {
    let mut cluster = Cluster::with_pool(limit("cpu", 10));
    cluster.ignores = |kind| matches!(kind, ActionKind::CreateClaim(_));
    cluster.pend("a", "7");
    cluster.seconds(5);
    cluster.pend("b", "7");
    cluster.seconds(5);
    assert_eq!(cluster.engine.world().memory.creating.len(), 1);
    assert_eq!(cluster.target_of("b"), None);
}

#[test]
fn a_limit_lowered_while_the_answer_was_thought_about_holds() {
    let mut cluster = Cluster::with_pool(limit("cpu", 16));
    cluster.pend("a", "7");
    cluster.seconds(3);
    cluster.ignores = |kind| matches!(kind, ActionKind::Solve(_));
    cluster.pend("b", "7");
    cluster.seconds(3);
    let mut pool = cluster.pool("pool").clone();
    let mut spec = (*pool.spec).clone();
    limit("cpu", 8)(&mut spec);
    pool.spec = spec.into();
    cluster.store(kerf_engine::event::Object::Pool(pool));
    cluster.answer_last_solve();
    cluster.ignores = |_| false;
    cluster.seconds(30);
    assert_eq!(cluster.claims().len(), 1, "{:?}", cluster.log());
}

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pend(u8),
    Leave(u8),
    Wait(u64),
    /// Only so many of the orders are carried out before the process dies.
    CrashAfter(usize),
    /// The cloud refuses, or no longer does.
    Refuse(bool),
    /// A write fails and may be tried again.
    FailOne,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u8..8).prop_map(Step::Pend),
        1 => (0u8..20).prop_map(Step::Leave),
        4 => (1u64..15_000).prop_map(Step::Wait),
        1 => (0usize..4).prop_map(Step::CrashAfter),
        1 => any::<bool>().prop_map(Step::Refuse),
        1 => Just(Step::FailOne),
    ]
}

fn take(cluster: &mut Cluster, step: Step, number: usize) {
    match step {
        Step::Pend(cpus) => cluster.pend(&format!("pod-{number}"), &cpus.to_string()),
        Step::Leave(pod) => cluster.remove(&Key::Pod(pod_key(&format!("pod-{pod}")))),
        Step::Wait(millis) => {
            cluster.wait(Span::from_millis(millis));
            cluster.bind();
        }
        Step::CrashAfter(count) => {
            cluster.deliver();
            let orders: Vec<Action> = cluster.decide();
            orders.into_iter().take(count).for_each(|action| cluster.carry_out(action));
            cluster.crash();
        }
        Step::Refuse(refuses) => {
            let failure = Failure::InsufficientCapacity { message: "none left".to_owned() };
            cluster.launch_fails = refuses.then_some(failure);
        }
        Step::FailOne => {
            cluster.deliver();
            let mut orders = cluster.decide().into_iter();
            if let Some(action) = orders.next() {
                let failure = Failure::Unavailable { message: "busy".to_owned() };
                let outcome = Outcome::Failed(failure);
                cluster.undelivered.push_back(Event::Finished { action: action.id, outcome });
            }
            orders.for_each(|action| cluster.carry_out(action));
        }
    }
}

fn play(steps: &[Step], limit_cpus: i64) -> Result<Cluster, TestCaseError> {
    let mut cluster = Cluster::with_pool(limit("cpu", limit_cpus));
    for (number, step) in steps.iter().enumerate() {
        take(&mut cluster, *step, number);
        let used = cpus_on_their_way(&cluster);
        prop_assert!(used <= limit_cpus, "{used} of {limit_cpus}: {:?}", cluster.log());
    }
    Ok(cluster)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn limits_hold_counting_what_is_on_its_way_whatever_happens_in_between(
        steps in prop::collection::vec(step(), 1..40),
        limit_cpus in 2i64..30,
    ) {
        play(&steps, limit_cpus)?;
    }

    #[test]
    fn the_same_events_give_the_same_orders(
        steps in prop::collection::vec(step(), 1..30),
        limit_cpus in 2i64..30,
    ) {
        let orders = |cluster: &Cluster| format!("{:?} {:?}", cluster.actions, cluster.kubernetes_events);
        let (first, again) = (play(&steps, limit_cpus)?, play(&steps, limit_cpus)?);
        prop_assert_eq!(orders(&first), orders(&again));
    }
}
