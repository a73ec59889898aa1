//! One running part, its log and its end.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::programs::progress::tail;
use crate::programs::wait::wait_until;

/// The keeper gives a part a second to end and then kills it; a keeper that needs longer than this
/// is killed itself, and the kernel takes its part along.
const END_AT_MOST: Duration = Duration::from_secs(10);

/// A part of the testbed, running under a keeper that ends it when our side of the pipe closes.
#[derive(Debug)]
pub(crate) struct Process {
    part: &'static str,
    keeper: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a keeper command in `dir`, with the output of its part in `dir/PART.log`.
    pub(crate) fn start(part: &'static str, mut keeper: Command, dir: &Path) -> Result<Self> {
        let log = dir.join(format!("{part}.log"));
        let output = File::create(&log).map_err(Error::io("create", &log))?;
        let errors = output.try_clone().map_err(Error::io("open", &log))?;
        keeper.current_dir(dir).stdin(Stdio::piped()).stdout(output).stderr(errors);
        let keeper = keeper.spawn().map_err(Error::io("start", part))?;
        Ok(Self { part, keeper, log })
    }

    /// The part's name.
    pub(crate) fn part(&self) -> &'static str {
        self.part
    }

    /// Where the part writes.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// What the part has written so far.
    pub(crate) fn log_text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The process ids of the keeper and, once it has started, of the part itself.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let log = self.log_text();
        let announced = log.lines().next().and_then(|line| {
            line.strip_prefix("keeper: pid ")?.split_whitespace().next()?.parse().ok()
        });
        std::iter::once(self.keeper.id()).chain(announced).collect()
    }

    /// Fails if the part has ended by itself.
    pub(crate) fn check(&mut self) -> Result<()> {
        let ended = self.keeper.try_wait().map_err(Error::io("wait for", self.part))?;
        match ended {
            None => Ok(()),
            Some(status) => {
                let log = self.log.clone();
                Err(Error::Ended { part: self.part, status, tail: tail(&log), log })
            }
        }
    }

    /// The error to give when the part lives but did not get ready.
    pub(crate) fn not_ready(&self, waited: Duration) -> Error {
        Error::NotReady {
            part: self.part,
            seconds: waited.as_secs(),
            log: self.log.clone(),
            tail: tail(&self.log),
        }
    }

    /// Tells the keeper to end its part. Returns at once, so that many parts can end together.
    pub(crate) fn begin_end(&mut self) {
        drop(self.keeper.stdin.take());
    }
}

/// Looks at `probe` until it holds (true) or the time is over (false). Fails as soon as `check`
/// does: nobody should wait a minute for a part that died in the first second.
pub(crate) fn wait_while_alive<T>(
    subject: &mut T,
    at_most: Duration,
    check: impl Fn(&mut T) -> Result<()>,
    mut probe: impl FnMut(&T) -> bool,
) -> Result<bool> {
    let mut alive = Ok(());
    let settled = wait_until(at_most, || {
        alive = check(subject);
        alive.is_err() || probe(subject)
    });
    alive.map(|()| settled)
}

impl Drop for Process {
    fn drop(&mut self) {
        self.begin_end();
        let ended = wait_until(END_AT_MOST, || !matches!(self.keeper.try_wait(), Ok(None)));
        if !ended {
            // Both fail only if the process is gone already, which is what is wanted.
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
    }
}
