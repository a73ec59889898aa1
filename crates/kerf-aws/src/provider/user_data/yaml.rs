//! YAML as nodeadm reads it, with keys in order: the same settings always give the same text.

use serde_json::{Map, Value};

/// What numbers, dates and times are made of: a word of nothing else is quoted.
const NUMBER_LETTERS: &str = "0123456789+-._eExXoO:abcdfABCDF";
/// Words that older readers of YAML take for something else than text.
const RESERVED: [&str; 9] = ["", "~", "null", "true", "false", "yes", "no", "on", "off"];

/// A document.
pub(super) fn text(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(entries) if !entries.is_empty() => mapping(entries, 0, &mut text),
        Value::Array(items) if !items.is_empty() => sequence(items, 0, &mut text),
        scalar => text.push_str(&format!("{}\n", inline(scalar))),
    }
    text
}

fn mapping(entries: &Map<String, Value>, indent: usize, out: &mut String) {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    for (at, (key, value)) in entries.into_iter().enumerate() {
        // The first key of a mapping in a list stands on the line of its dash.
        let is_after_dash = at == 0 && out.ends_with("- ");
        let margin = if is_after_dash { String::new() } else { " ".repeat(indent) };
        out.push_str(&format!("{margin}{}:", word(key)));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                mapping(inner, indent + 2, out);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(items, indent, out);
            }
            scalar => out.push_str(&format!(" {}\n", inline(scalar))),
        }
    }
}

fn sequence(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        out.push_str(&format!("{}- ", " ".repeat(indent)));
        match item {
            Value::Object(entries) if !entries.is_empty() => mapping(entries, indent + 2, out),
            // JSON is YAML, and lists in lists are rare.
            other => out.push_str(&format!("{}\n", inline(other))),
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => word(text),
        other => other.to_string(),
    }
}

/// A text, quoted unless nobody can take it for anything else.
fn word(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { Value::from(text).to_string() }
}

fn is_plain(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./=,+@%:<\"".contains(c);
    let begins_safe = |c: char| c.is_ascii_alphanumeric() || c == '/';
    let looks_like_a_number = text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| NUMBER_LETTERS.contains(c))
        && !text.contains("::")
        && text.split('.').count() < 4;
    let is_flag = text.starts_with("--") && text.len() > 2;
    (is_flag || text.starts_with(begins_safe))
        && text.chars().all(is_safe)
        && !text.ends_with(':')
        && !looks_like_a_number
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let value = json!({
            "b": { "list": ["a", "1", "1.5", "0x1F", "1e3", "yes", "", "- x", "a: b", "a #b"] },
            "a": [{ "y": "10.0.0.1", "x": "fd1a::a" }, { "z": [] }, {}, ["nested", 1]],
            "c": { "true": true, "zero": 0, "none": null, "text": "true", "time": "12:30:45" },
            "d": "--node-labels=\"a=b\"", "e": "5%", "f": "line\nbreak", "g": "100Mi", "h": "é",
            "i": "2001-01-01", "j": "1_000", "k": "*a", "l": "&a", "m": "!t", "n": "[x", "o": "{x",
        });
        let text = text(&value);
        let read: Value = serde_saphyr::from_str(&text).expect(&text);
        assert_eq!(read, value, "{text}");
    }

    #[test]
    fn keys_are_in_order_and_plain_words_are_not_quoted() {
        let value = json!({ "b": "1Gi", "a": [{ "k": "x", "e": "1" }], "c": {} });
        assert_eq!(text(&value), "a:\n- e: \"1\"\n  k: x\nb: 1Gi\nc: {}\n");
    }
}
