//! One requirement: the tables of the specification.

use kerf_model::labels::{LabelRules, Normalization, ProviderLabels};
use kerf_model::requirement::{Choice, Operator, Requirement, RequirementEntry};
use kerf_model::vocabulary::{KeyId, ValueSet, Vocabulary};

use crate::words::{entry, requirement};

/// Intersects every pair both ways and compares the printed result.
fn assert_intersections(table: &[(&str, &str, &str)]) {
    for (left, right, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let a = requirement(left, &mut vocabulary);
        let b = requirement(right, &mut vocabulary);
        for both in [a.intersection(&b, &vocabulary), b.intersection(&a, &vocabulary)] {
            assert_eq!(both.text(&vocabulary).to_string(), *expected, "{left} with {right}");
        }
    }
}

#[test]
fn intersections_are_those_of_the_specification() {
    assert_intersections(&[
        ("k In a b", "k NotIn b", "k In [a]"),
        ("k NotIn a", "k NotIn b", "k NotIn [a b]"),
        ("k Exists", "k DoesNotExist", "k DoesNotExist"),
        ("k NotIn a", "k DoesNotExist", "k DoesNotExist"),
        ("k Gt 3", "k Lt 5", "k Exists >=4 <=4"),
        ("k Gt 4", "k Lt 5", "k DoesNotExist"),
        ("k In 2 8 x", "k Gte 4", "k In [8]"),
        ("k In a b", "k In b c", "k In [b]"),
        ("k In a", "k In b", "k DoesNotExist"),
        ("k NotIn 3 9 x", "k Gte 5", "k NotIn [9] >=5"),
        ("k Gte 5 minValues=2", "k Lte 4 minValues=3", "k DoesNotExist minValues 3"),
        ("k In a b minValues=2", "k Exists minValues=1", "k In [a b] minValues 2"),
        ("k Gte 3", "k Gt 3", "k Exists >=4"),
        ("k Lte 3", "k Lt 3", "k Exists <=2"),
    ]);
}

#[test]
fn both_bounds_become_two_entries_and_one_bound_hides_the_forbidden_values() {
    let table: [(&[&str], &[&str]); 6] = [
        (&["k Gt 3", "k Lt 5"], &["k Gte 4", "k Lte 4"]),
        (&["k Gt 3 minValues=2", "k Lt 9"], &["k Gte 4 minValues=2", "k Lte 8 minValues=2"]),
        (&["k Gte 5", "k NotIn 7"], &["k Gte 5"]),
        (&["k NotIn b a"], &["k NotIn a b"]),
        (&["k Exists"], &["k Exists"]),
        (&["k In a", "k In b"], &["k DoesNotExist"]),
    ];
    for (parts, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let mut all = requirement(parts[0], &mut vocabulary);
        for part in &parts[1..] {
            let more = requirement(part, &mut vocabulary);
            all.intersect_with(&more, &vocabulary);
        }
        let expected: Vec<_> = expected.iter().map(|text| entry(text)).collect();
        assert_eq!(all.to_entries(&vocabulary), expected, "{parts:?}");
    }
}

#[test]
fn the_largest_and_smallest_integers_do_not_overflow() {
    let key = KeyId::ZONE;
    assert!(Requirement::greater_than(key, i64::MAX).is_empty());
    assert!(Requirement::less_than(key, i64::MIN).is_empty());
    assert_eq!(Requirement::at_least(key, i64::MAX).bounds().gte, Some(i64::MAX));
    assert_eq!(Requirement::greater_than(key, i64::MAX - 1).bounds().gte, Some(i64::MAX));
}

#[test]
fn length_operator_and_single_value_follow_from_the_set() {
    let table = [
        ("k In a b", Operator::In, 2, false, false),
        ("k In a", Operator::In, 1, false, true),
        ("k In", Operator::DoesNotExist, 0, true, false),
        ("k NotIn a", Operator::NotIn, i64::MAX as u64 - 1, true, false),
        ("k NotIn", Operator::Exists, i64::MAX as u64, false, false),
        ("k Exists", Operator::Exists, i64::MAX as u64, false, false),
        ("k Gt 5", Operator::Exists, i64::MAX as u64, false, false),
        ("k DoesNotExist", Operator::DoesNotExist, 0, true, false),
    ];
    for (text, operator, length, negative, single) in table {
        let mut vocabulary = Vocabulary::new();
        let actual = requirement(text, &mut vocabulary);
        assert_eq!(actual.operator(), operator, "{text}");
        assert_eq!(actual.len(), length, "{text}");
        assert_eq!(actual.is_empty(), length == 0, "{text}");
        assert_eq!(actual.is_negative(), negative, "{text}");
        assert_eq!(actual.single_value().is_some(), single, "{text}");
    }
}

#[test]
fn a_choice_is_allowed_and_the_same_pick_chooses_the_same() {
    let table: [(&str, u64, &str); 11] = [
        ("k In b a c", 0, "b"),
        ("k In b a c", 4, "a"),
        ("k Gte 4", 0, "4"),
        ("k Gte 4", 3, "7"),
        ("k Lte 2", 3, "0"),
        ("k Lt -3", 0, "-9223372036854775808"),
        ("k Gte -5", 0, "0"),
        ("k Exists", u64::MAX, "9223372036854775807"),
        ("k NotIn 0 1", 0, "2"),
        ("k NotIn x", 1, "1"),
        ("k DoesNotExist", 9, ""),
    ];
    for (text, pick, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let actual = requirement(text, &mut vocabulary);
        let choice = actual.any(pick, &vocabulary);
        assert_eq!(choice.text(actual.key(), &vocabulary), expected, "{text} pick {pick}");
    }
}

#[test]
fn nothing_is_chosen_when_every_integer_within_bounds_is_forbidden() {
    let mut vocabulary = Vocabulary::new();
    let mut narrow = requirement("k NotIn 4 5", &mut vocabulary);
    narrow.intersect_with(&requirement("k Gte 4", &mut vocabulary), &vocabulary);
    narrow.intersect_with(&requirement("k Lte 5", &mut vocabulary), &vocabulary);
    assert_eq!(narrow.any(17, &vocabulary), Choice::Nothing);
}

#[test]
fn old_spellings_and_provider_rewrites_are_normalised_keys_before_values() {
    let provider = ProviderLabels::new()
        .alias("topology.csi/zone", "topology.kubernetes.io/zone")
        .rewrite_value("topology.kubernetes.io/zone", "", "0")
        .rewrite_value("topology.csi/zone", "x", "never used");
    let rules = LabelRules::core().with(&provider);
    let table = [
        ("topology.csi/zone", "", "topology.kubernetes.io/zone In [0]"),
        ("topology.csi/zone", "x", "topology.kubernetes.io/zone In [x]"),
        ("failure-domain.beta.kubernetes.io/zone", "", "topology.kubernetes.io/zone In [0]"),
        ("beta.kubernetes.io/os", "linux", "kubernetes.io/os In [linux]"),
        ("team", "", "team In []"),
    ];
    for (key, value, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let entry = RequirementEntry::new(key, Operator::In, [value]);
        let actual = entry.intern(rules.normalization(), &mut vocabulary).expect("no bound");
        assert_eq!(actual.text(&vocabulary).to_string(), expected);
    }
}

#[test]
fn a_bound_without_exactly_one_integer_has_no_meaning() {
    for text in ["k Gt", "k Lt 1 2", "k Gte x", "k Lte 9223372036854775808"] {
        let mut vocabulary = Vocabulary::new();
        let error =
            entry(text).intern(&Normalization::core(), &mut vocabulary).expect_err("it is refused");
        assert!(error.to_string().contains("exactly one integer"), "{error}");
    }
}

#[test]
fn entries_are_refused_for_the_reasons_of_the_specification() {
    let table: [(&str, &[&str]); 14] = [
        ("team In a", &[]),
        ("team In", &["at least one value"]),
        ("team In a minValues=2", &["lists 1 values but asks for minValues 2"]),
        ("team Gt 0", &[]),
        ("team Gt -1", &["non-negative integer", "not a label value"]),
        ("team Lte 1 2", &["non-negative integer"]),
        ("team NotIn", &[]),
        ("kubernetes.io/hostname Exists", &["single node"]),
        ("karpenter.sh/custom Exists", &["managed domain"]),
        ("bad/key/name Exists", &["at most one"]),
        ("team In ok -bad", &["not a label value"]),
        ("karpenter.sh/capacity-type In spot cheap", &[]),
        ("karpenter.sh/capacity-type In cheap", &["on-demand, reserved, spot"]),
        ("karpenter.sh/capacity-type In spot cheap minValues=2", &["lists 1 of"]),
    ];
    for (text, expected) in table {
        let problems = entry(text).check(&LabelRules::core()).problems;
        let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), expected.len(), "{text}: {messages:?}");
        for part in expected {
            assert!(messages.iter().any(|message| message.contains(part)), "{text}: {messages:?}");
        }
    }
    let review = entry("karpenter.sh/capacity-type In spot cheap").check(&LabelRules::core());
    assert_eq!(review.meaningless_values, ["cheap"]);
}

#[test]
fn two_complements_intersect_even_when_the_bounds_leave_only_forbidden_values() {
    let mut vocabulary = Vocabulary::new();
    let four = vocabulary.key("k");
    let value = vocabulary.value(four, "4");
    let not_four = Requirement::none_of(four, ValueSet::of(value));
    let mut only_four = Requirement::at_least(four, 4);
    only_four.intersect_with(&Requirement::at_most(four, 4), &vocabulary);
    assert!(only_four.has_intersection(&not_four, &vocabulary));
}
