//! `minValues` over lists of instance types.

use kerf_model::min_values::review_min_values;
use kerf_model::vocabulary::Vocabulary;

use crate::words::requirements;

const TYPES: [&str; 4] = [
    "type In c4.large,family In c4",
    "type In c4.xlarge,family In c4",
    "type In c5.large,family In c5,arch In amd64 arm64",
    "type In m4.large,family In m4,free NotIn x",
];

/// Key, values wanted, values there are.
type Short = (&'static str, u32, u32);

#[test]
fn the_shortest_prefix_and_the_shortfalls_are_found() {
    // Asked, types needed, shortfalls.
    let table: [(&str, usize, &[Short]); 9] = [
        ("type Exists", 0, &[]),
        ("type Exists minValues=1", 1, &[]),
        ("type Exists minValues=2", 2, &[]),
        ("family Exists minValues=2", 3, &[]),
        ("type Exists minValues=2,family In c4 c5 m4 minValues=3", 4, &[]),
        ("arch Exists minValues=2", 3, &[]),
        ("family Exists minValues=4", 4, &[("family", 4, 3)]),
        (
            "family Exists minValues=4,type Exists minValues=9",
            4,
            &[("family", 4, 3), ("type", 9, 4)],
        ),
        ("free Exists minValues=1,none Exists minValues=1", 4, &[("free", 1, 0), ("none", 1, 0)]),
    ];
    for (asked, needed, shortfalls) in table {
        let mut vocabulary = Vocabulary::new();
        let asked_set = requirements(asked, &mut vocabulary);
        let types = TYPES.map(|text| requirements(text, &mut vocabulary));
        let review = review_min_values(&asked_set, &types);
        let mut actual: Vec<_> = review
            .shortfalls
            .iter()
            .map(|each| (vocabulary.key_text(each.key), each.wanted, each.achieved))
            .collect();
        actual.sort_unstable();
        assert_eq!((review.needed_types, actual.as_slice()), (needed, shortfalls), "{asked}");
        assert_eq!(review.is_satisfied(), shortfalls.is_empty());
    }
}

#[test]
fn no_instance_type_satisfies_no_minimum() {
    let mut vocabulary = Vocabulary::new();
    let asked = requirements("type Exists minValues=1", &mut vocabulary);
    let review = review_min_values(&asked, []);
    assert_eq!(review.needed_types, 0);
    assert!(!review.is_satisfied());
}
