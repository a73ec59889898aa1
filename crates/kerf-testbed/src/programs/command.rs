//! Short commands that run to their end.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Runs a command with `input` on standard input and gives back what it printed.
pub(crate) fn run(command: &mut Command, input: &str) -> Result<String> {
    let program = Path::new(command.get_program()).to_path_buf();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Error::io("start", &program))?;
    let written = match child.stdin.take() {
        Some(mut stdin) => stdin.write_all(input.as_bytes()),
        None => Ok(()),
    };
    let output = child.wait_with_output().map_err(Error::io("wait for", &program))?;
    if !output.status.success() {
        // A command that gives up early does not read its input; its own words say more about that.
        // Helm, for one, says what it finds on standard output.
        let said = [output.stderr, output.stdout].concat();
        return Err(Error::Command {
            command: spoken(command),
            status: output.status,
            message: String::from_utf8_lossy(&said).trim().to_owned(),
        });
    }
    written.map_err(Error::io("write to", &program))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as a person would type it, without the path of the program.
fn spoken(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
