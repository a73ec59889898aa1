//! `kerf zonal-autoshift`: the daemon that keeps nodes out of zones AWS shifts away from. Variables
//! and flags of the reference deployment are understood.

pub(crate) mod flags;
mod live;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::zonal_shift::Command;

/// Arguments of `kerf zonal-autoshift`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ZonalAutoshift {
    #[command(subcommand)]
    by_hand: Option<Command>,
    /// Exit with 0, for probes that only ask whether the program can be started
    #[arg(long, hide = true)]
    health: bool,
    #[command(flatten)]
    flags: live::Flags,
}

impl ZonalAutoshift {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if self.health {
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(command) = self.by_hand {
            return command.run();
        }
        self.flags.run()
    }
}
