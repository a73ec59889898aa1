//! The one task runner: `cargo xtask` lists the tasks, `cargo xtask TASK` runs one.

mod bench;
mod check;
mod command;
mod compat;
mod fuzz;
mod generated;
mod image;
mod licences;
mod metadata;
mod rings;
mod test;

use std::process::ExitCode;

use anyhow::Result;

use command::{cargo, run};

/// A task: its name, the line that describes it, and what it does with the remaining arguments.
struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const TASKS: [Task; 12] = [
    Task {
        name: "check",
        about: "Format, lints, generated files, crate dependencies, licences: what CI checks first",
        run: check::run,
    },
    Task {
        name: "test",
        about: "All tests, on a real control plane that is built once (needs Go and Python 3)",
        run: test::run,
    },
    Task {
        name: "crds",
        about: "Write deploy/crds/ anew from the types in crates/kerf-api",
        run: |_| generated::write_crds(),
    },
    Task {
        name: "policies",
        about: "Write IAM policies and their table in docs/aws.md anew from crates/kerf-aws/src/iam",
        run: |_| generated::write_policies(),
    },
    Task {
        name: "charts",
        about: "Copy deploy/crds/ and deploy/rbac*.yaml into the charts, which can read nothing else",
        run: |_| generated::write_charts(),
    },
    Task {
        name: "image",
        about: "Write a container image as an OCI layout to target/image, without a container engine",
        run: image::run_task,
    },
    Task {
        name: "testbed",
        about: "Start a real control plane with kwok for yourself [--aws] [--crds]; Ctrl-C ends it",
        run: testbed,
    },
    Task {
        name: "bench",
        about: "Count instructions [NAME…] [--record] (needs valgrind); `scale|peer|e2e|aws|engine|router|nth`",
        run: bench::run,
    },
    Task {
        name: "compat",
        about: "Run Karpenter's own regression suite against Kerf [FOCUS] (needs Go; 20 minutes)",
        run: compat::run,
    },
    Task {
        name: "fuzz",
        about: "Feed parsers, observer and engine what reaches new code [--minutes N] [TARGET…]",
        run: fuzz::run,
    },
    Task {
        name: "catalog",
        about: "Make the built-in AWS instance types anew (needs Go and Python 3)",
        run: catalog,
    },
    Task {
        name: "golden",
        about: "Record anew how the reference behaves, into golden/recorded/ (needs Go)",
        run: golden,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(status) = fuzz::compile(&args) {
        return status;
    }
    let Some((name, rest)) = args.split_first() else {
        list();
        return ExitCode::SUCCESS;
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("There is no task \"{name}\". The tasks are:\n");
        list();
        return ExitCode::FAILURE;
    };
    match (task.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\ncargo xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn list() {
    println!("cargo xtask TASK\n");
    for task in &TASKS {
        println!("  {:<8} {}", task.name, task.about);
    }
}

fn testbed(args: &[String]) -> Result<()> {
    run(cargo(["run", "--locked", "--quiet", "--package", "kerf-testbed", "--"]).args(args))
}

fn catalog(args: &[String]) -> Result<()> {
    command::require("go", test::GO_ADVICE)?;
    run(std::process::Command::new("python3").arg("catalog/generate.py").args(args))
}

/// The table of the AWS provider.
const USER_DATA: &str = "user_data";

fn golden(args: &[String]) -> Result<()> {
    command::require("go", test::GO_ADVICE)?;
    let mut core = std::process::Command::new("go");
    let mut provider = std::process::Command::new("go");
    core.args(["run", "."]).args(args).current_dir("golden");
    // A module of its own with one table: built with other versions than the rest.
    provider.args(["run", "."]).current_dir("golden/aws");
    match args {
        [] => run(&mut core).and_then(|()| run(&mut provider)),
        [table] if table == USER_DATA => run(&mut provider),
        _ => run(&mut core),
    }
}
