//! CloudFormation templates, judged by cfn-lint, which the AWS stand-in brings along.

use std::path::Path;
use std::process::Stdio;

use crate::error::{Error, Result};
use crate::programs::cache::Cache;
use crate::programs::go_module::GoModule;
use crate::programs::toolchain::{AwsPython, Keeper};

/// The package has no module to run by `-m`, so its entry point is called.
const ENTRY: &str = "from cfnlint.runner import main; main()";

/// What cfn-lint finds in a template; empty if nothing.
pub fn lint_template(template: &Path) -> Result<String> {
    let (module, cache) = (GoModule::locate()?, Cache::open()?);
    let keeper = Keeper::ready(&module, &cache)?;
    let python = AwsPython::ready(&cache, &keeper)?;
    let output = std::process::Command::new(python.program())
        .args(["-c", ENTRY])
        .arg(template)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::io("run", python.program()))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    match (output.status.success(), said.trim().is_empty()) {
        (false, true) => Ok(format!("cfn-lint ended with {}", output.status)),
        _ => Ok(said),
    }
}
