//! `printf`, with the verbs templates use.

use super::functions::quoted;
use super::value::Value;

/// The widest that something may be asked to be.
const WIDTH_MAX: usize = 1_000;

/// A text by a format, as in `%s has %5d`. What does not fit is said in the text, as Go does.
pub(super) fn printf(format: &str, arguments: &[Value]) -> Result<String, String> {
    let (mut out, mut rest, mut arguments) = (String::new(), format, arguments.iter());
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let digits = |text: &str| text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
        let flags = after.find(|it: char| !"-+# 0".contains(it)).unwrap_or(after.len());
        let (flags, after) = after.split_at(flags);
        let (width, after) = after.split_at(digits(after));
        let (precision, after) = match after.strip_prefix('.') {
            Some(after) => {
                let (precision, after) = after.split_at(digits(after));
                (Some(precision.parse::<usize>().unwrap_or(0)), after)
            }
            None => (None, after),
        };
        let width = width.parse::<usize>().unwrap_or(0);
        if width > WIDTH_MAX {
            return Err(format!("nothing may be wider than {WIDTH_MAX}"));
        }
        let Some(verb) = after.chars().next() else {
            return Err("the format ends in the middle of a verb".to_owned());
        };
        rest = &after[verb.len_utf8()..];
        if verb == '%' {
            out.push('%');
            continue;
        }
        let written = match arguments.next() {
            None => format!("%!{verb}(MISSING)"),
            Some(value) => written(verb, value, precision),
        };
        let pads = width.saturating_sub(written.chars().count());
        match (flags.contains('-'), flags.contains('0')) {
            (true, _) => out.push_str(&(written + &" ".repeat(pads))),
            (false, true) => out.push_str(&("0".repeat(pads) + &written)),
            (false, false) => out.push_str(&(" ".repeat(pads) + &written)),
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn written(verb: char, value: &Value, precision: Option<usize>) -> String {
    let cut = |text: String| match precision {
        Some(length) => text.chars().take(length).collect(),
        None => text,
    };
    match (verb, value) {
        ('v', _) => value.to_string(),
        ('s', Value::Int(_) | Value::Bool(_)) => format!("%!s({value})"),
        ('s', _) => cut(value.to_string()),
        ('q', _) => quoted(&cut(value.to_string())),
        ('d', Value::Int(number)) => number.to_string(),
        ('x', Value::Int(number)) => format!("{number:x}"),
        ('x', Value::Text(text)) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ('t', Value::Bool(is_true)) => is_true.to_string(),
        _ => format!("%!{verb}({value})"),
    }
}
