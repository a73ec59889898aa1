//! `kerf termination-handler`, or `kerf nth`: nodes are drained before AWS takes their instances.
//! Flags and variables are those of AWS Node Termination Handler.

mod drain;
mod options;
mod region;
mod serve;
mod source;
mod test_event;
mod validated;
mod webhook;

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use options::Given;
use test_event::TestEvent;
use validated::Validated;

use super::exit::UsageError;

/// The name of the command that puts an event on the queue.
const SEND_TEST_EVENT: &str = "send-test-event";

/// Arguments of `kerf termination-handler`.
pub(crate) enum TerminationHandler {
    Handle(Given),
    SendTestEvent(TestEvent),
}

impl FromArgMatches for TerminationHandler {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        match matches.subcommand() {
            Some((SEND_TEST_EVENT, matches)) => {
                TestEvent::from_arg_matches(matches).map(Self::SendTestEvent)
            }
            _ => Ok(Self::Handle(Given::read(matches, |name| std::env::var(name).ok()))),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for TerminationHandler {
    fn augment_args(command: Command) -> Command {
        let send = Command::new(SEND_TEST_EVENT)
            .about("Put an event about an instance on the queue, and see its node drained");
        options::arguments(command)
            .args_conflicts_with_subcommands(true)
            .subcommand(TestEvent::augment_args(send))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl TerminationHandler {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Handle(given) => {
                serve::run(&given, Validated::of(&given).map_err(UsageError::new)?)
            }
            Self::SendTestEvent(event) => event.run(),
        }
    }
}
