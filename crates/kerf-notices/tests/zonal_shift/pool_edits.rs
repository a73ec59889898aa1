//! How requirements read while zones are avoided.

use std::collections::{BTreeMap, BTreeSet};

use kerf_notices::zonal_shift::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::*;

const START: &str = "Autoshift In Progress";
const END: &str = "Autoshift Completed";

fn by_id(operator: &str, ids: &[&str]) -> Value {
    json!({"key": "topology.k8s.aws/zone-id", "operator": operator, "values": ids})
}

fn with_min(mut entry: Value, min: u64) -> Value {
    entry["minValues"] = json!(min);
    entry
}

/// Zones avoided, requirements before, requirements while avoided, and the annotation.
type Row = (&'static [&'static str], Vec<Value>, Vec<Value>, &'static str);

fn table() -> Vec<Row> {
    let exists = json!({"key": "topology.kubernetes.io/zone", "operator": "Exists"});
    let three = || zones("In", &["a", "b", "c"]);
    vec![
        // Nothing of the zone in the list: not touched, no annotation.
        (&["a"], vec![zones("In", &["b", "c"])], vec![zones("In", &["b", "c"])], ""),
        (&["a"], vec![zones("NotIn", &["a"])], vec![zones("NotIn", &["a"])], ""),
        // Several requirements are each edited.
        (
            &["a"],
            vec![three(), arm(), zones("NotIn", &["c"])],
            vec![zones("In", &["b", "c"]), arm(), zones("NotIn", &["c", "a"])],
            "us-west-2a",
        ),
        // A zone that one of them excludes is out of reach already.
        (
            &["a", "c"],
            vec![three(), zones("NotIn", &["c"])],
            vec![zones("In", &["b", "c"]), zones("NotIn", &["c", "a"])],
            "us-west-2a",
        ),
        // Ids are compared by id, beside names or alone.
        (
            &["a"],
            vec![by_id("In", &["usw2-az1", "usw2-az2"])],
            vec![by_id("In", &["usw2-az2"])],
            "us-west-2a",
        ),
        (
            &["a"],
            vec![by_id("NotIn", &["usw2-az3"])],
            vec![by_id("NotIn", &["usw2-az3", "usw2-az1"])],
            "us-west-2a",
        ),
        (
            &["a"],
            vec![three(), by_id("NotIn", &["usw2-az2"])],
            vec![zones("In", &["b", "c"]), by_id("NotIn", &["usw2-az2", "usw2-az1"])],
            "us-west-2a",
        ),
        // `minValues` only falls as far as it must.
        (
            &["a"],
            vec![with_min(three(), 2)],
            vec![with_min(zones("In", &["b", "c"]), 2)],
            "us-west-2a",
        ),
        (
            &["a", "b"],
            vec![with_min(three(), 2)],
            vec![with_min(zones("In", &["c"]), 1)],
            "us-west-2a,us-west-2b",
        ),
        (
            &["a"],
            vec![with_min(exists.clone(), 3)],
            vec![with_min(exists, 2), zones("In", &["b", "c"])],
            "us-west-2a",
        ),
        // A list in an order of its own keeps it; doubled values go together.
        (
            &["b"],
            vec![zones("In", &["c", "b", "a", "b"])],
            vec![zones("In", &["c", "a"])],
            "us-west-2b",
        ),
        // No zone key fits a comparison of numbers: such a pool reaches nothing.
        (
            &["a"],
            vec![json!({"key": "topology.kubernetes.io/zone", "operator": "DoesNotExist"})],
            vec![json!({"key": "topology.kubernetes.io/zone", "operator": "DoesNotExist"})],
            "",
        ),
    ]
}

#[test]
fn requirements_while_zones_are_avoided_and_after() {
    for (away, before, during, annotation) in table() {
        let original = pool("web", &before);
        let mut world = World::new([original.clone()]);
        for letter in away {
            world.happens(START, letter, 10);
        }
        assert_eq!(*world.requirements("web"), json!(during), "{before:?} away {away:?}");
        assert_eq!(world.away_annotation("web"), annotation, "{before:?} away {away:?}");
        for letter in away {
            world.happens(END, letter, 20);
        }
        assert_eq!(original.to_string(), world.pool("web").to_string());
    }
}

#[test]
fn pools_that_would_have_no_zone_left_stay_as_they_are() {
    let impossible = [
        vec![zones("In", &["a"])],
        vec![zones("NotIn", &["b", "c"])],
        vec![zones("In", &["a", "b"]), zones("NotIn", &["b"])],
        vec![by_id("In", &["usw2-az1"])],
        // The cluster has no subnet in d, so it is no way out.
        vec![zones("In", &["a", "d"])],
    ];
    for requirements in impossible {
        let before = pool("web", &requirements);
        let mut world = World::new([before.clone()]);
        world.happens(START, "a", 10);
        assert_eq!(before, *world.pool("web"));
        assert_eq!(world.skips(), [("web", SkipReason::WouldEmpty)], "{requirements:?}");
    }
}

#[test]
fn a_second_zone_that_would_empty_the_pool_leaves_the_first_edit() {
    let before = pool("web", &[zones("In", &["a", "b"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    world.happens(START, "b", 20);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b"])]));
    assert_eq!(world.skips(), [("web", SkipReason::WouldEmpty)]);
    world.happens(END, "a", 30);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["a"])]));
    world.happens(END, "b", 40);
    assert_eq!(before, *world.pool("web"));
}

#[test]
fn when_every_zone_is_to_be_avoided_no_pool_is_edited_any_further() {
    let before = pool("web", &[zones("In", &["a", "b", "c", "d"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    world.happens(START, "b", 20);
    let during = world.pool("web").clone();
    world.happens(START, "c", 30);
    assert_eq!(during, *world.pool("web"));
    assert_eq!(world.skips().len(), 1);
    for letter in ["a", "b", "c"] {
        world.happens(END, letter, 40);
    }
    assert_eq!(before, *world.pool("web"));
}

#[test]
fn a_zone_without_subnets_or_nodes_changes_nothing_but_is_remarked() {
    let before = pool("web", &[arm()]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "d", 10);
    assert_eq!(before, *world.pool("web"));
    assert_eq!(world.notes, [Note::ZoneNotUsed(zone_id("d"))]);
}

#[test]
fn an_open_pool_is_left_alone_while_no_zones_are_known() {
    let before = pool("web", &[arm()]);
    let mut world = World::new([before.clone()]);
    world.used_zones.clear();
    world.happens(START, "a", 10);
    assert_eq!(before, *world.pool("web"));
    assert_eq!(world.skips(), [("web", SkipReason::ZonesUnknown)]);
}

#[test]
fn the_zones_of_the_node_class_come_before_those_of_the_cluster() {
    let pools = [pool("web", &[arm()])];
    let classes =
        BTreeMap::from([(NodeClassKey::new("karpenter.k8s.aws", "default"), names(&["a", "c"]))]);
    let mut world = World::new([]);
    world.deliver(&message(START, "a", 0));
    let (table, used) = (zone_table(), names(&["a", "b", "c"]));
    let cluster = Cluster {
        zones: &table,
        used_zones: &used,
        node_class_zones: &classes,
        pools: &[&pools[0]],
        nodes: &[],
    };
    let plan =
        Plan::new(&world.state(), cluster, &world.options, &EditMemory::default(), world.now);
    let [Step::Pool(edit)] = &plan.steps[..] else { panic!("one edit, not {:?}", plan.steps) };
    assert_eq!(edit.requirements, Some(vec![arm(), zones("In", &["c"])]));
}

#[test]
fn ignored_pools_stay_and_get_back_what_was_taken() {
    let before = pool("web", &[zones("In", &["a", "b", "c"])]);
    let mut world = World::new([before.clone()]);
    world.happens(START, "a", 10);
    world.pool_mut("web")["metadata"]["annotations"][IGNORE] = json!("true");
    world.settle();
    assert_eq!(before["spec"], world.pool("web")["spec"]);
    assert_eq!(world.away_annotation("web"), "");
}

#[test]
fn older_kinds_are_edited_where_their_requirements_are() {
    let provisioner = json!({
        "apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner",
        "metadata": {"name": "old"}, "spec": {"providerRef": {"name": "default"}},
    });
    let mut beta = pool("beta", &[zones("In", &["a", "b"])]);
    beta["apiVersion"] = json!("karpenter.sh/v1beta1");
    let mut world = World::new([provisioner.clone(), beta.clone()]);
    world.happens(START, "a", 10);
    assert_eq!(world.pool("old")["spec"]["requirements"], json!([zones("In", &["b", "c"])]));
    assert_eq!(*world.requirements("beta"), json!([zones("In", &["b"])]));
    world.happens(END, "a", 20);
    assert_eq!(world.pools, [provisioner, beta]);
}

#[test]
fn an_edit_is_one_patch_of_requirements_and_annotations_at_a_version() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b"])])]);
    world.deliver(&message(START, "a", 0));
    let plan = world.plan();
    let [Step::Pool(edit)] = &plan.steps[..] else { panic!("one edit, not {:?}", plan.steps) };
    let original = json!([{"index": 0, "requirement": zones("In", &["a", "b"])}]).to_string();
    let applied = json!([{"index": 0, "requirement": zones("In", &["b"])}]).to_string();
    assert_eq!(
        edit.merge_patch(),
        json!({
            "metadata": {
                "resourceVersion": "1",
                "annotations": {
                    AWAY_ZONES: "us-west-2a", ORIGINAL_ZONES: original, APPLIED_ZONES: applied,
                },
            },
            "spec": {"template": {"spec": {"requirements": [zones("In", &["b"])]}}},
        })
    );
}

#[test]
fn each_zone_taken_and_given_back_is_told_once() {
    let mut world = World::new([pool("web", &[zones("In", &["a", "b"])])]);
    let told = |world: &World| -> Vec<(&'static str, String)> {
        let edits = world.plan().steps.into_iter().filter_map(|step| match step {
            Step::Pool(edit) => Some(edit),
            _ => None,
        });
        let events = edits.flat_map(|edit| PoolEvent::of_edit(&edit, &zone_table()));
        events.map(|event| (event.reason, event.message)).collect()
    };
    world.deliver(&message(START, "a", 0));
    let active = "Zonal shift detected: offerings in zone us-west-2a (usw2-az1) are unavailable \
                  for this NodePool";
    assert_eq!(told(&world), [("ZonalShiftActive", active.to_owned())]);
    world.settle();
    assert_eq!(told(&world), []);
    world.now = at(60);
    world.deliver(&message(END, "a", 60));
    let cleared = "Zonal shift cleared: offerings in zone us-west-2a (usw2-az1) are restored for \
                   this NodePool";
    assert_eq!(told(&world), [("ZonalShiftCleared", cleared.to_owned())]);
}

#[test]
fn pools_that_are_not_pools_are_set_aside() {
    let mut odd = pool("odd", &[]);
    odd["spec"]["template"]["spec"]["requirements"] = json!("all of them");
    let mut world =
        World::new([odd, json!({}), json!(7), pool("web", &[zones("In", &["a", "b"])])]);
    world.happens(START, "a", 10);
    assert_eq!(*world.requirements("web"), json!([zones("In", &["b"])]));
    assert_eq!(world.skips().len(), 3);
    assert!(world.skips().iter().all(|(_, reason)| *reason == SkipReason::Unreadable));
}

/// Requirements on zones, of every operator, by name and by id, with and without `minValues`.
fn requirement() -> impl Strategy<Value = Value> {
    let letters = || prop::sample::subsequence(vec!["a", "b", "c", "d"], 1..=4).prop_shuffle();
    let min = || prop::option::of(1u64..4);
    let ids = |letters: &[&str]| -> Vec<String> {
        letters.iter().map(|letter| zone_id(letter).to_string()).collect()
    };
    prop_oneof![
        (letters(), min()).prop_map(|(letters, min)| {
            let entry = zones("In", &letters);
            min.map_or(entry.clone(), |min| with_min(entry, min.min(letters.len() as u64)))
        }),
        letters().prop_map(|letters| zones("NotIn", &letters)),
        letters().prop_map(move |letters| {
            let ids = ids(&letters);
            by_id("In", &ids.iter().map(String::as_str).collect::<Vec<_>>())
        }),
        Just(json!({"key": "topology.kubernetes.io/zone", "operator": "Exists"})),
        Just(arm()),
        Just(json!({"key": "topology.kubernetes.io/zone"})),
        Just(json!("nonsense")),
    ]
}

/// The zones of the cluster that the requirements leave, worked out the plain way.
fn usable(requirements: &Value, used: &BTreeSet<ZoneName>) -> BTreeSet<ZoneName> {
    let allows = |entry: &Value, name: &ZoneName| {
        let id = zone_table().id(name).unwrap().to_string();
        let listed: Vec<_> = entry["values"].as_array().cloned().unwrap_or_default();
        let is_listed = listed.contains(&json!(name.as_str())) || listed.contains(&json!(id));
        match (entry["key"].as_str(), entry["operator"].as_str()) {
            (Some(key), _) if !key.starts_with("topology") => true,
            (None, _) => true,
            (_, Some("In")) => is_listed,
            (_, Some("NotIn")) => !is_listed,
            (_, Some("Exists")) => true,
            _ => false,
        }
    };
    let all = requirements.as_array().unwrap();
    used.iter().filter(|name| all.iter().all(|entry| allows(entry, name))).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn whatever_the_requirements_a_pool_is_never_emptied_and_comes_back(
        requirements in prop::collection::vec(requirement(), 0..4),
        away in prop::sample::subsequence(vec!["a", "b", "c", "d"], 1..=3),
    ) {
        let before = pool("web", &requirements);
        let mut world = World::new([before.clone()]);
        world.used_zones = names(&["a", "b", "c", "d"]);
        let reached = usable(world.requirements("web"), &world.used_zones);
        for letter in &away {
            world.now = at(10);
            world.deliver(&message(START, letter, 10));
        }
        world.settle();
        let left = usable(world.requirements("web"), &world.used_zones);
        let avoided = names(&away);
        let skipped = !world.skips().is_empty();
        if skipped {
            prop_assert_eq!(&before, world.pool("web"));
        } else {
            let expected: BTreeSet<_> = reached.difference(&avoided).cloned().collect();
            prop_assert_eq!(&left, &expected);
            prop_assert!(!left.is_empty() || reached.is_empty());
        }
        for entry in world.requirements("web").as_array().unwrap() {
            let count = entry["values"].as_array().map_or(0, Vec::len);
            if entry["operator"] == "In" {
                prop_assert!(entry["minValues"].as_u64().unwrap_or(0) <= count as u64);
            }
        }
        prop_assert_eq!(world.plan().steps, vec![]);
        for letter in &away {
            world.happens(END, letter, 20);
        }
        prop_assert_eq!(before.to_string(), world.pool("web").to_string());
    }
}
