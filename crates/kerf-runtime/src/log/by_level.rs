//! The log of a termination handler: `2022/05/14 08:45:50 INF message key=value`, warnings and errors
//! on the error output; or JSON. People search and parse these lines, so they look as they always
//! have.

use std::fmt::{self, Write as _};
use std::io::{self, Stderr, Stdout, Write};

use serde_json::{Map, Value};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use super::{Fields, LogError};
use crate::clock;

/// How such a log is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByLevel {
    /// The least important lines to write.
    pub level: Level,
    /// Whether lines are JSON, all on the error output.
    pub is_json: bool,
    /// Modules of the program whose ordinary lines only count while debugging.
    pub quiet: &'static [&'static str],
}

impl ByLevel {
    /// Starts logging for the whole process.
    ///
    /// # Errors
    /// Logging was started before.
    pub fn start(self) -> Result<(), LogError> {
        let (level, is_json) = (self.level, self.is_json);
        let started = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(Outputs { is_json })
            .with_ansi(false)
            .event_format(self)
            .try_init();
        started.map_err(|_| LogError::Started)
    }

    /// Whether a line is for those who debug alone.
    fn hides(&self, metadata: &Metadata<'_>) -> bool {
        let is_quiet = |module: &&str| metadata.target().starts_with(module);
        self.level < Level::DEBUG
            && *metadata.level() == Level::INFO
            && self.quiet.iter().any(is_quiet)
    }
}

impl<S, N> FormatEvent<S, N> for ByLevel
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if self.hides(event.metadata()) {
            return Ok(());
        }
        let (fields, level) = (Fields::of(event), *event.metadata().level());
        let now = clock::now();
        let line = match self.is_json {
            true => json(fields, level, &now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            false => plain(fields, level, &now.strftime("%Y/%m/%d %H:%M:%S").to_string())?,
        };
        writeln!(writer, "{line}")
    }
}

fn plain(fields: Fields, level: Level, time: &str) -> Result<String, fmt::Error> {
    let word = match level {
        Level::ERROR => "ERR",
        Level::WARN => "WRN",
        Level::INFO => "INF",
        Level::DEBUG | Level::TRACE => "DBG",
    };
    let mut line = format!("{time} {word} {}", fields.message);
    for (name, value) in structured(fields.others) {
        match value {
            Value::String(text) if is_plain(&text) => write!(line, " {name}={text}")?,
            value => write!(line, " {name}={value}")?,
        }
    }
    Ok(line)
}

fn json(fields: Fields, level: Level, time: &str) -> String {
    let mut line = structured(fields.others);
    let level = match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG | Level::TRACE => "debug",
    };
    line.insert("level".to_owned(), level.into());
    line.insert("time".to_owned(), time.into());
    line.insert("message".to_owned(), fields.message.into());
    Value::Object(line).to_string()
}

/// Fields whose text is a JSON object or list, as that; tracing knows no other way to hand them on.
fn structured(fields: Map<String, Value>) -> Map<String, Value> {
    let read = |value: Value| match &value {
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    };
    fields.into_iter().map(|(name, value)| (name, read(value))).collect()
}

/// Whether a value can be told from what follows it without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21..=0x7e) && byte != b'"')
}

/// Standard output up to ordinary lines, error output from warnings on.
struct Outputs {
    is_json: bool,
}

/// One of the two.
enum Output {
    Out(Stdout),
    Err(Stderr),
}

impl<'a> MakeWriter<'a> for Outputs {
    type Writer = Output;

    fn make_writer(&'a self) -> Output {
        Output::Err(io::stderr())
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Output {
        let is_error = self.is_json || *metadata.level() <= Level::WARN;
        if is_error { Output::Err(io::stderr()) } else { Output::Out(io::stdout()) }
    }
}

impl Write for Output {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match self {
            Self::Out(output) => output.write(line),
            Self::Err(output) => output.write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Out(output) => output.flush(),
            Self::Err(output) => output.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(message: &str, others: Value) -> Fields {
        let Value::Object(others) = others else { panic!("fields are an object") };
        Fields { message: message.to_owned(), others }
    }

    #[test]
    fn a_line_has_its_fields_in_order_with_quotes_where_they_are_needed() {
        let others = json!({"reason": "Spot \"now\"", "node_name": "ip-1.internal", "count": 3,
            "event": "{\"Kind\":\"SPOT_ITN\",\"EventID\":\"a b\"}", "empty": ""});
        let line = plain(fields("Drained", others), Level::WARN, "2022/05/14 08:45:50");
        assert_eq!(
            line.expect("text can be written to"),
            "2022/05/14 08:45:50 WRN Drained count=3 empty=\"\" \
             event={\"EventID\":\"a b\",\"Kind\":\"SPOT_ITN\"} node_name=ip-1.internal \
             reason=\"Spot \\\"now\\\"\""
        );
    }

    #[test]
    fn json_lines_nest_what_is_structured() {
        let others = json!({"pod_names": "[\"a\",\"b\"]", "broken": "{no json"});
        let line = json(fields("Pods on node", others), Level::INFO, "2022-05-14T08:45:50Z");
        let expected = json!({"level": "info", "time": "2022-05-14T08:45:50Z",
            "message": "Pods on node", "pod_names": ["a", "b"], "broken": "{no json"});
        assert_eq!(serde_json::from_str::<Value>(&line).expect("it is JSON"), expected);
    }
}
