//! The log: one JSON object a line, plain lines for a terminal, or the lines of old runbooks.

mod by_level;
mod legacy;

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use thiserror::Error;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

use crate::clock;

pub use by_level::ByLevel;
pub use legacy::{RUNBOOK, tells_runbook};

/// How the log is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// The name of the role, on every line.
    pub logger: &'static str,
    /// The least important lines to write.
    pub level: Level,
    /// `stdout`, `stderr` or paths of files.
    pub outputs: Vec<String>,
    /// How a line looks.
    pub format: LogFormat,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object, with the keys of Karpenter's log.
    #[default]
    Json,
    /// Time, level and message, for a terminal.
    Console,
    /// As Karpenter's log was in 2021, with the lines that runbooks of that time look for.
    Legacy,
}

/// Why logging could not start. Other settings help.
#[derive(Debug, Error)]
pub enum LogError {
    /// A file cannot be written to.
    #[error("cannot log to {path}: {source}")]
    Output {
        /// The path as given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The process logs already.
    #[error("logging has been started before")]
    Started,
}

/// Starts logging for the whole process.
///
/// # Errors
/// A file cannot be opened, or logging was started before.
pub fn start(settings: &LogSettings) -> Result<(), LogError> {
    let logger = settings.logger;
    let builder = tracing_subscriber::fmt()
        .with_max_level(settings.level)
        .with_writer(Outputs::open(&settings.outputs)?)
        .with_ansi(false);
    let started = match settings.format {
        LogFormat::Json => builder.event_format(Json { logger }).try_init(),
        LogFormat::Console => builder.event_format(Console).try_init(),
        LogFormat::Legacy => {
            legacy::tell_runbook();
            builder.event_format(legacy::Legacy { logger }).try_init()
        }
    };
    started.map_err(|_| LogError::Started)
}

/// Where every line is written to.
#[derive(Clone)]
struct Outputs(Arc<Mutex<Vec<Box<dyn Write + Send>>>>);

impl Outputs {
    fn open(paths: &[String]) -> Result<Self, LogError> {
        let open = |path: &str| -> Result<Box<dyn Write + Send>, LogError> {
            Ok(match path {
                "stdout" => Box::new(io::stdout()),
                "stderr" => Box::new(io::stderr()),
                path => {
                    let file = File::options().create(true).append(true).open(path);
                    let failed = |source| LogError::Output { path: path.to_owned(), source };
                    Box::new(file.map_err(failed)?)
                }
            })
        };
        let outputs = paths.iter().map(|path| path.trim()).filter(|path| !path.is_empty());
        Ok(Self(Arc::new(Mutex::new(outputs.map(open).collect::<Result<_, _>>()?))))
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
struct Json {
    logger: &'static str,
}

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
        if event.metadata().target() == RUNBOOK {
            return Ok(());
        }
        let fields = Fields::of(event);
        let mut line = Map::new();
        line.insert("level".to_owned(), event.metadata().level().to_string().into());
        line.insert("time".to_owned(), clock::now().to_string().into());
        line.insert("logger".to_owned(), self.logger.into());
        line.insert("message".to_owned(), fields.message.into());
        line.insert("commit".to_owned(), commit().into());
        line.extend(fields.others);
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// Time, level, message, and the other fields.
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
        if event.metadata().target() == RUNBOOK {
            return Ok(());
        }
        let Fields { message, others } = Fields::of(event);
        let time = clock::now().strftime("%H:%M:%S%.3f");
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

/// The fields of a tracing event.
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
