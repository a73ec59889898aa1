//! Whatever happens, what is kept ready is what a walk over all objects finds.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::claim::NodeClaim;
use kerf_model::duration::NillableDuration;
use kerf_model::labels::well_known::{INITIALIZED as INITIALIZED_LABEL, NODE_POOL};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pod::PodShape;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use kerf_model::taint::disrupted;
use proptest::prelude::*;

use super::*;
use crate::command::record::{COMMAND, REPLACEMENT_FOR};
use crate::condition::claim::{
    DISRUPTION_REASON, DRIFTED, INITIALIZED, INSTANCE_TERMINATING, REBOOTING,
};
use crate::condition::{Condition, Conditions, Status};
use crate::observed::{
    ClaimStatus, DoNotDisrupt, Key, Meta, NodeProfile, Object, PodOwner, PodPhase, PodTimes,
    Revision,
};
use crate::time::Time;

/// Something that happens to one of a few objects; what it becomes is drawn from `look`.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Claim { name: u8, look: u16 },
    Node { name: u8, look: u16 },
    Pod { name: u8, look: u16 },
    ClaimGoes(u8),
    NodeGoes(u8),
    PodGoes(u8),
}

fn happening() -> impl Strategy<Value = Happening> {
    let name = 0..6u8;
    prop_oneof![
        3 => (name.clone(), any::<u16>()).prop_map(|(name, look)| Happening::Claim { name, look }),
        3 => (name.clone(), any::<u16>()).prop_map(|(name, look)| Happening::Node { name, look }),
        3 => (name.clone(), any::<u16>()).prop_map(|(name, look)| Happening::Pod { name, look }),
        1 => name.clone().prop_map(Happening::ClaimGoes),
        1 => name.clone().prop_map(Happening::NodeGoes),
        1 => name.prop_map(Happening::PodGoes),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_changes_and_goes_the_index_is_what_a_walk_finds(
        happenings in prop::collection::vec(happening(), 1..60)
    ) {
        let mut objects = Objects::default();
        for it in happenings {
            happen(&mut objects, it);
            assert_is_what_a_walk_finds(&objects);
        }
        for number in 0..6 {
            happen(&mut objects, Happening::PodGoes(number));
            happen(&mut objects, Happening::NodeGoes(number));
            happen(&mut objects, Happening::ClaimGoes(number));
        }
        prop_assert!(objects.index.tallies.is_empty());
        prop_assert!(objects.index.claims_on_instance.0.is_empty());
        prop_assert!(objects.index.nodes_on_instance.0.is_empty());
    }
}

fn happen(objects: &mut Objects, it: Happening) {
    match it {
        Happening::Claim { name, look } => objects.insert(Object::Claim(claim(name, look))),
        Happening::Node { name, look } => objects.insert(Object::Node(node(name, look))),
        Happening::Pod { name, look } => objects.insert(Object::Pod(pod(name, look))),
        Happening::ClaimGoes(name) => drop(objects.remove(&Key::Claim(named("claim", name)))),
        Happening::NodeGoes(name) => drop(objects.remove(&Key::Node(named("node", name)))),
        Happening::PodGoes(name) => drop(objects.remove(&Key::Pod(pod_key(name)))),
    }
}

fn assert_is_what_a_walk_finds(objects: &Objects) {
    for pool in ["a", "b"] {
        let mut walked = PoolTally::default();
        for claim in objects.claims.values().filter(|claim| claim.pool() == Some(pool)) {
            count(objects, claim, &mut walked);
        }
        let kept = objects.index.tallies.get(pool).cloned().unwrap_or_default();
        assert_eq!(kept, walked, "pool {pool}");
    }
    let marked = objects.claims.values().filter(|claim| is_marked(claim));
    assert!(marked.map(|it| &**it).eq(objects.marked_claims()));
    let drifted = objects.claims.values().filter(|it| it.status.conditions.is_true(DRIFTED));
    assert!(drifted.map(|it| &**it).eq(objects.drifted_claims()));
    let departing = objects.nodes.values();
    let departing =
        departing.filter(|it| it.meta.is_deleting() || it.taints.contains(&disrupted()));
    assert!(departing.map(|it| &**it).eq(objects.departing_nodes()));
    let is_held = |node: &Name| objects.pods_on(node).any(Pod::holds_node);
    let idle: BTreeSet<&Name> = objects.nodes.keys().filter(|node| !is_held(node)).collect();
    assert!(idle.into_iter().eq(objects.idle_nodes()));
    let has_node = |claim: &Claim| nodes_of(objects, claim).next().is_some();
    let without = objects.claims.values().filter(|claim| !has_node(claim));
    assert!(without.map(|it| &**it).eq(objects.claims_without_node()));
    for node in objects.nodes.values() {
        let mut own = objects.claims.values().filter(|claim| is_on(claim, node));
        assert_eq!(objects.claim_of(node), own.next().map(|it| &**it));
    }
    for claim in objects.claims.values() {
        let only = nodes_of(objects, claim).next();
        let only = only.filter(|_| nodes_of(objects, claim).count() == 1);
        assert_eq!(objects.node_of(claim), only);
    }
    for number in 0..4 {
        let id = format!("i-{number}");
        let named = |claim: &&Arc<Claim>| {
            claim.status.provider_id.as_ref().is_some_and(|own| own.ends_with(&id))
        };
        let walked = objects.claims.values().filter(named).map(|it| &**it);
        assert!(walked.eq(objects.claims_with_instance_id(&id)));
    }
}

/// What a claim adds, said once more and in plain words.
fn count(objects: &Objects, claim: &Claim, tally: &mut PoolTally) {
    let is = |condition| claim.status.conditions.is_true(condition);
    let is_leaving = claim.meta.is_deleting() || is(INSTANCE_TERMINATING);
    let node = nodes_of(objects, claim).next();
    let node = node.filter(|_| nodes_of(objects, claim).count() == 1);
    if !is_leaving {
        let cpus = |list: &ResourceList| list.quantity("cpu");
        let cpu = match node.map(|node| cpus(&node.capacity)) {
            Some(reported) if !reported.is_zero() => reported,
            Some(none) if node.is_some_and(Node::is_initialized) => none,
            _ => cpus(&claim.status.capacity),
        };
        tally.staying += 1;
        tally.capacity.add(&[("cpu", cpu)].into_iter().collect(), 1);
    }
    let Some(node) = node else { return };
    if is(INSTANCE_TERMINATING) || !(is(INITIALIZED) || is(REBOOTING)) {
        return;
    }
    let is_away = node.meta.is_deleting() || claim.meta.is_deleting() || is(REBOOTING);
    tally.nodes += 1;
    tally.away += i64::from(is_away || !node.is_ready);
    tally.unready += i64::from(!is_away && !node.is_ready);
}

fn nodes_of<'a>(objects: &'a Objects, claim: &'a Claim) -> impl Iterator<Item = &'a Node> {
    objects.nodes.values().map(|it| &**it).filter(move |node| is_on(claim, node))
}

fn is_on(claim: &Claim, node: &Node) -> bool {
    node.provider_id.is_some() && claim.status.provider_id == node.provider_id
}

fn is_marked(claim: &Claim) -> bool {
    let annotations = [COMMAND, REPLACEMENT_FOR];
    annotations.iter().any(|key| claim.annotations().contains_key(*key))
        || claim.status.conditions.get(DISRUPTION_REASON).is_some()
}

fn named(kind: &str, number: u8) -> Name {
    format!("{kind}-{number}").into()
}

fn meta(name: Name, is_deleting: bool) -> Meta {
    Meta {
        uid: name.clone(),
        name,
        revision: Revision(0),
        generation: 0,
        created_at: Time::from_seconds(0),
        deleting_since: is_deleting.then(|| Time::from_seconds(1)),
    }
}

/// Few instances, so that some have two claims or two nodes; two zones, so that ids end alike.
fn provider_id(look: u16) -> Option<Arc<str>> {
    let zone = if look & 4 == 0 { "a" } else { "b" };
    (look & 8 == 0).then(|| format!("aws:///{zone}/i-{}", look & 3).into())
}

fn bit(look: u16, number: u32) -> bool {
    look >> number & 1 == 1
}

fn cpus(count: u16) -> ResourceList {
    [("cpu", Quantity::from_int(i64::from(count)))].into_iter().collect()
}

fn claim(name: u8, look: u16) -> Claim {
    let flags = [
        (bit(look, 4), INITIALIZED),
        (look & 0x60 == 0x60, INSTANCE_TERMINATING),
        (look & 0x180 == 0x180, REBOOTING),
        (look & 0x600 == 0x600, DISRUPTION_REASON),
        (look & 0x6000 == 0x6000, DRIFTED),
    ];
    let conditions = flags.iter().filter(|(holds, _)| *holds).map(|(_, kind)| Condition {
        kind: (*kind).to_owned(),
        status: Status::True,
        reason: String::new(),
        message: String::new(),
        changed_at: Time::from_seconds(0),
        observed_generation: 0,
    });
    let pool = if bit(look, 11) { "a" } else { "b" };
    let marks =
        [(bit(look, 12) && bit(look, 5), COMMAND), (look.is_multiple_of(7), REPLACEMENT_FOR)];
    let marks = marks.iter().filter(|(holds, _)| *holds);
    Claim {
        meta: meta(named("claim", name), look.is_multiple_of(5)),
        spec: NodeClaim {
            name: named("claim", name).to_string(),
            labels: [(NODE_POOL.to_owned(), pool.to_owned())].into(),
            annotations: marks.map(|(_, key)| ((*key).to_owned(), String::new())).collect(),
            node: node_spec(),
            requests: ResourceList::new(),
        },
        finalizers: Vec::new(),
        owner_pool: None,
        status: ClaimStatus {
            provider_id: provider_id(look),
            capacity: cpus(1 + look % 3),
            conditions: Conditions(conditions.collect()),
            ..ClaimStatus::default()
        },
    }
}

fn node_spec() -> NodeSpec {
    let node_class =
        NodeClassRef { group: String::new(), kind: String::new(), name: String::new() };
    NodeSpec {
        requirements: Vec::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        node_class,
        termination_grace: None,
        expire_after: NillableDuration::NEVER,
    }
}

fn node(name: u8, look: u16) -> Node {
    let is_up = bit(look, 4);
    let labels = is_up.then(|| (INITIALIZED_LABEL.to_owned(), "true".to_owned()));
    Node {
        meta: meta(named("node", name), look.is_multiple_of(5)),
        labels: labels.into_iter().collect(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        owner_claim: None,
        provider_id: provider_id(look),
        taints: if look.is_multiple_of(3) { vec![disrupted()] } else { Vec::new() },
        capacity: cpus(look % 4),
        allocatable: ResourceList::new(),
        is_ready: bit(look, 5),
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    }
}

fn pod_key(name: u8) -> PodKey {
    PodKey { namespace: "default".into(), name: named("pod", name) }
}

fn pod(name: u8, look: u16) -> Pod {
    let node = named("node", (look % 6) as u8);
    let phase = match look >> 4 & 3 {
        0 => PodPhase::Unjudged,
        1 => PodPhase::Ended { node: Some(node), has_failed: false },
        _ => PodPhase::Bound { node },
    };
    Pod {
        key: pod_key(name),
        meta: meta(named("pod", name), bit(look, 6)),
        shape: Arc::new(PodShape::default()),
        phase,
        owner: if bit(look, 7) { PodOwner::DaemonSet } else { PodOwner::StatefulSet },
        is_ready: true,
        started_at: None,
        times: PodTimes::default(),
        is_critical: false,
        priority: if bit(look, 8) { -1 << 25 } else { 0 },
        deletion_cost: 0,
        do_not_disrupt: DoNotDisrupt::Absent,
        termination_grace: None,
        has_local_data: false,
        unusable: None,
        profile: Arc::default(),
    }
}
