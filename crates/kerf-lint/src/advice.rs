//! What to write instead: the nearest name the author may have meant, the value in its right form.

pub use kerf_model::nearest::nearest;
use serde_json::Value;

/// The value as it should be written to have one of the wanted types, when it only needs
/// quoting, unquoting or brackets.
pub(crate) fn retyped(value: &Value, wanted: &[&str]) -> Option<String> {
    wanted.iter().find_map(|wanted| match (*wanted, value) {
        ("string", Value::Number(number)) => Some(format!("\"{number}\"")),
        ("string", Value::Bool(flag)) => Some(format!("\"{flag}\"")),
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(|n| n.to_string()),
        ("number", Value::String(text)) => text.trim().parse::<f64>().ok().map(|n| n.to_string()),
        ("boolean", Value::String(text)) => truth(text).map(|flag| flag.to_string()),
        ("array", Value::String(text)) => Some(format!("[{text:?}]")),
        ("array", Value::Number(_) | Value::Bool(_)) => Some(format!("[{value}]")),
        ("array", Value::Object(_)) => Some("a list: put `- ` before the first field".to_owned()),
        ("object", Value::Array(items)) if items.len() == 1 => {
            Some("one mapping: take away the `- `".to_owned())
        }
        ("object", Value::String(text)) => with_blank_after_colon(text),
        _ => None,
    })
}

/// `name:default` was meant as `name: default`.
fn with_blank_after_colon(text: &str) -> Option<String> {
    let (key, value) = text.split_once(':')?;
    let word = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
    let plain = !value.is_empty() && !value.starts_with(['/', ':', ' ']);
    (word && plain).then(|| format!("{key}: {value} (a blank is missing after the colon)"))
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A string near `given` that passes `accepts`: without its blanks, in lower case, or, for what
/// looks like a length of time, in hours, minutes and seconds.
pub(crate) fn respelled(given: &str, accepts: impl Fn(&str) -> bool) -> Option<String> {
    let trimmed = given.trim();
    let mut candidates =
        vec![trimmed.to_owned(), trimmed.to_lowercase(), trimmed.replace('_', "-")];
    candidates.extend(as_duration(trimmed));
    candidates.extend(as_binary_amount(trimmed));
    candidates.push(trimmed.split_whitespace().collect());
    candidates.push(trimmed.to_lowercase().replace(['_', ' '], "-"));
    let named = ["Never", "Always"].into_iter().find(|word| word.eq_ignore_ascii_case(trimmed));
    candidates.extend(named.map(str::to_owned));
    candidates.into_iter().find(|candidate| candidate != given && accepts(candidate))
}

/// `1d` as `24h`, `5 minutes` as `5m`, a bare number as seconds.
fn as_duration(text: &str) -> Option<String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let count: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_lowercase();
    let days = |days: u64| count.checked_mul(days * 24).map(|hours| format!("{hours}h"));
    match unit.as_str() {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => Some(format!("{count}s")),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(format!("{count}m")),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(format!("{count}h")),
        "d" | "day" | "days" => days(1),
        "w" | "week" | "weeks" => days(7),
        "y" | "year" | "years" => days(365),
        _ => None,
    }
}

/// `100GB`, `100 gb` and `100` as `100Gi`, which is what disks are sold in.
fn as_binary_amount(text: &str) -> Option<String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit = text[digits..].trim().to_lowercase();
    let prefix = match unit.as_str() {
        "" | "g" | "gb" | "gi" | "gib" => "Gi",
        "t" | "tb" | "ti" | "tib" => "Ti",
        "m" | "mb" | "mi" | "mib" => "Mi",
        _ => return None,
    };
    (digits > 0).then(|| format!("{}{prefix}", &text[..digits]))
}

/// The first example the pattern accepts, for patterns that describe a length of time.
pub(crate) fn example_for(pattern: &str, accepts: impl Fn(&str) -> bool) -> Option<String> {
    let speaks_of_time = ["(s|m|h)", "[smh]", "(h|m|s)", "ms|"].iter().any(|p| pattern.contains(p));
    let examples = ["5m", "30s", "720h", "1h30m"];
    examples.into_iter().filter(|_| speaks_of_time).find(|e| accepts(e)).map(str::to_owned)
}
