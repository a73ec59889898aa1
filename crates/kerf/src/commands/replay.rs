//! `kerf replay`: the engine over a journal again.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use kerf_engine::time::Time;
use kerf_journal::{Difference, Replay as Replaying, ReplayReport};
use kerf_kube::journal_files;
use serde_json::{Value, json};

use super::exit::Exit;
use super::terminal;

/// The result where the engine was never asked: equal to nothing proves nothing.
const NOTHING_COMPARED: &str = "there was nothing to compare: the journal has no decisions";

/// Arguments of `kerf replay`.
#[derive(Args)]
#[command(
    after_help = "A journal is written by kerf controller --journal and kerf simulate --journal."
)]
pub(crate) struct Replay {
    /// A journal: a file, or a folder of segments
    journal: PathBuf,
    /// Stop after this time, such as 2026-01-31T09:30:00Z
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// How to print what came of it
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// A journal replayed.
struct Replayed {
    report: ReplayReport,
    files: usize,
    bytes: u64,
    /// The file that was read last: where the difference is, if there is one.
    last_file: PathBuf,
}

impl Replay {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let until = self.until.map(|until| Time::from_millis(until.as_millisecond()));
        let replayed = replay(&self.journal, until)?;
        match self.output {
            Format::Table => terminal::print(&table(&replayed))?,
            Format::Json => terminal::print(&format!("{:#}\n", value(&replayed)))?,
        }
        Ok(Exit::success_if(replayed.report.difference.is_none()).into())
    }
}

fn replay(journal: &Path, until: Option<Time>) -> Result<Replayed> {
    let named = || format!("cannot read {}", journal.display());
    let mut replaying = Replaying::new(until);
    let (mut files, mut bytes, mut last_file) = (0, 0, journal.to_owned());
    for path in journal_files(journal).with_context(named)? {
        if replaying.is_over() {
            break;
        }
        bytes += read(&path, &mut replaying)?;
        files += 1;
        last_file = path;
    }
    let report = replaying.report().clone();
    if report.segments == 0 {
        bail!("{}: the journal is empty; was the controller started?", journal.display());
    }
    Ok(Replayed { report, files, bytes, last_file })
}

/// Replays one file. Says how many bytes were read.
fn read(path: &Path, replaying: &mut Replaying) -> Result<u64> {
    let named = || format!("cannot read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(named)?);
    let (mut line, mut bytes) = (Vec::new(), 0);
    replaying.next_file();
    while !replaying.is_over() {
        line.clear();
        let read = file.read_until(b'\n', &mut line).with_context(named)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        // What is no text is no JSON either, and is refused as that.
        replaying
            .line(&String::from_utf8_lossy(&line))
            .with_context(|| path.display().to_string())?;
    }
    Ok(bytes)
}

fn table(replayed: &Replayed) -> String {
    let Replayed { report, files, bytes, last_file } = replayed;
    let mut text = String::new();
    let mut row = |name: &str, value: String| writeln!(text, "{name:<10}{value}").ok();
    let plural = if *files == 1 { "file" } else { "files" };
    let size = format!("{files} {plural}, {}", megabytes(*bytes));
    row("Journal", format!("{size}, written by kerf {}", report.kerf_version));
    if let (Some(from), Some(to)) = (report.from, report.to) {
        row("Time", format!("{} to {}", time(from), time(to)));
    }
    let ReplayReport { events, decisions, actions, .. } = report;
    row("Replayed", format!("{events} events, {decisions} decisions, {actions} actions"));
    if report.skipped > 0 {
        let gap = format!("{} records are missing or could not be replayed", report.skipped);
        row("Gap", format!("{gap}; the replay went on from the next state"));
    }
    if report.is_truncated {
        row("Note", "the last line breaks off: the process ended while it was written".to_owned());
    }
    match &report.difference {
        None if *decisions == 0 => row("Result", NOTHING_COMPARED.to_owned()),
        None => row("Result", "every action came out equal".to_owned()),
        Some(difference) => {
            row("Result", format!("differs at {}", time(difference.at)));
            row("Line", format!("{} of {}", difference.line, last_file.display()));
            row("After", difference.event.clone().unwrap_or_else(|| "no event".to_owned()));
            row("Expected", side(difference.expected.as_ref()));
            row("Actual", side(difference.actual.as_ref()))
        }
    };
    text
}

fn side(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing more".to_owned(), Value::to_string)
}

fn value(replayed: &Replayed) -> Value {
    let Replayed { report, files, bytes, last_file } = replayed;
    let difference = report.difference.as_deref().map(|difference| {
        let Difference { at, line, event, expected, actual } = difference;
        let event =
            event.as_deref().map(|event| serde_json::from_str(event).unwrap_or(Value::Null));
        json!({
            "at": time(*at), "file": last_file, "line": line, "after": event,
            "expected": expected, "actual": actual,
        })
    });
    json!({
        "kerfVersion": report.kerf_version,
        "files": files,
        "bytes": bytes,
        "from": report.from.map(time),
        "to": report.to.map(time),
        "segments": report.segments,
        "events": report.events,
        "decisions": report.decisions,
        "actions": report.actions,
        "skipped": report.skipped,
        "truncated": report.is_truncated,
        "equal": report.difference.is_none(),
        "difference": difference,
    })
}

fn megabytes(bytes: u64) -> String {
    const KILOBYTE: u64 = 1_000;
    match bytes / KILOBYTE {
        kilobytes @ ..KILOBYTE => format!("{kilobytes} kB"),
        kilobytes => format!("{}.{} MB", kilobytes / KILOBYTE, kilobytes % KILOBYTE / 100),
    }
}

fn time(time: Time) -> String {
    let timestamp = Timestamp::from_millisecond(time.millis());
    timestamp.map_or_else(|_| format!("{} ms", time.millis()), |time| time.to_string())
}
