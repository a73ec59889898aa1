//! What must hold for every pair and triple of requirements.

use kerf_model::labels::Normalization;
use kerf_model::requirement::{Choice, Operator, Requirement, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeySet, Vocabulary};
use proptest::prelude::*;

const VALUES: [&str; 8] = ["a", "b", "", "1", "2", "3", "7", "+2"];
const PROBES: [&str; 10] = ["a", "b", "", "1", "2", "3", "7", "+2", "99", "never heard of"];

fn entry(keys: &'static [&'static str]) -> impl Strategy<Value = RequirementEntry> {
    let values = proptest::collection::vec(proptest::sample::select(&VALUES[..]), 0..5);
    let operator = proptest::sample::select(&Operator::ALL[..]);
    let min_values = proptest::option::of(1..4_u32);
    (proptest::sample::select(keys), operator, values, -1..9_i64, min_values).prop_map(
        |(key, operator, values, bound, min_values)| {
            let bound = bound.to_string();
            let values = if operator.is_bound() { vec![bound.as_str()] } else { values };
            RequirementEntry { min_values, ..RequirementEntry::new(key, operator, values) }
        },
    )
}

/// One to three entries on the same key, intersected: the shapes that occur in practice.
fn shapes() -> impl Strategy<Value = Vec<RequirementEntry>> {
    proptest::collection::vec(entry(&["k"]), 1..4)
}

fn build(entries: &[RequirementEntry], vocabulary: &mut Vocabulary) -> Requirement {
    let mut built = Requirement::exists(vocabulary.key("k"));
    for entry in entries {
        let next = entry.intern(&Normalization::core(), vocabulary).expect("bounds are integers");
        built.intersect_with(&next, vocabulary);
    }
    built
}

fn set() -> impl Strategy<Value = Vec<RequirementEntry>> {
    proptest::collection::vec(entry(&["k", "kubernetes.io/arch", "team", "zone"]), 0..5)
}

fn build_set(entries: &[RequirementEntry], vocabulary: &mut Vocabulary) -> Requirements {
    Requirements::from_entries(entries, &Normalization::core(), vocabulary)
        .expect("bounds are integers")
}

fn has(requirement: &Requirement, vocabulary: &Vocabulary) -> Vec<bool> {
    PROBES.iter().map(|probe| requirement.has_text(probe, vocabulary)).collect()
}

/// Equal to a reader, and equal as sets.
fn assert_same(left: &Requirement, right: &Requirement, vocabulary: &Vocabulary) {
    assert_eq!(left.text(vocabulary).to_string(), right.text(vocabulary).to_string());
    assert_eq!(has(left, vocabulary), has(right, vocabulary));
    assert_eq!(left, right);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_texts_rule_out_has_no_value_in_common(asked in entry(&["k"]), told in entry(&["k"])) {
        let mut words = Vocabulary::new();
        let [left, right] = [&asked, &told].map(|it| build(std::slice::from_ref(it), &mut words));
        let listed = told.operator == Operator::In && !told.values.is_empty();
        prop_assert_eq!(asked.rules_out(&told), listed && !left.admits(&right, &words));
    }

    #[test]
    fn intersection_is_commutative_associative_and_idempotent(
        a in shapes(), b in shapes(), c in shapes()
    ) {
        let mut words = Vocabulary::new();
        let [a, b, c] = [a, b, c].map(|entries| build(&entries, &mut words));
        let ab = a.intersection(&b, &words);
        assert_same(&ab, &b.intersection(&a, &words), &words);
        let bc = b.intersection(&c, &words);
        assert_same(&ab.intersection(&c, &words), &a.intersection(&bc, &words), &words);
        assert_same(&a.intersection(&a, &words), &a, &words);
        assert_same(&ab.intersection(&b, &words), &ab, &words);
    }

    #[test]
    fn a_value_is_in_the_intersection_exactly_if_both_have_it(a in shapes(), b in shapes()) {
        let mut words = Vocabulary::new();
        let [a, b] = [a, b].map(|entries| build(&entries, &mut words));
        let both = a.intersection(&b, &words);
        for probe in PROBES {
            let expected = a.has_text(probe, &words) && b.has_text(probe, &words);
            prop_assert_eq!(both.has_text(probe, &words), expected, "{:?}", probe);
        }
    }

    #[test]
    fn has_intersection_agrees_with_the_built_intersection(a in shapes(), b in shapes()) {
        let mut words = Vocabulary::new();
        let [a, b] = [a, b].map(|entries| build(&entries, &mut words));
        let built = !a.intersection(&b, &words).is_empty();
        prop_assert_eq!(a.has_intersection(&b, &words), built);
        prop_assert_eq!(b.has_intersection(&a, &words), built);
    }

    #[test]
    fn the_api_form_reads_back_as_the_same_set_unless_it_has_bounds_and_values(a in shapes()) {
        let mut words = Vocabulary::new();
        let a = build(&a, &mut words);
        let read = build(&a.to_entries(&words), &mut words);
        if a.bounds().is_open() || a.values().is_empty() {
            assert_same(&read, &a, &words);
        } else {
            // The API cannot say both, so forbidden values come back as allowed ones.
            prop_assert_eq!(read.bounds(), a.bounds());
            prop_assert!(read.values().is_empty());
        }
    }

    #[test]
    fn a_choice_is_one_of_the_allowed_values(a in shapes(), pick in any::<u64>()) {
        let mut words = Vocabulary::new();
        let a = build(&a, &mut words);
        match a.any(pick, &words) {
            Choice::Listed(value) => prop_assert!(a.has(value, &words)),
            Choice::Integer(n) => prop_assert!(a.has_text(&n.to_string(), &words)),
            Choice::Nothing => prop_assert!(a.is_empty() || !a.bounds().is_open()),
        }
    }

    #[test]
    fn compatible_implies_intersects_and_explanations_agree(a in set(), b in set()) {
        let mut words = Vocabulary::new();
        let well_known: KeySet = [words.key("kubernetes.io/arch")].into_iter().collect();
        let [a, b] = [a, b].map(|entries| build_set(&entries, &mut words));
        let strict = a.compatible(&b, &KeySet::new(), &words);
        let lenient = a.compatible(&b, &well_known, &words);
        prop_assert!(!strict || lenient, "what is defined stays compatible");
        prop_assert!(!lenient || a.intersects(&b, &words));
        prop_assert_eq!(a.explain(&b, &KeySet::new(), &words).is_ok(), strict);
        prop_assert_eq!(a.explain(&b, &well_known, &words).is_ok(), lenient);
        let intersects = a.intersects(&b, &words);
        prop_assert_eq!(a.explain_intersects(&b, &words).is_ok(), intersects);
        prop_assert_eq!(b.intersects(&a, &words), intersects);
    }

    #[test]
    fn narrowing_a_set_intersects_key_by_key(a in set(), b in set()) {
        let mut words = Vocabulary::new();
        let [a, b] = [a, b].map(|entries| build_set(&entries, &mut words));
        let mut narrowed = a.clone();
        narrowed.narrow(&b, &words);
        let mut keys = a.keys();
        keys.or_with(&b.keys());
        prop_assert_eq!(narrowed.keys(), keys);
        for both in narrowed.iter() {
            let expected = a.get(both.key()).intersection(&b.get(both.key()), &words);
            assert_same(both, &expected, &words);
        }
    }
}
