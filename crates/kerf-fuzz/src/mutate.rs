//! Inputs made of others: bytes, words, and parts of JSON are changed.

use kerf_model::rng::SplitMix64;
use serde_json::Value;

use crate::corpus::{Corpus, INPUT_BYTES_MAX};

/// Texts that programs find hard.
const NASTY: [&str; 30] = [
    "",
    "0",
    "-1",
    "+",
    "%",
    ".",
    "-",
    "1e400",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0.000000001",
    "1Ei",
    "100%",
    "null",
    "true",
    "\u{0}",
    "\u{202e}",
    "ü",
    "{",
    "[",
    "\"",
    "\\",
    "*",
    "&a",
    "<<",
    "Never",
    "0s",
    "2562047h47m16.854775807s",
    "1970-01-01T00:00:00Z",
];

/// Changes an input a little.
pub(crate) fn mutate(input: &[u8], corpus: &Corpus, rng: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = input.to_vec();
    let is_json = rng.below(4) != 0;
    for _ in 0..=rng.below(4) {
        bytes = match json_lines(&bytes).filter(|_| is_json) {
            Some(lines) => changed_json(lines, corpus, rng),
            None => changed_bytes(bytes, corpus, rng),
        };
    }
    bytes.truncate(INPUT_BYTES_MAX);
    bytes
}

/// One JSON value, or one on each line.
fn json_lines(bytes: &[u8]) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Option<Vec<Value>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    lines.filter(|lines| lines.iter().any(|line| line.is_object() || line.is_array()))
}

fn changed_json(mut lines: Vec<Value>, corpus: &Corpus, rng: &mut SplitMix64) -> Vec<u8> {
    let place = rng.below(lines.len());
    match rng.below(8) {
        0 if lines.len() > 1 => drop(lines.remove(place)),
        1 => {
            let copy = lines[place].clone();
            lines.insert(rng.below(lines.len() + 1), copy);
        }
        2 => {
            let other = &corpus.inputs[rng.below(corpus.inputs.len())];
            if let Some(others) = json_lines(other) {
                let line = others[rng.below(others.len())].clone();
                lines.insert(rng.below(lines.len() + 1), line);
            }
        }
        3 => {
            let other = rng.below(lines.len());
            lines.swap(place, other);
        }
        _ => {
            let donor = &corpus.inputs[rng.below(corpus.inputs.len())];
            let donor = json_lines(donor).map(|lines| lines[rng.below(lines.len())].clone());
            change_value(&mut lines[place], donor.as_ref(), corpus, rng);
        }
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n").into_bytes()
}

/// Goes down to some value and changes it.
fn change_value(value: &mut Value, donor: Option<&Value>, corpus: &Corpus, rng: &mut SplitMix64) {
    let goes_on = rng.below(5) != 0;
    match value {
        Value::Object(fields) if goes_on && !fields.is_empty() => {
            let name = fields.keys().nth(rng.below(fields.len())).cloned().unwrap_or_default();
            match rng.below(8) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let copy = fields[&name].clone();
                    fields.insert(word(corpus, rng), copy);
                }
                _ => {
                    let inner = donor.and_then(|donor| donor.get(&name));
                    change_value(&mut fields[&name], inner.or(donor), corpus, rng);
                }
            }
        }
        Value::Array(items) if goes_on && !items.is_empty() => {
            let place = rng.below(items.len());
            match rng.below(6) {
                0 => drop(items.remove(place)),
                1 => items.push(items[place].clone()),
                _ => change_value(&mut items[place], donor, corpus, rng),
            }
        }
        value => *value = other_value(value, donor, corpus, rng),
    }
}

fn other_value(
    value: &Value,
    donor: Option<&Value>,
    corpus: &Corpus,
    rng: &mut SplitMix64,
) -> Value {
    match rng.below(9) {
        0 => Value::Null,
        1 => Value::Bool(rng.below(2) == 0),
        2 => Value::from(i64::from_ne_bytes(rng.next_u64().to_ne_bytes()) >> rng.below(64)),
        3 => Value::from(NASTY[rng.below(NASTY.len())]),
        4 => Value::from(word(corpus, rng)),
        5 => Value::Array(vec![value.clone(); 1 + rng.below(3)]),
        6 => Value::Object([(word(corpus, rng), value.clone())].into_iter().collect()),
        7 => donor.cloned().unwrap_or(Value::Null),
        _ => match value {
            Value::String(text) => {
                let bytes = changed_bytes(text.clone().into_bytes(), corpus, rng);
                Value::from(String::from_utf8_lossy(&bytes).into_owned())
            }
            other => Value::from(other.to_string()),
        },
    }
}

fn word(corpus: &Corpus, rng: &mut SplitMix64) -> String {
    match corpus.words.len() {
        0 => NASTY[rng.below(NASTY.len())].to_owned(),
        count => String::from_utf8_lossy(&corpus.words[rng.below(count)]).into_owned(),
    }
}

fn changed_bytes(mut bytes: Vec<u8>, corpus: &Corpus, rng: &mut SplitMix64) -> Vec<u8> {
    let start = rng.below(bytes.len() + 1);
    let end = (start + rng.below(12)).min(bytes.len());
    match rng.below(8) {
        0 => drop(bytes.drain(start..end)),
        1 => bytes.insert(start, rng.next_u64().to_le_bytes()[0]),
        2 if start < bytes.len() => bytes[start] ^= 1 << rng.below(8),
        3 => {
            let copy = bytes[start..end].to_vec();
            bytes.splice(start..start, copy);
        }
        4 => drop(bytes.splice(start..end, word(corpus, rng).into_bytes())),
        5 => drop(bytes.splice(start..end, NASTY[rng.below(NASTY.len())].bytes())),
        6 => {
            let other = &corpus.inputs[rng.below(corpus.inputs.len())];
            let from = rng.below(other.len() + 1);
            bytes.truncate(start);
            bytes.extend_from_slice(&other[from..]);
        }
        _ => {
            let number = rng.next_u64() >> rng.below(64);
            bytes.splice(start..end, number.to_string().into_bytes());
        }
    }
    bytes
}
