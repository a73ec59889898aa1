//! The engine in large clusters: what things cost it, how long notices wait in it, how it grows.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::output;

use super::scale::{megabytes, short};
use super::{executable, page, watch};

const PART: &str = "engine";
/// Ten run on each node.
const PODS: &str = "50000";
const ROUNDS: &str = "20";
/// How long notices come.
const SECONDS: &str = "20";
/// Sizes of the clusters that an hour is played with, unless others are named.
const NODES: [&str; 3] = ["1000", "5000", "20000"];

const COSTS: [(&str, &str); 4] = [
    ("pod-event", "a pod that runs changes: heard and decided"),
    ("quiet-pass", "ten pods wait: snapshot, solve and decision"),
    ("notice", "a spot notice: heard, and its first write ordered"),
    ("scrape-copy", "a scrape: the copy of the world that it reads, which the engine waits for"),
];

/// Measures, prints the tables and writes them into the page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let program = executable::large_cluster()?;
    let (growth, scrape) = (executable::growth()?, executable::scrape()?);
    let mut text = costs(&program, &scrape)?;
    let sizes: Vec<&str> = args.iter().map(String::as_str).collect();
    let sizes = if sizes.is_empty() { NODES.to_vec() } else { sizes };
    text += "\n| Nodes | Pods | Engine, an hour | Its longest pause | It holds | With the simulator | Peak memory of both |\n";
    text += "|---|---|---|---|---|---|---|\n";
    for nodes in sizes {
        eprintln!("bench engine: an hour with {nodes} nodes");
        text += &hour(&growth, nodes)?;
    }
    println!("\n{text}");
    page::write(PART, &text)
}

fn costs(program: &Path, scrape: &Path) -> Result<String> {
    let mut table = "| With 5,000 nodes and 50,000 pods | Time |\n|---|---|\n".to_owned();
    for (name, about) in COSTS {
        let name = format!("{name}-{PODS}");
        let micros = output(Command::new(program).args(["time", &name, ROUNDS]))?;
        let micros = micros.trim().parse().with_context(|| format!("{name}: {micros}"))?;
        let _ = writeln!(table, "| {about} | {} |", short(Duration::from_micros(micros)));
    }
    let page = json(Command::new(scrape).args([PODS, ROUNDS]))?;
    let took = short(Duration::from_micros(page["micros"].as_u64().unwrap_or(0)));
    let size = megabytes(page["bytes"].as_u64().unwrap_or(0));
    let _ = writeln!(table, "| and its page of {size}, written beside the engine | {took} |");
    let notices = json(Command::new(program).args(["notices", PODS, SECONDS]))?;
    let micros = |key: &str| short(Duration::from_micros(notices[key].as_u64().unwrap_or(0)));
    let _ = writeln!(
        table,
        "| {} spot notices among 500 changes of pods each second while solves run ({} of them), from the moment \
         each is due to its first write: median, p99, longest | {}, {}, {} |",
        notices["notices"],
        notices["solves"],
        micros("p50Micros"),
        micros("p99Micros"),
        micros("maxMicros"),
    );
    let name = format!("{}-{PODS}", COSTS[0].0);
    let peak = watch::peak_bytes(Command::new(program).args(["once", &name]))?;
    let peak = peak.map_or_else(|| "–".to_owned(), megabytes);
    let _ = writeln!(table, "| memory of the engine and of what it was told, at most | {peak} |");
    Ok(table)
}

fn hour(program: &Path, nodes: &str) -> Result<String> {
    let hour = json(Command::new(program).arg(nodes))?;
    let number = |key: &str| hour[key].as_u64().unwrap_or(0);
    let millis = |key: &str| short(Duration::from_millis(number(key)));
    Ok(format!(
        "| {} | {} | {} | {} | {} | {} | {} |\n",
        number("nodes"),
        number("nodes") * 10,
        millis("engineMillis"),
        short(Duration::from_micros(number("longestMicros"))),
        megabytes(number("engineBytes")),
        millis("hourMillis"),
        megabytes(number("peakBytes")),
    ))
}

fn json(command: &mut Command) -> Result<Value> {
    let text = output(command)?;
    serde_json::from_str(&text).with_context(|| format!("not JSON: {text}"))
}
