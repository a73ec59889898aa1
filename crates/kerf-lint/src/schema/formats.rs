//! The string formats an API server of 1.36 enforces. Any other `format` is ignored by it.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::schema::pattern::Pattern;

/// Formats checked on strings, without dashes, which the server does not tell apart.
const STRING_FORMATS: &[&str] = &[
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "quantity",
    "k8sshortname",
    "k8slongname",
];

/// The format, without dashes, if an API server enforces it on values of this type.
pub(super) fn enforced(format: Option<&str>, type_name: Option<&str>) -> Option<String> {
    let format = format?;
    let plain = format.replace('-', "");
    let known = match type_name {
        None | Some("string") => STRING_FORMATS.contains(&plain.as_str()),
        Some("integer") => matches!(format, "int32" | "int64"),
        Some("number") => matches!(format, "float" | "double"),
        Some(_) => false,
    };
    known.then_some(plain)
}

/// Whether a string has the form, and an example of one that does.
pub(super) fn accepts(format: &str, text: &str) -> Result<(), &'static str> {
    let (fits, example) = match format {
        "datetime" => (is_date_time(text), "2026-01-31T23:59:59Z"),
        "date" => (is_date(text), "2026-01-31"),
        "duration" => (is_duration(text), "1h30m"),
        "ipv4" => (is_ipv4(text), "10.0.0.1"),
        "ipv6" => (text.contains(':') && text.parse::<Ipv6Addr>().is_ok(), "2001:db8::1"),
        "cidr" => (is_cidr(text), "10.0.0.0/16"),
        "byte" => (is_base64(text), "aGVsbG8="),
        "uri" => (is_request_uri(text), "https://example.com/"),
        "email" => (
            text.split_once('@').is_some_and(|(l, r)| !l.is_empty() && !r.is_empty()),
            "a@example.com",
        ),
        _ => match patterned(format) {
            Some((pattern, limit, example)) => {
                (text.len() <= limit && Pattern::new(pattern).accepts(text), example)
            }
            None => (true, ""),
        },
    };
    if fits { Ok(()) } else { Err(example) }
}

/// Formats that are one regular expression, with the longest text and an example.
fn patterned(format: &str) -> Option<(&'static str, usize, &'static str)> {
    const ANY: usize = usize::MAX;
    const UUID: &str = "0b6f9f5a-3d1e-4c52-9a44-0c3b6a1f7e21";
    Some(match format {
        "hostname" => (
            r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
            255,
            "host.example.com",
        ),
        "uuid" => {
            (r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$", ANY, UUID)
        }
        "uuid3" => {
            (r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$", ANY, "")
        }
        "uuid4" => (
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$",
            ANY,
            UUID,
        ),
        "uuid5" => (
            r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$",
            ANY,
            "",
        ),
        "mac" => (
            r"(?i)^([0-9a-f]{2}[:-]){5,}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2,}[0-9a-f]{4}$",
            ANY,
            "00:00:5e:00:53:01",
        ),
        "hexcolor" => (r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", ANY, "#336699"),
        "ssn" => (r"^\d{3}[- ]?\d{2}[- ]?\d{4}$", ANY, ""),
        "bsonobjectid" => (r"^[0-9a-fA-F]{24}$", ANY, "507f1f77bcf86cd799439011"),
        "k8sshortname" => (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63, "my-name"),
        "k8slongname" => {
            (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", 253, "my.name")
        }
        _ => return None,
    })
}

/// A day in the form `2026-01-31` that exists in the calendar.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return false;
    }
    let part = |range: std::ops::Range<usize>| text[range].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// A moment as an API server accepts it in a schema: a date, `T`, a time of day and a zone.
pub(crate) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut halves = lower.split('t');
    let (Some(date), Some(time)) = (halves.next(), halves.next()) else {
        return false;
    };
    let shape =
        Pattern::new(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
    let Some(parts) = shape.regex().ok().and_then(|regex| regex.captures(time)) else {
        return false;
    };
    is_date(date) && &parts[1] <= "23" && &parts[2] <= "59" && &parts[3] <= "59"
}

/// A length of time as Go reads it, or the looser `3 days` form the server also takes.
fn is_duration(text: &str) -> bool {
    let go = Pattern::new(r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$");
    go.accepts(text) || has_worded_duration(text)
}

/// Any number followed by a unit word counts, wherever it stands in the text.
fn has_worded_duration(text: &str) -> bool {
    let worded = Pattern::new(r"(\d+)\s*([A-Za-zµ]+)");
    let Ok(regex) = worded.regex() else { return false };
    regex.captures_iter(text).any(|found| {
        let unit = found[2].to_lowercase();
        let exact = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
        let starts = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
        exact.contains(&unit.as_str()) || starts.iter().any(|start| unit.starts_with(start))
    })
}

/// Four numbers; leading zeros are allowed, as the server's reader allows them.
fn is_ipv4(text: &str) -> bool {
    let stripped: Vec<String> = text
        .split('.')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0".to_owned(),
            rest => rest.to_owned(),
        })
        .collect();
    let mapped = text.contains('.') && text.contains(':') && text.parse::<Ipv6Addr>().is_ok();
    mapped || stripped.join(".").parse::<Ipv4Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let plain = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits = if plain { bits.parse::<u32>().unwrap_or(u32::MAX) } else { u32::MAX };
    if address.contains(':') {
        return address.parse::<Ipv6Addr>().is_ok() && bits <= 128;
    }
    is_ipv4(address) && bits <= 32
}

fn is_base64(text: &str) -> bool {
    let shape = Pattern::new(
        r"^(?:[A-Za-z0-9+\/]{4})*(?:[A-Za-z0-9+\/]{2}==|[A-Za-z0-9+\/]{3}=|[A-Za-z0-9+\/]{4})$",
    );
    shape.accepts(text)
}

/// An absolute address or a path, without blanks or control characters.
fn is_request_uri(text: &str) -> bool {
    let clean = !text.is_empty() && text.chars().all(|c| !c.is_control() && c != ' ');
    let scheme = Pattern::new(r"^[A-Za-z][A-Za-z0-9+.\-]*:");
    clean && (text.starts_with('/') || scheme.accepts(text))
}
