//! Long steps that say they are alive.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// A person should never wonder for longer than this whether anything happens.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// How often a running step is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How much of a log an error carries.
const TAIL_LINES: usize = 25;

/// Says on standard error, every few seconds, what is going on and for how long.
pub(crate) struct Ticker {
    what: String,
    started: Instant,
    said: Instant,
}

impl Ticker {
    pub(crate) fn new(what: String) -> Self {
        let now = Instant::now();
        Self { what, started: now, said: now }
    }

    /// Says a line if the last one is long enough ago.
    pub(crate) fn tick(&mut self) {
        if self.said.elapsed() >= SAY_EVERY {
            self.said = Instant::now();
            say(&format!("{}: {} s", self.what, self.started.elapsed().as_secs()));
        }
    }

    fn seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

/// One line of progress.
pub(crate) fn say(line: &str) {
    eprintln!("kerf-testbed: {line}");
}

/// Runs one build step to its end, its output in `log`, a line on standard error every few seconds.
///
/// `command` gets a pipe as standard input that stays open as long as this process lives, so that a
/// keeper in front of it notices when we are gone.
pub(crate) fn run_step(
    what: &str,
    mut command: Command,
    log: &Path,
    start_error: impl FnOnce(std::io::Error) -> Error,
) -> Result<()> {
    let output = File::create(log).map_err(Error::io("create", log))?;
    let errors = output.try_clone().map_err(Error::io("open", log))?;
    command.stdin(Stdio::piped()).stdout(output).stderr(errors);
    let mut child = command.spawn().map_err(start_error)?;
    let mut ticker = Ticker::new(what.to_owned());
    let status = loop {
        if let Some(status) = child.try_wait().map_err(Error::io("wait for", what))? {
            break status;
        }
        ticker.tick();
        thread::sleep(LOOK_EVERY);
    };
    if !status.success() {
        let (what, log) = (what.to_owned(), log.to_path_buf());
        return Err(Error::Build { what, status, tail: tail(&log), log });
    }
    say(&format!("{what}: done after {} s", ticker.seconds()));
    Ok(())
}

/// The last lines of a log; empty if it cannot be read, because an error is being reported already.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
