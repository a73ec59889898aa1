//! Exit codes: one table for all commands, shown at the end of every `--help`.

use std::fmt;
use std::process::ExitCode;

use clap::Command;
use clap::builder::StyledStr;

/// The table, for people. docs/commands.md shows the same.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  success, also when nodes are needed
  1  failure: findings, bad or unreadable input, no answer from a cluster or AWS
  2  wrong usage: an unknown command or flag, a missing or wrong value;
     plan --detailed-exitcode: nodes would be launched or removed;
     install, uninstall --dry-run: something would be done
  3  plan --detailed-exitcode: some pods do not fit";

/// How a command ended, where it is not by an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Success,
    /// Something is wrong with what the command was asked about.
    Failure,
    /// The command was asked in a wrong way.
    Usage,
    /// Something would be done, where that is all that was asked.
    Changes,
    /// Pods do not fit, where the difference is asked for.
    Unschedulable,
}

impl Exit {
    /// Success or failure.
    pub(crate) fn success_if(is_good: bool) -> Self {
        if is_good { Self::Success } else { Self::Failure }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage | Exit::Changes => 2,
            Exit::Unschedulable => 3,
        })
    }
}

/// A mistake in the arguments or variables that only the command itself can see.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl UsageError {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Self(format!("{what:#}"))
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The commands with the table at the end of the help of each.
pub(crate) fn with_table(mut command: Command) -> Command {
    let own = command.get_after_help().map(StyledStr::to_string);
    let text = own.map_or_else(|| TABLE.to_owned(), |own| format!("{own}\n\n{TABLE}"));
    command = command.after_help(text);
    let names: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_table))
}
