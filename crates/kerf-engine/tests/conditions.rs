//! Conditions are set, cleared and ordered as recorded from the original.

#![allow(clippy::unwrap_used)]

use kerf_engine::condition::{Condition, Conditions, Draft, Status, claim};
use kerf_engine::observed::{Meta, Revision};
use kerf_engine::time::Time;
use serde_json::Value;

fn recorded() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/recorded/conditions.json");
    let text = std::fs::read_to_string(path).unwrap();
    let recording: Value = serde_json::from_str(&text).unwrap();
    recording["rows"].as_array().unwrap().clone()
}

/// Carries out one recorded step and answers as the original did.
fn step(stored: &mut Conditions, meta: &mut Meta, step: &Value) -> Value {
    let now = Time::from_seconds(step["at"].as_i64().unwrap());
    let word = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    let (op, kind, reason, message) = (word("op"), word("type"), word("reason"), word("message"));
    match op.as_str() {
        "generation" => {
            meta.generation += 1;
            return Value::Null;
        }
        "delete" => {
            meta.deleting_since = Some(now);
            return Value::Null;
        }
        _ => {}
    }
    let mut draft = Draft::of(stored, &claim::DEPENDENTS, meta, now);
    let answer = match op.as_str() {
        "init" => Value::Null,
        "true" if reason.is_empty() => draft.set_true(&kind).into(),
        "true" => draft.set_true_because(&kind, &reason, &message).into(),
        "false" => draft.set_false(&kind, &reason, &message).into(),
        "unknown" if reason.is_empty() => draft.reset(&kind).into(),
        "unknown" => draft.set_unknown(&kind, &reason, &message).into(),
        "clear" => draft.clear(&kind).map_or_else(|_| "refused".into(), |()| Value::Null),
        other => panic!("a step nobody knows: {other}"),
    };
    *stored = draft.into_conditions();
    answer
}

fn as_recorded(condition: &Condition) -> Value {
    serde_json::json!({
        "type": condition.kind,
        "status": condition.status.to_string(),
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": condition.changed_at.seconds(),
        "reason": condition.reason,
        "message": condition.message,
    })
}

fn object(created: i64) -> Meta {
    Meta {
        name: "claim".into(),
        uid: "uid".into(),
        revision: Revision(1),
        generation: 1,
        created_at: Time::from_seconds(created),
        deleting_since: None,
    }
}

#[test]
fn every_recorded_story_ends_with_the_same_conditions() {
    let rows = recorded();
    assert!(rows.len() > 150, "only {} rows", rows.len());
    for (number, row) in rows.iter().enumerate() {
        let mut meta = object(row["created"].as_i64().unwrap());
        let mut stored = Conditions::default();
        for (place, recorded_step) in row["steps"].as_array().unwrap().iter().enumerate() {
            let answer = step(&mut stored, &mut meta, recorded_step);
            assert_eq!(answer, row["outcomes"][place], "row {number}, step {place}: {row}");
        }
        let after: Vec<Value> = stored.0.iter().map(as_recorded).collect();
        assert_eq!(Value::Array(after), row["after"], "row {number}: {row}");
    }
}

#[test]
fn times_are_kept_in_whole_seconds() {
    let meta = object(100);
    let now = Time::from_millis(200_999);
    let none = Conditions::default();
    let mut draft = Draft::of(&none, &claim::DEPENDENTS, &meta, now);
    draft.set_true(claim::LAUNCHED);
    let launched = draft.get(claim::LAUNCHED).unwrap();
    assert_eq!(launched.changed_at, Time::from_millis(200_000));
    assert_eq!(launched.status, Status::True);
}
