//! Karpenter's own regression suite, unchanged, against Kerf on a real control plane with kwok.

use std::process::Command;

use anyhow::Result;

use crate::bench::executable;
use crate::command::{require, root, run as run_command};
use crate::test::GO_ADVICE;

/// The suite, in Karpenter's module.
const SUITE: &str = "sigs.k8s.io/karpenter/test/suites/regression";

/// What exists so far: the rest is about capacity buffers.
const FOCUS: &str =
    "Termination|Expiration|StandaloneNodeClaim|Integration|Chaos|Drift|StaticCapacity|Performance";

/// Two need pods that take their time to end, and kwok's end at once; one waits for fifteen minutes;
/// and one asks that repair ignores budgets, which Karpenter 1.15 no longer does.
const SKIP: &str = "pre-stop hook|drain pods on a node in order|registration timeout|Repair Policy should ignore disruption budgets";

/// What the suite is meant to be run with.
const GATES: (&str, &str) = ("FEATURE_GATES", "NodeRepair=true,StaticCapacity=true");

/// Builds everything and runs what exists so far, or what the first argument selects.
pub(crate) fn run(args: &[String]) -> Result<()> {
    require("go", GO_ADVICE)?;
    let kerf = executable::kerf()?;
    let package = ["bench", "--no-run", "--package", "kerf-kwok", "--bench", "e2e"];
    let stage = executable::built(package, "e2e")?;
    eprintln!("compat: building the suite");
    let suite = std::env::temp_dir().join("kerf-compat-regression");
    let mut build = Command::new("go");
    build.args(["test", "-c", "-o"]).arg(&suite).arg(SUITE);
    run_command(build.current_dir(root()?.join("bench/peer")))?;
    let focus = args.first().map_or(FOCUS, String::as_str);
    let mut command = Command::new(stage);
    command.env(GATES.0, GATES.1).arg("kerf").arg(kerf).arg("run").arg(suite).args([
        format!("-ginkgo.focus={focus}"),
        format!("-ginkgo.skip={SKIP}"),
        "-ginkgo.v".to_owned(),
        "-ginkgo.timeout=150m".to_owned(),
    ]);
    run_command(&mut command)
}
