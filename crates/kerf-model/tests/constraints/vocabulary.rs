//! Interning of keys and values.

use kerf_model::labels::well_known;
use kerf_model::vocabulary::{KeyId, Vocabulary, parse_integer};

#[test]
fn the_named_keys_are_the_first_keys_of_every_vocabulary() {
    let vocabulary = Vocabulary::new();
    let named = [
        (KeyId::NODE_POOL, well_known::NODE_POOL),
        (KeyId::ZONE, well_known::ZONE),
        (KeyId::REGION, well_known::REGION),
        (KeyId::INSTANCE_TYPE, well_known::INSTANCE_TYPE),
        (KeyId::ARCH, well_known::ARCH),
        (KeyId::OS, well_known::OS),
        (KeyId::CAPACITY_TYPE, well_known::CAPACITY_TYPE),
        (KeyId::WINDOWS_BUILD, well_known::WINDOWS_BUILD),
        (KeyId::HOSTNAME, well_known::HOSTNAME),
    ];
    assert!(vocabulary.keys().eq(named));
}

#[test]
fn ids_follow_the_order_of_interning_and_values_are_dense_within_their_key() {
    let mut vocabulary = Vocabulary::new();
    let (cpu, team) = (vocabulary.key("cpu"), vocabulary.key("team"));
    assert_eq!((cpu.0, team.0), (9, 10));
    assert_eq!(vocabulary.key("cpu"), cpu, "a known key keeps its id");
    let values = ["16", "4", "16", "many"].map(|text| vocabulary.value(cpu, text).0);
    assert_eq!(values, [0, 1, 0, 2]);
    assert_eq!(vocabulary.value(team, "a").0, 0);
    assert_eq!((vocabulary.value_count(cpu), vocabulary.key_count()), (3, 11));
    assert_eq!(vocabulary.find_value(team, "16"), None);
    assert_eq!(vocabulary.find_key("nobody"), None);
}

#[test]
fn integers_are_cached_beside_their_texts() {
    let mut vocabulary = Vocabulary::new();
    let key = vocabulary.key("cpu");
    let four = vocabulary.value(key, "4");
    let many = vocabulary.value(key, "many");
    assert_eq!(vocabulary.integer(key, four), Some(4));
    assert_eq!(vocabulary.integer(key, many), None);
    assert_eq!(vocabulary.value_text(key, four), "4");
}

#[test]
fn integers_are_read_as_kubernetes_reads_them() {
    let table = [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("+5", Some(5)),
        ("007", Some(7)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("", None),
        ("-", None),
        (" 5", None),
        ("5 ", None),
        ("1_000", None),
        ("1.5", None),
        ("0x10", None),
        ("٥", None),
    ];
    for (text, expected) in table {
        assert_eq!(parse_integer(text), expected, "{text:?}");
    }
}
