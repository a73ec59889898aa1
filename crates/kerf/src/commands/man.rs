//! `kerf man`: man pages from the same definitions as `--help` and the completions.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_mangen::Man;

use super::exit::UsageError;
use super::terminal;

/// Arguments of `kerf man`.
#[derive(Args)]
pub(crate) struct ManPages {
    /// The command whose page to print, such as plan or zonal-shift start; kerf itself by default
    command: Vec<String>,
    /// Write the pages of all commands into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    directory: Option<PathBuf>,
}

impl ManPages {
    pub(crate) fn run(self, mut definition: Command) -> Result<ExitCode> {
        let Self { command, directory } = self;
        // Gives every command its whole name: kerf-zonal-shift-start.
        definition.build();
        match directory {
            None => {
                let page = page(found(definition, &command)?)?;
                terminal::print(&String::from_utf8_lossy(&page))?;
            }
            Some(directory) => {
                fs::create_dir_all(&directory).with_context(|| {
                    format!("could not make --directory {}", directory.display())
                })?;
                for command in all(&definition) {
                    let file = format!("{}.1", name(&command));
                    let path = directory.join(file);
                    fs::write(&path, page(command)?)
                        .with_context(|| format!("could not write {}", path.display()))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("a page is plain text")?;
    Ok(page)
}

fn found(mut command: Command, words: &[String]) -> Result<Command> {
    for word in words {
        let inner = command.find_subcommand(word).cloned();
        let why =
            || UsageError::new(format!("there is no command {word:?}; kerf --help lists them"));
        command = inner.ok_or_else(why)?;
    }
    Ok(command)
}

/// The commands that the help lists, and those below them.
fn all(command: &Command) -> Vec<Command> {
    let inner = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
    std::iter::once(command.clone()).chain(inner.flat_map(all)).collect()
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}
