//! Plans for whole clusters, in this process alone: what they save of what could be saved, and what it
//! takes to find them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::output;

use super::scale::{megabytes, short};
use super::{executable, page};

const PART: &str = "consolidation";
const THREADS: &str = "2";
const HEADER: &str = "\
| Cluster | Time | Memory beside it | Nodes go, come | Saved of what the bound allows | Evictions for each saved $/h |
|---|---|---|---|---|---|
";

/// Clusters in which every node is as small as its ten pods allow, of which so many in a hundred are
/// gone.
struct Cluster {
    about: &'static str,
    pods: &'static str,
    slack_percent: &'static str,
}

const CLUSTERS: [Cluster; 3] = [
    Cluster { about: "500 nodes, 20 % of the pods gone", pods: "5000", slack_percent: "20" },
    Cluster { about: "500 nodes, 5 % of the pods gone", pods: "5000", slack_percent: "5" },
    Cluster { about: "5,000 nodes, 20 % of the pods gone", pods: "50000", slack_percent: "20" },
];

/// Plans each cluster, prints the table and writes it into the page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let Some(unknown) = args.first() {
        bail!("bench consolidation takes no arguments, not {unknown}");
    }
    let program = executable::whole_cluster()?;
    let mut table = HEADER.to_owned();
    for cluster in &CLUSTERS {
        table.push_str(&row(&program, cluster)?);
    }
    println!("\n{table}");
    page::write_if_marked(PART, &table)
}

fn row(program: &Path, cluster: &Cluster) -> Result<String> {
    let Cluster { about, pods, slack_percent } = cluster;
    let text = output(Command::new(program).args(["json", pods, slack_percent, THREADS]))?;
    let plan: Value = serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))?;
    let number = |key: &str| plan[key].as_u64().with_context(|| format!("no {key}: {text}"));
    let (saving, bound) = (number("savingMicros")?, number("boundMicros")?);
    let tenths = (saving * 1000).checked_div(bound).unwrap_or(1000);
    let each = (number("evictions")? * 10_000_000).checked_div(saving).unwrap_or(0);
    let mut row = format!("| {about}, {} pods left ", number("pods")?);
    let _ = writeln!(
        row,
        "| {} | {} | {}, {} | {}.{} % of {} $/h | {}.{} |",
        short(Duration::from_micros(number("micros")?)),
        megabytes(number("peakBytes")?),
        number("removed")?,
        number("launched")?,
        tenths / 10,
        tenths % 10,
        bound / 1_000_000,
        each / 10,
        each % 10,
    );
    Ok(row)
}
