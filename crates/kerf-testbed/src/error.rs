//! What can go wrong while real parts start.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a part of the testbed could not be built, started or asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program the testbed is built with is absent. Retrying helps once it is installed.
    #[error("`{program}` was not found on PATH: {advice}")]
    Missing {
        /// The program as it was called.
        program: &'static str,
        /// What to install.
        advice: &'static str,
    },
    /// There is no `testbed/go.mod` above the starting folder, so there is nothing to build from.
    #[error(
        "no folder above {} holds testbed/go.mod: run this inside a checkout of Kerf",
        .start.display()
    )]
    NoSource {
        /// Where the search began.
        start: PathBuf,
    },
    /// Neither `XDG_CACHE_HOME` nor `HOME` says where to keep what is built.
    #[error("neither XDG_CACHE_HOME nor HOME is set: set one, the testbed is kept below it")]
    NoCacheHome,
    /// A build step ended badly. The log says why; retrying helps if it was the network.
    #[error("{what} failed ({status}); {} ends with:\n{tail}", .log.display())]
    Build {
        /// What was being built.
        what: String,
        /// How the step ended.
        status: ExitStatus,
        /// Where its whole output is.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// A part ended although it should run.
    #[error(
        "{part} ended by itself ({status}); {} ended with (KERF_TESTBED_KEEP=1 keeps it):\n{tail}",
        .log.display()
    )]
    Ended {
        /// The part.
        part: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// Where its log is.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// A part runs but was not ready in time: a slow machine, or a fault its log names.
    #[error(
        "{part} was not ready after {seconds} s; \
         {} ended with (KERF_TESTBED_KEEP=1 keeps it):\n{tail}",
        .log.display()
    )]
    NotReady {
        /// The part.
        part: &'static str,
        /// How long was waited.
        seconds: u64,
        /// Where its log is.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// Every port that was tried on loopback is in use.
    #[error("no free port on loopback between {first} and {last}: too many testbeds at once?")]
    NoPort {
        /// The first port of the range.
        first: u16,
        /// The last port of the range.
        last: u16,
    },
    /// A helper program answered with a failure.
    #[error("`{command}` failed ({status}): {message}")]
    Command {
        /// The command as a person would type it.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it wrote.
        message: String,
    },
    /// No user of that name was named in the options.
    #[error("the control plane was started without a user {name:?}: add it with Options::user")]
    NoUser {
        /// The name that was asked for.
        name: String,
    },
    /// A Deployment asks for something that a plain process cannot be given.
    #[error("the container of deployment {deployment} cannot run as a process: {why}")]
    Container {
        /// Its name.
        deployment: String,
        /// What it asks for, or lacks.
        why: String,
    },
    /// A file, folder or process could not be handled.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The asynchronous client could not be made from a kubeconfig.
    #[error("cannot make a client from the kubeconfig: {0}")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Makes an [`Error::Io`] from the system's error: `map_err(Error::io("read", path))`.
    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { action, path, source }
    }

    /// Makes [`Error::Missing`] when a program could not be started because it does not exist.
    pub(crate) fn starting(
        program: &'static str,
        advice: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { program, advice },
            _ => Self::Io { action: "start", path: PathBuf::from(program), source },
        }
    }

    /// Whether a part ended because someone else took its port first. Another port will do.
    pub(crate) fn is_port_taken(&self) -> bool {
        match self {
            Self::Ended { tail, .. } => tail.to_lowercase().contains("address already in use"),
            _ => false,
        }
    }
}
