//! Text.

use sha2::{Digest as _, Sha256};

use super::{Function, Growing, count, int, joined, one, text, three, two};
use crate::webhook::template::printf::printf;
use crate::webhook::template::value::Value;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("print", |arguments| {
        let parts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        joined(parts.iter().map(String::as_str), "")
    }),
    ("println", |arguments| {
        let mut parts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        if let Some(last) = parts.last_mut() {
            last.push('\n');
        }
        joined(parts.iter().map(String::as_str), " ")
    }),
    ("printf", |arguments| {
        let (format, arguments) = arguments.split_first().ok_or("the format is missing")?;
        printf(text(format)?, arguments).map(Value::from)
    }),
    ("toString", |arguments| Ok(Value::from(one(arguments)?.to_string()))),
    ("upper", |arguments| changed(arguments, |it| it.to_uppercase())),
    ("lower", |arguments| changed(arguments, |it| it.to_lowercase())),
    ("title", |arguments| changed(arguments, title)),
    ("trim", |arguments| changed(arguments, |it| it.trim().to_owned())),
    ("nospace", |arguments| changed(arguments, |it| it.split_whitespace().collect())),
    ("trimAll", |arguments| {
        with(arguments, |cut, it| it.trim_matches(|character| cut.contains(character)).to_owned())
    }),
    ("trimPrefix", |arguments| {
        with(arguments, |cut, it| it.strip_prefix(cut).unwrap_or(it).to_owned())
    }),
    ("trimSuffix", |arguments| {
        with(arguments, |cut, it| it.strip_suffix(cut).unwrap_or(it).to_owned())
    }),
    ("contains", |arguments| asked(arguments, |part, it| it.contains(part))),
    ("hasPrefix", |arguments| asked(arguments, |part, it| it.starts_with(part))),
    ("hasSuffix", |arguments| asked(arguments, |part, it| it.ends_with(part))),
    ("replace", |arguments| {
        let (old, new, whole) = three(arguments)?;
        let (old, whole) = (text(old)?, text(whole)?);
        match old.is_empty() {
            true => Ok(Value::from(whole)),
            false => joined(whole.split(old), text(new)?),
        }
    }),
    ("repeat", |arguments| {
        let (times, part) = two(arguments)?;
        let (times, part) = (count(times)?, text(part)?);
        let mut out = Growing::default();
        // What is empty stays so, however often.
        for _ in 0..if part.is_empty() { 0 } else { times } {
            out.push(part)?;
        }
        Ok(out.done())
    }),
    ("trunc", |arguments| {
        let (length, whole) = two(arguments)?;
        let (length, whole) = (int(length)?, text(whole)?);
        let wanted = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
        let total = whole.chars().count();
        Ok(Value::from(match length < 0 {
            true => whole.chars().skip(total.saturating_sub(wanted)).collect::<String>(),
            false => whole.chars().take(wanted).collect(),
        }))
    }),
    ("substr", |arguments| {
        let (from, to, whole) = three(arguments)?;
        let (from, whole) = (count(from)?, text(whole)?);
        let taken = usize::try_from(int(to)?).map_or(usize::MAX, |to| to.saturating_sub(from));
        Ok(Value::from(whole.chars().skip(from).take(taken).collect::<String>()))
    }),
    ("abbrev", |arguments| {
        let (length, whole) = two(arguments)?;
        let (length, whole) = (count(length)?.max(4), text(whole)?);
        if whole.chars().count() <= length {
            return Ok(Value::from(whole));
        }
        Ok(Value::from(whole.chars().take(length - 3).collect::<String>() + "..."))
    }),
    ("quote", |arguments| {
        let parts: Vec<String> = arguments.iter().map(|it| quoted(&it.to_string())).collect();
        joined(parts.iter().map(String::as_str), " ")
    }),
    ("squote", |arguments| {
        let parts: Vec<String> = arguments.iter().map(|it| format!("'{it}'")).collect();
        joined(parts.iter().map(String::as_str), " ")
    }),
    ("cat", |arguments| {
        let parts: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        joined(parts.iter().map(String::as_str), " ")
    }),
    ("indent", |arguments| indented(arguments, "")),
    ("nindent", |arguments| indented(arguments, "\n")),
    ("toJson", |arguments| Ok(Value::from(one(arguments)?.json().to_string()))),
    ("toRawJson", |arguments| Ok(Value::from(one(arguments)?.json().to_string()))),
    ("toPrettyJson", |arguments| Ok(Value::from(format!("{:#}", one(arguments)?.json())))),
    ("sha256sum", |arguments| {
        changed(arguments, |it| {
            Sha256::digest(it.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }),
    ("html", |arguments| {
        changed(arguments, |it| {
            let escaped = it.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            escaped.replace('"', "&#34;").replace('\'', "&#39;")
        })
    }),
    ("urlquery", |arguments| changed(arguments, |it| it.bytes().map(url_byte).collect())),
];

fn changed(arguments: &[Value], change: fn(&str) -> String) -> Result<Value, String> {
    Ok(Value::from(change(&one(arguments)?.to_string())))
}

fn with(arguments: &[Value], change: fn(&str, &str) -> String) -> Result<Value, String> {
    let (first, second) = two(arguments)?;
    Ok(Value::from(change(text(first)?, text(second)?)))
}

fn asked(arguments: &[Value], is: fn(&str, &str) -> bool) -> Result<Value, String> {
    let (first, second) = two(arguments)?;
    Ok(Value::Bool(is(text(first)?, text(second)?)))
}

fn indented(arguments: &[Value], before: &str) -> Result<Value, String> {
    let (spaces, whole) = two(arguments)?;
    let (spaces, whole) = (count(spaces)?, text(whole)?);
    let mut indent = Growing::default();
    for _ in 0..spaces {
        indent.push(" ")?;
    }
    let mut out = Growing::default();
    out.push(before)?;
    for (place, line) in whole.split('\n').enumerate() {
        out.push(if place == 0 { "" } else { "\n" })?;
        out.push(&indent.0)?;
        out.push(line)?;
    }
    Ok(out.done())
}

fn title(text: &str) -> String {
    let mut begins = true;
    let capital = |character: char| {
        let out: String = match begins {
            true => character.to_uppercase().collect(),
            false => character.to_string(),
        };
        begins = character.is_whitespace();
        out
    };
    text.chars().map(capital).collect()
}

/// A text as Go quotes it.
pub(in crate::webhook::template) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn url_byte(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        b' ' => "+".to_owned(),
        other => format!("%{other:02X}"),
    }
}
