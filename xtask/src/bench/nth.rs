//! The termination handler: how fast nodes are cordoned when many are taken at once, what an event
//! costs in calls, and what both modes take of a machine. NTH's own figures stand beside.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::output;

use super::record::grouped;
use super::{executable, page, scale};

const PART: &str = "nth";
const USAGE: &str = "bench nth [--quick] [--program FILE]";
const HEADER: &str = "| What | Kerf | Aim | NTH 1.25 |\n|---|---|---|---|\n";

/// Aims: seconds for 200 events at once, requests to the API server for each, instances in a lookup,
/// memory and share of a core of a process that runs on every node.
const MASS_EVENTS: u64 = 200;
const MASS_SECONDS: f64 = 3.0;
const REQUESTS_PER_EVENT: f64 = 4.0;
const INSTANCES_PER_LOOKUP: u64 = 100;
const METADATA_BYTES: f64 = 12e6;
const METADATA_PERCENT: f64 = 0.1;

/// From the last message sent to the last node cordoned by NTH 1.25, on a machine like this one.
const PEER_SECONDS: [(u64, &str); 3] = [(1, "0.85 s"), (50, "79 s"), (MASS_EVENTS, "346 s")];

/// The arguments of each measurement.
struct Sizes {
    events: &'static [&'static str],
    cluster: [&'static str; 2],
    metadata: [&'static str; 2],
}

const WHOLE: Sizes = Sizes {
    events: &["1", "50", "200", "1000"],
    cluster: ["5000", "10"],
    metadata: ["200", "120"],
};
const QUICK: Sizes = Sizes { events: &["1", "20"], cluster: ["50", "2"], metadata: ["5", "10"] };

struct Asked {
    is_quick: bool,
    /// The program to measure, where it is not built here.
    program: Option<PathBuf>,
}

/// Measures, prints the table and, where everything was measured, writes it into the page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let asked = read(args)?;
    // Asked before building, which is work of our own.
    let load = scale::load().filter(|load| *load > 1.0);
    let kerf = match &asked.program {
        Some(program) => program.clone(),
        None => executable::kerf()?,
    };
    let stage =
        executable::built(["bench", "--no-run", "--package", "xtask", "--bench", "nth"], "nth")?;
    let sizes = if asked.is_quick { QUICK } else { WHOLE };
    let events = measure(&stage, "events", &kerf, sizes.events)?;
    let cluster = measure(&stage, "cluster", &kerf, &sizes.cluster)?;
    let metadata = measure(&stage, "metadata", &kerf, &sizes.metadata)?;
    let mut table = table(&events, &cluster, &metadata)?;
    if let Some(load) = load {
        table.push_str(&format!(
            "\nThe machine had other work too (load {load}): times are too long.\n"
        ));
    }
    println!("\n{table}");
    match asked.is_quick || asked.program.is_some() {
        true => Ok(()),
        false => page::write(PART, &table),
    }
}

fn read(args: &[String]) -> Result<Asked> {
    let mut asked = Asked { is_quick: false, program: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => asked.is_quick = true,
            "--program" => {
                let program = args.next().with_context(|| format!("usage: {USAGE}"))?;
                asked.program = Some(program.into());
            }
            _ => bail!("usage: {USAGE}"),
        }
    }
    Ok(asked)
}

fn measure(stage: &Path, what: &str, kerf: &Path, sizes: &[&str]) -> Result<Value> {
    eprintln!("bench nth {what}: {}", sizes.join(" "));
    let report = output(Command::new(stage).arg(what).arg(kerf).args(sizes))?;
    let line = report.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    serde_json::from_str(line).context("the report is not JSON")
}

fn table(events: &Value, cluster: &Value, metadata: &Value) -> Result<String> {
    let rounds = events["rounds"].as_array().context("no rounds")?;
    let mut text = HEADER.to_owned();
    for round in rounds {
        text.push_str(&cordoned_row(round)?);
    }
    for round in rounds {
        text.push_str(&call_rows(round)?);
    }
    text.push_str(&memory_rows(rounds, cluster, metadata)?);
    text.push_str(&start_rows(rounds, cluster, metadata)?);
    Ok(text)
}

fn cordoned_row(round: &Value) -> Result<String> {
    let (count, seconds) = (count(round, "events")?, number(round, "cordoned_seconds")?);
    let about = match count {
        1 => "1 event: from the message sent to the node cordoned".to_owned(),
        count => {
            format!(
                "{} at once: from the last message sent to the last node cordoned",
                shown(count)
            )
        }
    };
    let aim = (count == MASS_EVENTS).then_some(("≤ 3 s", seconds <= MASS_SECONDS));
    let peer = PEER_SECONDS.iter().find(|(events, _)| *events == count).map(|(_, peer)| *peer);
    Ok(row(&about, &format!("{seconds:.2} s"), aim, peer))
}

/// What the events of a round cost, where there is more than one.
fn call_rows(round: &Value) -> Result<String> {
    let count = match count(round, "events")? {
        1 => return Ok(String::new()),
        count => count,
    };
    let requests = number(round, "requests_per_event")?;
    let by_name = round["requests"].as_object().context("no requests")?;
    let by_name = by_name
        .iter()
        .map(|(name, each)| format!("{:.2} {name}", each.as_f64().unwrap_or_default()));
    let figure = format!("{requests:.2} ({})", by_name.collect::<Vec<_>>().join(", "));
    let about = format!("Requests to the API server for each of {} events", shown(count));
    let aim = Some(("≤ 4", requests <= REQUESTS_PER_EVENT));
    let mut rows = row(&about, &figure, aim, Some("9"));
    let lookups = self::count(round, "lookups")?;
    let allowed = count.div_ceil(INSTANCES_PER_LOOKUP);
    let about = format!("DescribeInstances calls for {} events", shown(count));
    let aim = format!("≤ {allowed}");
    let peer = format!("up to {}", shown(7 * count));
    rows.push_str(&row(&about, &shown(lookups), Some((&aim, lookups <= allowed)), Some(&peer)));
    Ok(rows)
}

fn memory_rows(rounds: &[Value], cluster: &Value, metadata: &Value) -> Result<String> {
    let mut rows = String::new();
    if let Some(round) = rounds.iter().find(|round| round["events"] == MASS_EVENTS) {
        let figure = megabytes(number(round, "peak_memory_bytes")?);
        let about = format!("Queue mode, peak memory with {MASS_EVENTS} events");
        rows.push_str(&row(&about, &figure, None, Some("73 MB (70 MiB)")));
    }
    let about = format!("Queue mode, peak memory with {}", size(cluster)?);
    let figure = format!(
        "{}, then {}, of which {} its own",
        megabytes(number(cluster, "peak_memory_bytes")?),
        megabytes(number(cluster, "resident_bytes")?),
        megabytes(number(cluster, "private_bytes")?)
    );
    rows.push_str(&row(&about, &figure, None, None));
    let (peak, resident) =
        (number(metadata, "peak_memory_bytes")?, number(metadata, "resident_bytes")?);
    let figure = format!(
        "{}, at its peak {}, of which {} its own",
        megabytes(resident),
        megabytes(peak),
        megabytes(number(metadata, "private_bytes")?)
    );
    let aim = Some(("< 12 MB", resident < METADATA_BYTES));
    rows.push_str(&row("IMDS mode, memory at rest", &figure, aim, Some("60 MB (57 MiB)")));
    let percent = number(metadata, "processor_percent")?;
    let about = format!("IMDS mode, share of a core at rest, over {} s", metadata["seconds"]);
    let aim = Some(("< 0.1 %", percent < METADATA_PERCENT));
    rows.push_str(&row(&about, &format!("{percent:.3} %"), aim, None));
    Ok(rows)
}

fn start_rows(rounds: &[Value], cluster: &Value, metadata: &Value) -> Result<String> {
    let mut rows = String::new();
    let mut start = |about: &str, report: &Value| -> Result<()> {
        let seconds = number(report, "start_seconds")?;
        rows.push_str(&row(about, &format!("{seconds:.2} s"), None, None));
        Ok(())
    };
    if let Some(first) = rounds.first() {
        start("Start of queue mode until the queue is read, 1 node", first)?;
    }
    start(&format!("The same with {}", size(cluster)?), cluster)?;
    start("Start of IMDS mode until everything is asked for", metadata)?;
    Ok(rows)
}

fn size(cluster: &Value) -> Result<String> {
    let (nodes, pods) = (count(cluster, "nodes")?, count(cluster, "pods")?);
    Ok(format!("{} nodes and {} pods", shown(nodes), shown(pods)))
}

fn row(about: &str, figure: &str, aim: Option<(&str, bool)>, peer: Option<&str>) -> String {
    let aim = aim.map_or_else(
        || "–".to_owned(),
        |(aim, met)| format!("{aim}{}", if met { "" } else { " (missed)" }),
    );
    format!("| {about} | {figure} | {aim} | {} |\n", peer.unwrap_or("–"))
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

/// Digits in groups, as people write them.
fn shown(number: u64) -> String {
    grouped(number).replace('_', ",")
}

fn number(report: &Value, key: &str) -> Result<f64> {
    report[key].as_f64().with_context(|| format!("no {key} in {report}"))
}

fn count(report: &Value, key: &str) -> Result<u64> {
    report[key].as_u64().with_context(|| format!("no {key} in {report}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn round(events: u64, seconds: f64, lookups: u64) -> Value {
        json!({"events": events, "cordoned_seconds": seconds, "start_seconds": 0.25,
            "requests_per_event": 2.0, "requests": {"PATCH nodes": 1.0, "POST pods/eviction": 1.0},
            "lookups": lookups, "peak_memory_bytes": 40_000_000})
    }

    #[test]
    fn two_hundred_events_have_an_aim_and_a_peer_and_a_thousand_have_neither() {
        let about = "from the last message sent to the last node cordoned";
        let row = |seconds| cordoned_row(&round(200, seconds, 2)).unwrap();
        assert_eq!(row(2.5), format!("| 200 at once: {about} | 2.50 s | ≤ 3 s | 346 s |\n"));
        assert!(row(3.5).contains("| ≤ 3 s (missed) |"), "{}", row(3.5));
        let thousand = cordoned_row(&round(1000, 9.0, 10)).unwrap();
        assert_eq!(thousand, format!("| 1,000 at once: {about} | 9.00 s | – | – |\n"));
    }

    #[test]
    fn a_lookup_is_for_a_hundred_instances() {
        let rows = |events, lookups| call_rows(&round(events, 1.0, lookups)).unwrap();
        assert!(rows(200, 2).contains("for 200 events | 2 | ≤ 2 | up to 1,400 |"));
        assert!(rows(200, 3).contains("| 3 | ≤ 2 (missed) |"));
        assert!(rows(50, 1).contains("| 1 | ≤ 1 |"));
        assert!(
            rows(50, 1).contains("2.00 (1.00 PATCH nodes, 1.00 POST pods/eviction) | ≤ 4 | 9 |")
        );
        assert_eq!(rows(1, 1), "");
    }

    #[test]
    fn the_memory_of_a_process_on_every_node_is_judged_at_rest() {
        let cluster = json!({"nodes": 5000, "pods": 50_000, "start_seconds": 2.0,
            "peak_memory_bytes": 90_000_000, "resident_bytes": 80_000_000,
            "private_bytes": 60_000_000});
        let metadata = |resident: u64| {
            json!({"seconds": 120, "start_seconds": 0.1, "processor_percent": 0.05,
                "peak_memory_bytes": 15_000_000, "resident_bytes": resident,
                "private_bytes": 4_000_000})
        };
        let of = |resident| memory_rows(&[], &cluster, &metadata(resident)).unwrap();
        assert!(
            of(11_900_000)
                .contains("| 11.9 MB, at its peak 15.0 MB, of which 4.0 MB its own | < 12 MB |")
        );
        assert!(of(12_000_000).contains("| < 12 MB (missed) |"));
        assert!(
            of(1).contains("| Queue mode, peak memory with 5,000 nodes and 50,000 pods | 90.0 MB")
        );
    }

    #[test]
    fn figures_that_are_not_there_are_missed_by_name() {
        let error = cordoned_row(&json!({"events": 1})).unwrap_err().to_string();
        assert!(error.contains("no cordoned_seconds in"), "{error}");
    }

    #[test]
    fn only_known_options_are_taken() {
        let read = |args: &[&str]| read(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(read(&["--quick"]).unwrap().is_quick);
        assert!(read(&["--program", "kerf"]).unwrap().program.is_some());
        assert!(read(&["--slow"]).is_err() && read(&["--program"]).is_err());
    }
}
