//! Selectors over label maps.

use kerf_model::selector::{LabelSelector, LabelSet, Selector, SelectorExpression};
use kerf_model::vocabulary::Vocabulary;
use serde_json::Value;

use super::{bits, map, recording, rows, text, texts};

fn selector(row: &Value) -> Option<LabelSelector> {
    let expression = |row: &Value| SelectorExpression {
        key: text(row, "key").to_owned(),
        operator: text(row, "operator").to_owned(),
        values: texts(row, "values").into_iter().map(str::to_owned).collect(),
    };
    row.is_object().then(|| LabelSelector {
        match_labels: map(&row["matchLabels"]),
        match_expressions: row["matchExpressions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(expression)
            .collect(),
    })
}

#[test]
fn selectors_match_and_are_refused_as_in_the_recording() {
    let recorded = recording("selectors");
    let mut words = Vocabulary::new();
    let labels: Vec<_> = rows(&recorded, "labels").iter().map(map).collect();
    let sets: Vec<_> = labels
        .iter()
        .map(|labels| labels.iter().map(|(key, value)| (key.as_str(), value.as_str())))
        .map(|labels| LabelSet::intern(labels, &mut words))
        .collect();
    for row in rows(&recorded, "selectors") {
        let compiled = Selector::compile(selector(&row["in"]).as_ref(), &mut words);
        let refused = row["error"] == true;
        assert_eq!(compiled.problem().is_some(), refused, "{row}");
        let expected = if refused { vec![false; sets.len()] } else { bits(&row["matches"]) };
        let actual: Vec<_> = sets.iter().map(|labels| compiled.matches(labels)).collect();
        assert_eq!(actual, expected, "{row}");
    }
}
