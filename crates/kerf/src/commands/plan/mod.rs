//! `kerf plan`: the fleet that manifests need, without a cluster.
//!
//! ```text
//!  files ─ input ─► Manifests ─ observe ─► world ─ catalogue, overlays ─► problem ─ solve ─┐
//!                                                                                         │
//!                                                   table, json, yaml ◄── report ◄────────┘
//! ```

mod bar;
mod catalogue;
mod default_pool;
mod input;
mod node_class_note;
mod node_group;
mod notes;
mod overlays;
mod policy;
mod report;
mod shape;
mod table;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use kerf_engine::provider::ProviderInfo;
use kerf_engine::time::Time;
use kerf_kube::PlanProblem;

use catalogue::{CatalogueName, Catalogues};
use input::{Input, Refusals};
use policy::Policy;
use report::Report;
use table::{Style, Width};

/// Exit code when some input is bad.
pub(crate) const EXIT_BAD_INPUT: u8 = 1;
/// Exit code when new nodes are needed.
const EXIT_NEW_NODES: u8 = 2;
/// Exit code when some pods do not fit.
const EXIT_UNSCHEDULABLE: u8 = 3;

/// Arguments of `kerf plan`.
#[derive(Args)]
#[command(after_help = "Exit codes: 0 everything fits as it is, 2 new nodes are needed, 3 some \
    pods do not fit,\n1 some input is bad (nothing is planned then).")]
pub(crate) struct Plan {
    /// A file, a folder (searched for .yaml, .yml and .json), or - for standard input
    #[arg(short, long, value_name = "FILE|DIR|-", required = true)]
    filename: Vec<String>,
    /// The instance types there are: aws:REGION, kwok, or a file of them; by default what the
    /// pools' node classes ask for, on AWS in us-east-1
    #[arg(long, value_name = "aws:REGION|kwok|FILE.json")]
    catalogue: Option<CatalogueName>,
    #[command(flatten)]
    policy: Policy,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Fail where an API server would refuse or ignore part of a workload
    #[arg(long)]
    strict: bool,
    /// Never use colour, nor signs beyond ASCII
    #[arg(long)]
    plain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Wide,
    Json,
    Yaml,
}

impl Plan {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { filename, catalogue, policy, output, strict, plain } = self;
        let planned = plan(&filename, catalogue.as_ref(), &policy, strict)?;
        let Planned { report, notes, warnings } = match planned {
            Ok(planned) => planned,
            Err(refusals) => {
                eprint!("{refusals}");
                return Ok(ExitCode::from(EXIT_BAD_INPUT));
            }
        };
        eprint!("{}", warning(&warnings, plain));
        let text = match output {
            Format::Table => table::render(&report, &notes, style(plain), Width::Terminal),
            Format::Wide => table::render(&report, &notes, style(plain), Width::Wide),
            Format::Json => shape::to_json(&report)?,
            Format::Yaml => shape::to_yaml(&report)?,
        };
        if matches!(output, Format::Json | Format::Yaml) {
            notes.iter().for_each(|note| eprintln!("{note}"));
        }
        std::io::stdout().write_all(text.as_bytes()).context("could not write the plan")?;
        Ok(ExitCode::from(exit_code(&report)))
    }
}

/// A plan and what to say beside it.
struct Planned {
    report: Report,
    notes: Vec<String>,
    /// What an API server would not take as it stands.
    warnings: Vec<String>,
}

/// The plan and what to say beside it, or what is wrong with the input.
fn plan(
    filename: &[String],
    catalogue: Option<&CatalogueName>,
    policy: &Policy,
    strict: bool,
) -> Result<Result<Planned, Refusals>> {
    // Almost every plan needs the tables, and while files are read and judged another core is idle.
    let tables = std::thread::spawn(kerf_catalog::table::shapes);
    let input = input::read(filename)?;
    // Nobody waits for a thread that is still at it when there is nothing to plan.
    drop(tables);
    Ok(input.and_then(|input| match input.manifest_warnings() {
        warnings if strict && !warnings.is_empty() => Err(Refusals(warnings)),
        warnings => planned(input, warnings, catalogue, policy),
    }))
}

fn planned(
    mut input: Input,
    warnings: Vec<String>,
    catalogue: Option<&CatalogueName>,
    policy: &Policy,
) -> Result<Planned, Refusals> {
    let scheduler_config = policy.scheduler_config()?;
    let mut catalogues = Catalogues::new(&mut input, catalogue)?;
    catalogues.note_scheduler_config(&scheduler_config);
    let mut settings = policy.settings(catalogues.label_rules());
    settings.provider = ProviderInfo::with_node_classes(catalogue::node_class_kinds(&input));
    settings.node_overlays = true;
    let manifests = std::mem::take(&mut input.manifests);
    let observed = manifests.observe(settings, scheduler_config.default_spreads, now());
    let mut observed = observed.map_err(|problems| input.places.refusals(problems))?;
    let mut notes = catalogues.offer(&mut observed)?;
    let PlanProblem { problem, set_aside, passed_over, notes: assumed, kubernetes_events } =
        observed.problem();
    let solution = kerf_scheduler::solve(&problem);
    notes.extend(kubernetes_events.iter().map(notes::of_event));
    notes.extend(assumed);
    notes.extend(notes::of(&input, &passed_over));
    notes.extend(notes::of_requests(&problem.pods));
    notes.extend(notes::of_solution(&solution));
    let report = Report::new(&problem, &solution, &set_aside);
    // The command ends in a moment. Giving back a thousand instance types piece by piece would take
    // a tenth of its time.
    std::mem::forget((problem, observed, catalogues, input));
    Ok(Planned { report, notes, warnings })
}

/// What is wrong with workloads, where nobody reads past it: before the plan, on standard error.
fn warning(warnings: &[String], plain: bool) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let is_coloured = !plain && wants_colour() && std::io::stderr().is_terminal();
    let (on, off) = if is_coloured { ("\u{1b}[1;33m", "\u{1b}[0m") } else { ("", "") };
    let mut text = format!(
        "{on}WARNING{off}  an API server would refuse or ignore what follows, and the plan may be \
         wrong by it; --strict fails instead\n"
    );
    for line in warnings {
        text.push_str(&format!("{on}WARNING{off}  {line}\n"));
    }
    text.push('\n');
    text
}

/// The time, by which pods that must not be disrupted for a while are judged.
fn now() -> Time {
    Time::from_millis(jiff::Timestamp::now().as_millisecond())
}

fn exit_code(report: &Report) -> u8 {
    if !report.unschedulable.is_empty() {
        EXIT_UNSCHEDULABLE
    } else if !report.new_nodes.is_empty() {
        EXIT_NEW_NODES
    } else {
        0
    }
}

fn style(plain: bool) -> Style {
    if plain {
        return Style::Ascii;
    }
    if wants_colour() && std::io::stdout().is_terminal() { Style::Coloured } else { Style::Unicode }
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
