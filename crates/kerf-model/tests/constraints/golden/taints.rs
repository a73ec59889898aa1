//! Taints against tolerations.

use kerf_model::taint::{
    Taint, TaintEffect, Toleration, TolerationOperator, is_known_ephemeral, untolerated,
};
use serde_json::Value;

use super::{bits, recording, rows, text, texts};

/// `None` for a taint without effect: the API refuses it, so it has no place in the model.
fn taint(row: &Value) -> Option<Taint> {
    let effect = text(row, "effect").parse().ok()?;
    Some(Taint::new(text(row, "key"), text(row, "value"), effect))
}

/// `None` for an operator that does not exist, which tolerates nothing.
fn toleration(row: &Value) -> Option<Toleration> {
    let effect = text(row, "effect");
    let known = || effect.parse::<TaintEffect>().expect("a known effect");
    Some(Toleration {
        key: text(row, "key").to_owned(),
        operator: TolerationOperator::parse(text(row, "operator"))?,
        value: text(row, "value").to_owned(),
        effect: (!effect.is_empty()).then(known),
    })
}

#[test]
fn each_toleration_accepts_the_taints_of_the_recording() {
    let recorded = recording("taints");
    let ephemeral = bits(&recorded["ephemeral"][0]);
    let tolerations: Vec<_> = rows(&recorded, "tolerations").iter().map(toleration).collect();
    let mut refused = 0;
    for (position, row) in rows(&recorded, "taints").iter().enumerate() {
        let Some(taint) = taint(row) else {
            refused += 1;
            continue;
        };
        assert_eq!(is_known_ephemeral(&taint), ephemeral[position], "{row}");
        let expected = bits(&recorded["matrix"][position]);
        assert_eq!(expected.len(), tolerations.len());
        for (toleration, expected) in tolerations.iter().zip(expected) {
            let actual = toleration.as_ref().is_some_and(|each| each.tolerates(&taint));
            assert_eq!(actual, expected, "{taint} {toleration:?}");
        }
    }
    assert_eq!(refused, 1, "only the taint without effect is refused");
}

#[test]
fn lists_are_tolerated_as_in_the_recording() {
    let recorded = recording("taints");
    let mut compared = 0;
    for row in rows(&recorded, "lists") {
        let list = |name: &str| row[name].as_array().expect("a list").iter();
        let Some(taints) = list("taints").map(taint).collect::<Option<Vec<_>>>() else { continue };
        let tolerations: Vec<_> = list("tolerations").filter_map(toleration).collect();
        let left = untolerated(&taints, &tolerations);
        let messages: Vec<_> =
            left.map(|taint| format!("did not tolerate taint (taint={taint})")).collect();
        assert_eq!(messages, texts(row, "errors"), "{row}");
        compared += 1;
    }
    assert!(compared > 100, "{compared} lists were compared");
}
