//! Kerf and its peer on the same problems in the same run, as a table in `docs/benchmarks.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{output, require, root, run};
use crate::test::GO_ADVICE;

use super::{executable, page};

/// The part of the page that the table is written into.
const PART: &str = "peer";
/// Has only Kerf solve the problems of the last run.
const REUSE: &str = "--reuse";

const HEADER: &str = "\
| Workload | Pods | Peer pods/s | Kerf pods/s | × | Peer nodes | Kerf nodes | Peer $/h | Kerf $/h | \
Bound $/h | Cheaper | Peer MiB | Kerf MiB |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
";

/// Makes the problems, has both solve them, prints the table and writes it into the page.
pub(crate) fn run_peer(args: &[String]) -> Result<()> {
    require("go", GO_ADVICE)?;
    let folder = std::env::temp_dir().join("kerf-bench-peer");
    let root = root()?;
    if args.iter().any(|arg| arg == REUSE) {
        eprintln!("bench peer: Karpenter's answers of the last run stand");
    } else {
        eprintln!("bench peer: Karpenter solves every workload (8 minutes; --quick for a look)");
        let mut peer = Command::new("go");
        peer.args(["run", ".", "all", "--out"]).arg(&folder).args(args);
        run(peer.current_dir(root.join("bench/peer")))?;
    }
    let program = executable::kerf()?;
    let index = read(&folder.join("index.json"))?;
    let mut table = HEADER.to_owned();
    let runs = index["runs"].as_array().context("index.json lists no runs")?;
    for entry in runs {
        let file = |key: &str| folder.join(entry[key].as_str().unwrap_or_default());
        let mut solve = Command::new(&program);
        let solved = output(solve.arg("bench-solve").arg(file("problem")))?;
        let kerf: Value = serde_json::from_str(&solved).context("kerf prints JSON")?;
        let row = row(&read(&file("result"))?, &kerf);
        eprint!("{row}");
        table.push_str(&row);
    }
    println!("\n{table}");
    page::write(PART, &table)
}

fn row(peer: &Value, kerf: &Value) -> String {
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or(0.0);
    let pods = number(peer, "pods");
    let peer_speed = number(peer, "podsPerSecond");
    let kerf_speed = pods / (number(kerf, "solveMicros") / 1e6).max(1e-9);
    let dollars = |value: &Value, key: &str| number(value, key) / 1e6;
    let (peer_price, kerf_price) =
        (dollars(peer, "priceMicrosPerHour"), dollars(kerf, "priceMicrosPerHour"));
    let mebibytes = |value: &Value| value.as_f64().unwrap_or(0.0) / f64::from(1 << 20);
    let mut row = String::new();
    let _ = writeln!(
        row,
        "| {} | {pods} | {peer_speed:.0} | {kerf_speed:.0} | {:.0} | {} | {} | {peer_price:.2} | \
         {kerf_price:.2} | {:.2} | {:.1} % | {:.0} | {:.0} |",
        peer["workload"].as_str().unwrap_or_default(),
        kerf_speed / peer_speed.max(1e-9),
        peer["newNodeCount"],
        kerf["newNodes"],
        dollars(kerf, "lowerBoundMicrosPerHour"),
        (1.0 - kerf_price / peer_price.max(1e-9)) * 100.0,
        mebibytes(&peer["memory"]["peakBytes"]),
        mebibytes(&kerf["peakMemoryBytes"]),
    );
    row
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}
