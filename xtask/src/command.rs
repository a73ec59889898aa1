//! Running programs from the root of the workspace.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The cargo that started this program, with the given arguments.
///
/// It must not see what cargo set for this program: build scripts that look at such variables
/// (`ring`'s does) would run again, and with them everything above, each time somebody changes
/// between `cargo` and `cargo xtask`.
pub(crate) fn cargo<const N: usize>(args: [&str; N]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args);
    without_own_variables(&mut command);
    command
}

/// Keeps from a program what cargo set for this one.
pub(crate) fn without_own_variables(command: &mut Command) {
    let own = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_", "CARGO_PRIMARY_"];
    for (name, _) in std::env::vars_os() {
        if own.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
}

/// Runs a command to its end and fails when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs a command and gives what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no text"))
}

/// Fails with advice unless a program is there.
pub(crate) fn require(program: &str, advice: &str) -> Result<()> {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()));
    if !found {
        bail!("{program} is not installed. {advice}");
    }
    Ok(())
}

/// The root of the workspace: the folder above this package.
pub(crate) fn root() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("start this through cargo: `cargo xtask`")?;
    let package = PathBuf::from(package);
    package.parent().map(Into::into).context("the package has no folder above it")
}

fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy();
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
    format!("{name} {}", args.join(" "))
}
