//! `kerf install`: everything that Kerf needs in an account and a cluster.
//!
//! Every name is decided first ([`settings`]). What is to be in the account is one template
//! (`kerf_aws::iam::classic_stack`), what is to be in the cluster is [`objects`]; [`print`] writes
//! both for other tools, and [`live`] makes it: what is there is read ([`facts`]), what speaks
//! against it is said ([`refusals`]), and what differs becomes a list of steps ([`plan`]), which is
//! shown and then carried out ([`apply`]). A second run finds nothing that differs.

mod apply;
pub(crate) mod cluster;
mod default_pool;
mod facts;
mod flags;
mod live;
pub(crate) mod objects;
mod plan;
mod print;
mod refusals;
mod requirements;
mod settings;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::{Context, Result};

pub(crate) use cluster::title;
pub(crate) use flags::Install;
pub(crate) use live::confirmed;
pub(crate) use objects::Filling;
pub(crate) use refusals::{Refusal, refusal, server, wrong_cluster};
pub(crate) use settings::{SERVICE_ACCOUNT, stack_name};

use settings::Settings;

impl Install {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let settings = Settings::of(&self)?;
        if let Some(form) = self.print {
            super::terminal::print(&print::print(form, &settings)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("could not start the runtime")?;
        runtime.block_on(live::install(&self, &settings)).map(ExitCode::from)
    }
}
