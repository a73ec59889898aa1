//! Single requirements and every pair of them.

use kerf_model::labels::{LabelRules, Normalization};
use kerf_model::requirement::Requirement;
use kerf_model::vocabulary::Vocabulary;
use serde_json::{Value, json};

use super::{bits, entry, recording, rows, text, texts};

/// Bounds that the reference reads by accident (text as 0, too large as the largest, below the
/// smallest as the largest). Kerf gives them no meaning or the one that is true; nobody can notice,
/// because such an entry is refused before it is used, which the test below checks.
const ACCIDENTS: [(&str, &str); 3] =
    [("Gte", "x"), ("Lte", "9223372036854775808"), ("Lt", "-9223372036854775808")];

fn is_accident(row: &Value) -> bool {
    ACCIDENTS.iter().any(|(operator, value)| {
        text(row, "operator") == *operator && texts(row, "values") == [*value]
    })
}

/// Compares everything that the recording says about a requirement.
fn assert_shape(actual: &Requirement, row: &Value, probes: &[&str], words: &Vocabulary) {
    let is = &row["is"];
    let entries = actual.to_entries(words);
    let api: Vec<_> =
        entries.iter().map(|each| json!([each.operator.as_str(), each.values])).collect();
    let has: Vec<_> = probes.iter().map(|probe| actual.has_text(probe, words)).collect();
    assert_eq!(json!(actual.is_complement()), is["complement"], "{row}");
    assert_eq!(words.sorted_texts(actual.key(), actual.values()), texts(is, "values"), "{row}");
    assert_eq!(actual.bounds().gte, is["gte"].as_i64(), "{row}");
    assert_eq!(actual.bounds().lte, is["lte"].as_i64(), "{row}");
    assert_eq!(actual.min_values().map(u64::from), is["minValues"].as_u64(), "{row}");
    assert_eq!(actual.operator().as_str(), text(is, "operator"), "{row}");
    assert_eq!(actual.text(words).to_string(), text(is, "text"), "{row}");
    assert_eq!(json!(api), is["api"], "{row}");
    assert!(entries.iter().all(|each| each.min_values == actual.min_values()), "{row}");
    assert_eq!(has, bits(&is["has"]), "{row}");
}

#[test]
fn requirements_and_their_intersections_agree_with_the_recording() {
    let recorded = recording("requirements");
    let probes = texts(&recorded, "probes");
    let mut words = Vocabulary::new();
    let mut built = Vec::new();
    for (position, row) in rows(&recorded, "requirements").iter().enumerate() {
        assert_eq!(row["id"], position, "ids are positions");
        let legal = !is_accident(row);
        let read = entry(row, "k").intern(&Normalization::core(), &mut words).ok();
        built.push(read.filter(|_| legal));
    }
    for (actual, row) in built.iter().zip(rows(&recorded, "requirements")) {
        match actual {
            Some(actual) => assert_shape(actual, row, &probes, &words),
            None => assert!(is_accident(row), "{row}"),
        }
    }
    let mut compared = 0;
    for row in rows(&recorded, "pairs") {
        let side = |name: &str| built[row[name].as_u64().expect("an id") as usize].as_ref();
        let (Some(a), Some(b)) = (side("a"), side("b")) else { continue };
        assert_eq!(json!(a.has_intersection(b, &words)), row["hit"], "{row}");
        assert_shape(&a.intersection(b, &words), row, &probes, &words);
        compared += 1;
    }
    assert_eq!(compared, (built.len() - ACCIDENTS.len()).pow(2));
}

#[test]
fn bounds_that_the_reference_reads_by_accident_are_refused_before_they_are_used() {
    let recorded = recording("requirements");
    let accidents: Vec<_> =
        rows(&recorded, "requirements").iter().filter(|row| is_accident(row)).collect();
    assert_eq!(accidents.len(), ACCIDENTS.len());
    for row in accidents {
        let review = entry(row, "k").check(&LabelRules::core());
        assert!(!review.problems.is_empty(), "{row}");
    }
}
