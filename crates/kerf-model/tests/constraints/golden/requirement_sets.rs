//! Two sides against each other.

use kerf_model::labels::{LabelRules, Normalization};
use kerf_model::requirements::{Incompatible, Requirements};
use kerf_model::vocabulary::{KeySet, Vocabulary};
use serde_json::Value;

use super::{entry, recording, rows, text, texts};

fn side(row: &Value, words: &mut Vocabulary) -> Requirements {
    let list = row.as_array().expect("a list of entries");
    let entries: Vec<_> = list.iter().map(|each| entry(each, text(each, "key"))).collect();
    Requirements::from_entries(&entries, &Normalization::core(), words).expect("legal bounds")
}

/// Compares an answer with `"ok"`, one of several messages, or several messages joined.
fn assert_outcome(answer: Result<(), Incompatible>, fast: bool, expected: &Value, row: &Value) {
    assert_eq!(answer.is_ok(), expected == "ok", "{row}");
    assert_eq!(answer.is_ok(), fast, "{row}");
    let Err(error) = answer else { return };
    let message = error.to_string();
    if expected["anyOf"].is_array() {
        assert!(texts(expected, "anyOf").contains(&message.as_str()), "{message}: {row}");
    } else {
        assert_eq!(message, texts(expected, "allOf").join("; "), "{row}");
    }
}

#[test]
fn compatibility_and_its_messages_agree_with_the_recording() {
    let recorded = recording("requirement_sets");
    let rules = LabelRules::core();
    assert!(rules.well_known().eq(texts(&recorded, "wellKnown")));
    for row in rows(&recorded, "rows") {
        let mut words = Vocabulary::new();
        let well_known = rules.well_known_ids(&mut words);
        let (a, b) = (side(&row["a"], &mut words), side(&row["b"], &mut words));
        for (allowed, name) in [(&KeySet::new(), "strict"), (&well_known, "lenient")] {
            let fast = a.compatible(&b, allowed, &words);
            assert_outcome(a.explain(&b, allowed, &words), fast, &row[name], row);
        }
        let fast = a.intersects(&b, &words);
        assert_outcome(a.explain_intersects(&b, &words), fast, &row["intersects"], row);
        assert_eq!(a.text(&words).to_string(), text(row, "text"), "{row}");
    }
}
