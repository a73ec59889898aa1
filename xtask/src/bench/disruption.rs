//! Real clusters in which something changes: Kerf and Karpenter in turns, until nothing happens any
//! more.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::output;

use super::page;

const PART: &str = "e2e disruption";
const HEADER: &str = "\
| Case | | Until nothing happens any more | Price | Nodes | Evictions | Processor time |
|---|---|---|---|---|---|---|
";

/// A case: its name for the stage, and what happens.
struct Case {
    name: &'static str,
    about: &'static str,
}

const CASES: [Case; 6] = [
    Case { name: "scale-down", about: "1,000 pods of two kinds, then 700" },
    Case { name: "do-not-disrupt", about: "1,100 pods, 100 of them do-not-disrupt, then 600" },
    Case {
        name: "wide-deployments",
        about: "30 Deployments of different shapes, 1,000 pods, then 700",
    },
    Case {
        name: "hostname-spread",
        about: "10 Deployments spread over nodes, 1,000 pods, then 700",
    },
    Case { name: "anti-affinity", about: "two kinds that avoid each other, 750 pods, then 600" },
    Case { name: "drift", about: "all nodes of 600 pods drift, budget 10 %" },
];

/// What is asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    cases: Vec<String>,
    /// Divides the numbers of pods.
    share: Option<String>,
    is_kerf_alone: bool,
}

/// The two products, and the program that measures them.
pub(super) struct Stage<'a> {
    pub(super) program: &'a Path,
    pub(super) kerf: &'a Path,
    pub(super) karpenter: Option<&'a Path>,
}

/// Whether only Kerf is to be measured.
pub(super) fn is_kerf_alone(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "kerf")
}

/// Measures the cases that are named, or all, and writes the table into the page unless it was only
/// a quick try.
pub(super) fn run(args: &[String], stage: &Stage<'_>) -> Result<()> {
    let asked = Asked::parse(args)?;
    let is_asked =
        |case: &&Case| asked.cases.is_empty() || asked.cases.iter().any(|name| name == case.name);
    let mut table = HEADER.to_owned();
    for case in CASES.iter().filter(is_asked) {
        let products = [("kerf", Some(stage.kerf)), ("karpenter", stage.karpenter)];
        for (product, program) in products {
            let Some(program) = program else { continue };
            eprintln!("bench {PART}: {} with {product}", case.name);
            let mut command = Command::new(stage.program);
            command.arg(product).arg(program).args(["disrupt", case.name]).args(&asked.share);
            let line = row(case, product, &output(&mut command)?)?;
            eprint!("{line}");
            table.push_str(&line);
        }
    }
    println!("\n{table}");
    let is_whole = asked == Asked::default();
    if is_whole { page::write_if_marked(PART, &table) } else { Ok(()) }
}

fn row(case: &Case, product: &str, printed: &str) -> Result<String> {
    let line = printed.lines().rfind(|line| line.starts_with('{')).context("no report came")?;
    let report: Value = serde_json::from_str(line).context("the report is not JSON")?;
    let number = |key: &str| {
        report[key].as_f64().with_context(|| format!("the report has no {key}: {report}"))
    };
    let (about, product) = match product {
        "kerf" => (case.about, "Kerf"),
        _ => ("", "Karpenter 1.14.1"),
    };
    let mut row = String::new();
    let _ = writeln!(
        row,
        "| {about} | {product} | {:.1} s | {:.2} → {:.2} $/h | {:.0} → {:.0} | {:.0} | {:.1} s |",
        number("seconds")?,
        number("dollars_per_hour_before")?,
        number("dollars_per_hour")?,
        number("nodes_before")?,
        number("nodes")?,
        number("evictions")?,
        number("processor_seconds")?,
    );
    Ok(row)
}

impl Asked {
    fn parse(args: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "kerf" => asked.is_kerf_alone = true,
                "--share" => {
                    let share = args.next().context("--share needs a number")?;
                    share.parse::<usize>().with_context(|| format!("no number: {share}"))?;
                    asked.share = Some(share.clone());
                }
                name if CASES.iter().any(|case| case.name == name) => {
                    asked.cases.push(name.to_owned());
                }
                other => {
                    let names = CASES.map(|case| case.name).join(", ");
                    bail!("no case {other}; there are {names}; or kerf, --share N");
                }
            }
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Asked> {
        Asked::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn cases_the_product_and_the_share_are_read_in_any_order() {
        let asked = parsed(&["drift", "--share", "20", "kerf"]).unwrap();
        assert_eq!(asked.cases, ["drift"]);
        assert_eq!(asked.share.as_deref(), Some("20"));
        assert!(asked.is_kerf_alone);
        assert_eq!(parsed(&[]).unwrap(), Asked::default());
    }

    #[test]
    fn a_case_that_does_not_exist_is_refused_with_those_that_do() {
        let error = parsed(&["drfit"]).unwrap_err().to_string();
        assert!(error.contains("drift"), "{error}");
        assert!(parsed(&["--share", "some"]).is_err());
    }

    #[test]
    fn a_report_becomes_a_row() {
        let report = r#"{"seconds":12.34,"evictions":7,"nodes_before":9,"nodes":4,
            "dollars_per_hour_before":2.5,"dollars_per_hour":1.25,"processor_seconds":0.5}"#;
        let line = row(&CASES[0], "kerf", &report.replace('\n', "")).unwrap();
        assert!(line.contains("| Kerf | 12.3 s | 2.50 → 1.25 $/h | 9 → 4 | 7 | 0.5 s |"), "{line}");
    }
}
