//! The event router: its core alone, both its fronts on a stand-in, and the instructions it takes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{output, root, run as run_command};

use super::callgrind::Callgrind;
use super::instructions::{self, Row};
use super::record::{Record, grouped};
use super::{executable, page};

const PART: &str = "router";
const INSTRUCTIONS: &str = "bench/router-instructions.txt";
const RECORD: &str = "--record";
const HEADER: &str = "| What | Figure | Aim |\n|---|---|---|\n";

/// Aims: events a second on one core, calls to EC2 for a thousand events, the function's program.
const EVENTS_PER_SECOND: u64 = 500_000;
const COLD_CALLS: u64 = 6;
const WARM_CALLS: u64 = 1;
const START_MICROS: u64 = 30_000;
const PEAK_BYTES: u64 = 25_000_000;
const ZIP_BYTES: u64 = 10_000_000;

/// Counts instructions and compares them, or takes them for the record; then measures everything
/// and writes the table into the page.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let Some(unknown) = args.iter().find(|arg| *arg != RECORD) {
        bail!("there is no option {unknown}; `cargo xtask bench router [{RECORD}]`");
    }
    let load = super::scale::load();
    let core = executable::built(
        ["bench", "--no-run", "--package", "kerf-notices", "--bench", "router"],
        "router",
    )?;
    count(&core, !args.is_empty())?;
    let fronts = executable::built(
        ["bench", "--no-run", "--package", "kerf-router", "--bench", "fronts"],
        "fronts",
    )?;
    let lambda = executable::built(
        ["build", "--release", "--package", "kerf-router", "--bin", "kerf-router-lambda"],
        "kerf-router-lambda",
    )?;
    let (lambda, zip_bytes) = packed(&lambda)?;
    let mut table = HEADER.to_owned();
    table.push_str(&core_rows(&report_of(&mut Command::new(&core))?)?);
    table.push_str(&simulation_rows(&report_of(Command::new(&core).arg("simulate"))?)?);
    table.push_str(&daemon_rows(&report_of(Command::new(&fronts).arg("daemon"))?)?);
    table.push_str(&lambda_rows(&report_of(Command::new(&fronts).arg("lambda").arg(lambda))?)?);
    table.push_str(&row(
        "zip of the function's program, stripped",
        &format!("{:.1} MB", zip_bytes as f64 / 1e6),
        Some(("< 10 MB", zip_bytes < ZIP_BYTES)),
    ));
    if let Some(load) = load.filter(|load| *load > 1.0) {
        let _ =
            writeln!(table, "\nThe machine had other work too (load {load}): times are too long.");
    }
    println!("\n{table}");
    page::write(PART, &table)
}

/// Fails where a hot path takes far more instructions than on record.
fn count(program: &Path, record: bool) -> Result<()> {
    let callgrind = Callgrind::find()?;
    let names = output(Command::new(program).arg("names"))?;
    let counted = names.lines().map(|name| Ok((name.to_owned(), callgrind.count(program, name)?)));
    let counted = counted.collect::<Result<Vec<_>>>()?;
    let file = root()?.join(INSTRUCTIONS);
    let here = instructions::surroundings(&callgrind)?;
    if record {
        fs::write(&file, Record::print(&here, &counted)).context(INSTRUCTIONS)?;
        println!("Wrote {INSTRUCTIONS}.");
        return Ok(());
    }
    let known = Record::parse(&fs::read_to_string(&file).context(INSTRUCTIONS)?)?;
    let rows = counted.into_iter().map(|(name, counted)| {
        let recorded = known.counts.get(&name).copied();
        Row { name, counted, recorded }
    });
    let rows: Vec<_> = rows.collect();
    rows.iter().for_each(|row| println!("{}", row.line()));
    instructions::judge(&rows, &known.surroundings, &here, |name| callgrind.profile(name))
}

/// The program as it is shipped: stripped, named `bootstrap`, in a zip. Gives its path and the size.
fn packed(program: &Path) -> Result<(std::path::PathBuf, u64)> {
    let folder = std::env::temp_dir().join("kerf-bench");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let (bootstrap, zip) = (folder.join("bootstrap"), folder.join("router.zip"));
    run_command(Command::new("strip").arg("-o").arg(&bootstrap).arg(program))?;
    run_command(Command::new("python3").args(["-m", "zipfile", "-c"]).arg(&zip).arg(&bootstrap))?;
    Ok((bootstrap, fs::metadata(&zip).context("the zip")?.len()))
}

/// The last line that a program printed, which is JSON.
fn report_of(command: &mut Command) -> Result<Value> {
    let printed = output(command)?;
    let line = printed.lines().rfind(|line| line.starts_with('{')).context("no figures came")?;
    serde_json::from_str(line).context("the figures are not JSON")
}

fn number(value: &Value, key: &str) -> Result<u64> {
    value[key].as_u64().with_context(|| format!("no {key} in {value}"))
}

fn row(about: &str, figure: &str, aim: Option<(&str, bool)>) -> String {
    let aim = aim.map_or_else(
        || "–".to_owned(),
        |(aim, met)| format!("{aim}{}", if met { "" } else { " (missed)" }),
    );
    format!("| {about} | {figure} | {aim} |\n")
}

fn core_rows(core: &Value) -> Result<String> {
    let (bodies, payloads) =
        (number(core, "bodies_per_second")?, number(core, "payloads_per_second")?);
    let batch = number(core, "batch")?;
    let about = format!("core, one core, message bodies, {batch} together, warm cache");
    let aim = ("≥ 500,000 events/s", bodies >= EVENTS_PER_SECOND);
    let mut rows = row(&about, &format!("{} events/s", thousands(bodies)), Some(aim));
    let about = "the same out of whole Lambda payloads";
    rows.push_str(&row(about, &format!("{} events/s", thousands(payloads)), None));
    Ok(rows)
}

fn simulation_rows(report: &Value) -> Result<String> {
    let mut rows = String::new();
    for calls in report["calls"].as_array().context("no calls")? {
        let (cold, warm) = (number(calls, "cold")?, number(calls, "warm")?);
        let about = format!(
            "calls to EC2 for 1,000 events about 1,000 instances, {} together",
            number(calls, "batch")?
        );
        let met = cold <= COLD_CALLS && warm <= WARM_CALLS;
        rows.push_str(&row(
            &about,
            &format!("{cold} cold, {warm} warm"),
            Some(("≤ 6 cold, ≤ 1 warm", met)),
        ));
    }
    let wrong = ["lost", "misdelivered", "repeated"].map(|key| number(report, key));
    let [lost, misdelivered, repeated] = wrong;
    let (lost, misdelivered, repeated) = (lost?, misdelivered?, repeated?);
    let about = format!(
        "{} events for {} clusters, 5 % faults ({} injected)",
        thousands(number(report, "events")?),
        number(report, "clusters")?,
        thousands(number(report, "faults")?)
    );
    let figure = format!(
        "{lost} lost, {repeated} twice, {misdelivered} astray; {} deliveries instead of {}; \
         {} calls to EC2",
        thousands(number(report, "deliveries")?),
        thousands(number(report, "fan_out")?),
        thousands(number(report, "lookup_calls")?),
    );
    let sound = lost + misdelivered + repeated == 0;
    rows.push_str(&row(&about, &figure, Some(("0 lost, 0 twice", sound))));
    Ok(rows)
}

fn daemon_rows(daemon: &Value) -> Result<String> {
    let (events, micros) = (number(daemon, "events")?, number(daemon, "micros")?.max(1));
    let (own, stand_in) =
        (number(daemon, "own_core_micros")?, number(daemon, "stand_in_core_micros")?);
    let about = format!("daemon, {} events on the stand-in, cold", thousands(events));
    let figure = format!(
        "{} events/s; the stand-in used {} % of a core, the daemon {} % ({} µs an event)",
        thousands(events * 1_000_000 / micros),
        stand_in * 100 / micros,
        own * 100 / micros,
        own / events.max(1),
    );
    Ok(row(&about, &figure, None))
}

fn lambda_rows(lambda: &Value) -> Result<String> {
    let (wall, on_core) =
        (number(lambda, "start_micros")?, number(lambda, "start_on_core_micros")?);
    let figure = format!(
        "{:.1} ms on the clock, {:.1} ms on a core",
        wall as f64 / 1e3,
        on_core as f64 / 1e3
    );
    let aim = Some(("< 30 ms", on_core < START_MICROS));
    let mut rows = row("function, from start to its first request for work", &figure, aim);
    let (idle, peak) = (number(lambda, "start_peak_bytes")?, number(lambda, "peak_bytes")?);
    let figure = format!(
        "{:.1} MB at the start, {:.1} MB after {} events, {} together",
        idle as f64 / 1e6,
        peak as f64 / 1e6,
        thousands(number(lambda, "events")?),
        number(lambda, "batch")?
    );
    rows.push_str(&row("function, memory", &figure, Some(("< 25 MB", peak < PEAK_BYTES))));
    Ok(rows)
}

/// Digits in groups, as people write them.
fn thousands(number: u64) -> String {
    grouped(number).replace('_', ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_aim_is_said_in_the_row() {
        assert_eq!(row("x", "7", Some(("< 6", false))), "| x | 7 | < 6 (missed) |\n");
        assert_eq!(row("x", "5", Some(("< 6", true))), "| x | 5 | < 6 |\n");
        assert_eq!(row("x", "5", None), "| x | 5 | – |\n");
    }

    #[test]
    fn figures_that_are_not_there_are_missed_by_name() {
        let error = number(&serde_json::json!({"a": 1}), "b").unwrap_err().to_string();
        assert!(error.contains("no b in"), "{error}");
    }
}
