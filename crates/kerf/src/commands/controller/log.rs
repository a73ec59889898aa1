//! The log: one JSON object a line for machines, or lines of words for people.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use super::flags::{LogFlags, LogFormat};

/// The logger every line names.
const LOGGER: &str = "controller";

/// Starts logging.
pub(crate) fn start(flags: &LogFlags) -> Result<()> {
    let level = match flags.log_level.as_str() {
        "debug" => Level::DEBUG,
        "error" => Level::ERROR,
        _ => Level::INFO,
    };
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(Outputs::open(&flags.log_output_paths)?)
        .with_ansi(false);
    let started = match flags.log_format {
        LogFormat::Json => builder.event_format(Json).try_init(),
        LogFormat::Console => builder.event_format(Console).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))
}

/// Everything that is written to, line by line.
#[derive(Clone)]
struct Outputs(Arc<Mutex<Vec<Box<dyn Write + Send>>>>);

impl Outputs {
    fn open(paths: &[String]) -> Result<Self> {
        let open = |path: &String| -> Result<Box<dyn Write + Send>> {
            Ok(match path.trim() {
                "stdout" => Box::new(io::stdout()),
                "stderr" => Box::new(io::stderr()),
                path => Box::new(
                    File::options()
                        .create(true)
                        .append(true)
                        .open(path)
                        .with_context(|| format!("--log-output-paths {path}"))?,
                ),
            })
        };
        let outputs = paths.iter().filter(|path| !path.trim().is_empty()).map(open);
        Ok(Self(Arc::new(Mutex::new(outputs.collect::<Result<_>>()?))))
    }
}

impl Write for Outputs {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        for output in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            output.write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().try_for_each(Write::flush)
    }
}

impl<'a> MakeWriter<'a> for Outputs {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// One JSON object a line.
struct Json;

impl<S, N> FormatEvent<S, N> for Json
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
        let fields = Fields::of(event);
        let mut line = Map::new();
        line.insert("level".to_owned(), event.metadata().level().to_string().into());
        line.insert("time".to_owned(), jiff::Timestamp::now().to_string().into());
        line.insert("logger".to_owned(), LOGGER.into());
        line.insert("message".to_owned(), fields.message.into());
        line.insert("commit".to_owned(), commit().into());
        line.extend(fields.others);
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// Time, importance, words, and what else is to know.
struct Console;

impl<S, N> FormatEvent<S, N> for Console
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
        let Fields { message, others } = Fields::of(event);
        let time = jiff::Timestamp::now().strftime("%H:%M:%S%.3f");
        let mut line = format!("{time} {:<5} {message}", event.metadata().level().as_str());
        for (name, value) in others {
            match value {
                Value::String(text) => write!(line, "  {name}={text}")?,
                value => write!(line, "  {name}={value}")?,
            }
        }
        writeln!(writer, "{line}")
    }
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn of(event: &Event<'_>) -> Self {
        let mut fields = Self::default();
        event.record(&mut fields);
        fields
    }

    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            (name, value) => drop(self.others.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }
}

/// The commit this program was built from, where the build says so.
fn commit() -> &'static str {
    option_env!("KERF_COMMIT").unwrap_or("")
}
