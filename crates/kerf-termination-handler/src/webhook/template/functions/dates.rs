//! Times, in the layouts of Go: `2006-01-02T15:04:05Z07:00`. All times are in UTC.

use jiff::Timestamp;
use kerf_runtime::clock;

use super::{Function, one, text, three, two};
use crate::webhook::template::value::Value;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("now", |_| Ok(Value::Time(Some(clock::now())))),
    ("date", |arguments| {
        let (layout, time) = two(arguments)?;
        formatted(text(layout)?, time)
    }),
    ("dateInZone", |arguments| {
        let (layout, time, zone) = three(arguments)?;
        match text(zone)? {
            "UTC" | "GMT" | "" => formatted(text(layout)?, time),
            other => Err(format!("the zone {other} is not known: times are in UTC")),
        }
    }),
    ("unixEpoch", |arguments| {
        let seconds = time(one(arguments)?)?.map_or(0, Timestamp::as_second);
        Ok(Value::from(seconds.to_string()))
    }),
    ("htmlDate", |arguments| formatted("2006-01-02", one(arguments)?)),
];

/// The parts of Go's layouts, the longer ones before those they begin with.
const PARTS: [(&str, &str); 22] = [
    ("January", "%B"),
    ("Monday", "%A"),
    ("Z07:00", "Z"),
    ("-07:00", "+00:00"),
    ("-0700", "+0000"),
    (".000", ".000"),
    ("2006", "%Y"),
    ("Jan", "%b"),
    ("Mon", "%a"),
    ("MST", "UTC"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("PM", "%p"),
    ("1", "%-m"),
    ("2", "%-d"),
    ("3", "%-I"),
    ("_2", "%e"),
];

fn formatted(layout: &str, value: &Value) -> Result<Value, String> {
    let time = time(value)?.unwrap_or_else(|| {
        Timestamp::from_second(-62_135_596_800).unwrap_or(Timestamp::UNIX_EPOCH)
    });
    let (mut format, mut rest) = (String::new(), layout);
    while let Some(first) = rest.chars().next() {
        let part = PARTS.iter().find(|(part, _)| rest.starts_with(part));
        match part {
            Some((part, conversion)) => {
                format.push_str(conversion);
                rest = &rest[part.len()..];
            }
            None => {
                // A percent sign means something to the formatter.
                format.push_str(if first == '%' { "%%" } else { &rest[..first.len_utf8()] });
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    jiff::fmt::strtime::format(&format, time)
        .map(Value::from)
        .map_err(|error| format!("the layout is not understood: {error}"))
}

fn time(value: &Value) -> Result<Option<Timestamp>, String> {
    match value {
        Value::Time(time) => Ok(*time),
        Value::Int(seconds) => {
            Timestamp::from_second(*seconds).map(Some).map_err(|e| e.to_string())
        }
        other => Err(format!("it takes a time, not {}", other.kind())),
    }
}
