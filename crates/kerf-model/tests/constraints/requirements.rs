//! Sets of requirements: the node side and the pod side.

use std::collections::BTreeMap;

use kerf_model::labels::{LabelRules, Normalization};
use kerf_model::requirements::{
    Conflict, ConflictKind, NodeAffinity, PodPlacement, Preferences, PreferredTerm, Requirements,
};
use kerf_model::vocabulary::{KeyId, KeySet, Vocabulary};

use crate::words::{entry, requirements};

const ZONE: &str = "topology.kubernetes.io/zone";

#[test]
fn compatibility_is_that_of_the_specification() {
    // Node side, pod side, strict, lenient.
    let table = [
        ("ZONE In z1", "team In a", false, false),
        ("team Exists", "ZONE In z1", false, true),
        ("ZONE In z1", "gpu NotIn x", true, true),
        ("ZONE In z1", "gpu DoesNotExist", true, true),
        ("ZONE In z1", "ZONE In z1 z2", true, true),
        ("ZONE In z1", "ZONE In z2", false, false),
        ("gpu DoesNotExist", "gpu NotIn a", true, true),
        ("gpu NotIn a", "gpu DoesNotExist", true, true),
        ("gpu DoesNotExist", "gpu Exists", false, false),
        ("gpu Exists", "gpu DoesNotExist", false, false),
        ("gpu In a", "gpu NotIn a", false, false),
        ("cpu Gte 4,cpu Lte 8", "cpu In 6 x", true, true),
        ("cpu Gte 4,cpu Lte 8", "cpu In 9 x", false, false),
        ("", "", true, true),
    ];
    for (node, pod, strict, lenient) in table {
        let mut vocabulary = Vocabulary::new();
        let well_known = LabelRules::core().well_known_ids(&mut vocabulary);
        let node_side = requirements(&node.replace("ZONE", ZONE), &mut vocabulary);
        let pod_side = requirements(&pod.replace("ZONE", ZONE), &mut vocabulary);
        let compatible = |allowed: &KeySet| node_side.compatible(&pod_side, allowed, &vocabulary);
        assert_eq!(compatible(&KeySet::new()), strict, "strict: {node} for {pod}");
        assert_eq!(compatible(&well_known), lenient, "lenient: {node} for {pod}");
    }
}

#[test]
fn a_claim_narrows_to_the_zone_its_pod_needs() {
    let mut vocabulary = Vocabulary::new();
    let mut claim = requirements("team In a", &mut vocabulary);
    let pod = requirements(&format!("{ZONE} In z1,team Exists"), &mut vocabulary);
    claim.narrow(&pod, &vocabulary);
    let expected = format!("team In [a], {ZONE} In [z1]");
    assert_eq!(claim.text(&vocabulary).to_string(), expected);
}

#[test]
fn an_absent_key_reads_as_exists_and_a_key_added_twice_is_narrowed() {
    let mut vocabulary = Vocabulary::new();
    let set = requirements("cpu Gt 3,cpu Lt 5", &mut vocabulary);
    assert_eq!(set.len(), 1);
    let cpu = set.get(vocabulary.key("cpu"));
    assert_eq!(cpu.text(&vocabulary).to_string(), "cpu Exists >=4 <=4");
    assert_eq!(set.get(KeyId::ZONE).text(&vocabulary).to_string(), format!("{ZONE} Exists"));
    assert!(!set.contains(KeyId::ZONE) && set.find(KeyId::ZONE).is_none());
}

#[test]
fn printed_sets_are_sorted_and_leave_the_hostname_out() {
    let mut vocabulary = Vocabulary::new();
    let text = "zebra Exists,kubernetes.io/hostname In n1,apple In b a minValues=1";
    let set = requirements(text, &mut vocabulary);
    assert_eq!(set.text(&vocabulary).to_string(), "apple In [a b] minValues 1, zebra Exists");
}

#[test]
fn replacing_widens_and_removing_forgets() {
    let mut vocabulary = Vocabulary::new();
    let mut set = requirements("k In a,m In b", &mut vocabulary);
    let wide = requirements("k In a c", &mut vocabulary);
    let key = vocabulary.key("k");
    set.replace(wide.get(key));
    assert_eq!(set.text(&vocabulary).to_string(), "k In [a c], m In [b]");
    assert!(set.remove(key).is_some() && set.remove(key).is_none());
    assert_eq!(set.text(&vocabulary).to_string(), "m In [b]");
}

#[test]
fn explanations_name_the_key_both_sides_and_a_likely_typo() {
    let table = [
        ("", "zone In z1", "label \"zone\" does not have known values (typo of \"ZONE\"?)"),
        (
            "",
            "example.com/zone Exists",
            "label \"example.com/zone\" does not have known values \
          (typo of \"ZONE\"?)",
        ),
        (
            "my.org/team In a",
            "team In a",
            "label \"team\" does not have known values \
          (typo of \"my.org/team\"?)",
        ),
        ("", "b Exists,a Exists", "label \"a\" does not have known values (typo of \"TYPE\"?)"),
        ("", "quux Exists", "label \"quux\" does not have known values"),
        (
            "k In a,j In x",
            "k In b,j In y",
            "key j, j In [y] not in j In [x]; \
          key k, k In [b] not in k In [a]",
        ),
    ];
    for (node, pod, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let well_known = LabelRules::core().well_known_ids(&mut vocabulary);
        let node = requirements(node, &mut vocabulary);
        let pod = requirements(pod, &mut vocabulary);
        let error = node.explain(&pod, &well_known, &vocabulary).expect_err("it is refused");
        let expected = expected.replace("ZONE", ZONE).replace("TYPE", "karpenter.sh/capacity-type");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_first_conflict_says_key_and_kind() {
    let mut vocabulary = Vocabulary::new();
    let node = requirements("k In a", &mut vocabulary);
    let key = vocabulary.key("k");
    let pod = requirements("k In b", &mut vocabulary);
    let strict = KeySet::new();
    let disjoint = Conflict { key, kind: ConflictKind::Disjoint };
    assert_eq!(node.conflict(&pod, &strict, &vocabulary), Some(disjoint));
    let other = requirements("m In b", &mut vocabulary);
    let undefined = Conflict { key: vocabulary.key("m"), kind: ConflictKind::Undefined };
    assert_eq!(node.conflict(&other, &strict, &vocabulary), Some(undefined));
    assert_eq!(node.conflict(&node, &strict, &vocabulary), None);
}

fn picky_pod() -> PodPlacement {
    let preferred = |weight, text| PreferredTerm { weight, expressions: vec![entry(text)] };
    PodPlacement {
        node_selector: BTreeMap::from([("beta.kubernetes.io/arch".into(), "arm64".into())]),
        node_affinity: NodeAffinity {
            required: vec![vec![entry("k In a b"), entry("k NotIn b")], vec![entry("k In z")]],
            preferred: vec![
                preferred(1, "light Exists"),
                preferred(50, "heavy In x"),
                preferred(50, "as-heavy In y"),
            ],
            required_by_field: false,
        },
    }
}

#[test]
fn a_pod_asks_for_its_selector_its_first_term_and_its_heaviest_preference() {
    let table = [
        (Preferences::Heaviest, "heavy In [x], k In [a], kubernetes.io/arch In [arm64]"),
        (Preferences::Ignored, "k In [a], kubernetes.io/arch In [arm64]"),
    ];
    for (preferences, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let asked = picky_pod()
            .requirements(preferences, &Normalization::core(), &mut vocabulary)
            .expect("no bounds");
        assert_eq!(asked.text(&vocabulary).to_string(), expected);
    }
}

#[test]
fn a_preference_without_meaning_is_dropped_but_a_required_term_without_meaning_is_refused() {
    let mut vocabulary = Vocabulary::new();
    let mut pod = picky_pod();
    pod.node_affinity.preferred[1].expressions = vec![entry("heavy Gt x")];
    let mut read = |pod: &PodPlacement| {
        pod.requirements(Preferences::Heaviest, &Normalization::core(), &mut vocabulary)
    };
    assert_eq!(read(&pod).expect("the preference is dropped").len(), 2);
    pod.node_affinity.required[0][0] = entry("k Gt x");
    assert!(read(&pod).is_err());
}

#[test]
fn labels_become_single_values_under_their_normal_names() {
    let mut vocabulary = Vocabulary::new();
    let labels = [("beta.kubernetes.io/instance-type", "m5.large"), ("team", "a")];
    let set = Requirements::from_labels(labels, &Normalization::core(), &mut vocabulary);
    let expected = "node.kubernetes.io/instance-type In [m5.large], team In [a]";
    assert_eq!(set.text(&vocabulary).to_string(), expected);
    let entries = set.to_entries(&vocabulary);
    let expected = [entry("node.kubernetes.io/instance-type In m5.large"), entry("team In a")];
    assert_eq!(entries, expected);
}

#[test]
fn a_pod_is_refused_for_what_it_must_have_but_not_for_what_it_prefers() {
    let rules = LabelRules::core();
    let mut pod = picky_pod();
    pod.node_affinity.preferred[0].expressions = vec![entry("kubernetes.io/hostname In n1")];
    assert_eq!(pod.check(&rules), []);
    pod.node_selector.insert("karpenter.sh/custom".into(), "a".into());
    pod.node_affinity.required[1].push(entry("kubernetes.io/hostname In n1"));
    pod.node_affinity.required_by_field = true;
    let problems: Vec<_> = pod.check(&rules).iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    for (problem, part) in problems.iter().zip(["matchFields", "managed domain", "single node"]) {
        assert!(problem.contains(part), "{problem}");
    }
}
