//! `kerf plan`: the nodes that manifests or the pending pods of a cluster need.
//!
//! ```text
//!  files, cluster ─ input ─► Manifests ─ observe ─► world ─ catalogue, overlays ─► problem ─ solve ─┐
//!                                                                                         │
//!                                                   table, json, yaml ◄── report ◄────────┘
//! ```

mod bar;
mod catalogue;
mod cluster;
mod consolidation;
mod default_pool;
mod fleet_table;
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
use kerf_kube::{ObservedManifests, PlanProblem};

use catalogue::{CatalogueName, Catalogues};
use cluster::ClusterFlags;
use input::{Input, Refusals};
use policy::Policy;
use report::{Report, Today};
use table::{Style, Width};

use super::exit::Exit;
use super::terminal;

/// Arguments of `kerf plan`.
#[derive(Args)]
pub(crate) struct Plan {
    /// A file, a folder (searched for .yaml, .yml and .json), or - for standard input; without any,
    /// what the pending pods of the current cluster need
    #[arg(short, long, value_name = "FILE|DIR|-")]
    filename: Vec<String>,
    #[command(flatten)]
    cluster: ClusterFlags,
    /// Show the nodes there are and what they cost before and after
    #[arg(long, conflicts_with = "consolidate")]
    diff: bool,
    /// The instance types there are: aws:REGION, kwok, or a file of them; by default what the
    /// pools' node classes ask for, on AWS in us-east-1
    #[arg(long, visible_alias = "catalog", value_name = "aws:REGION|kwok|FILE.json")]
    catalogue: Option<CatalogueName>,
    /// Show what consolidation would do: nodes removed and launched, what that saves, and why the
    /// others stay. Give it nodes, pods, nodepools, nodeclaims and pdb, as kubectl get -A -o yaml
    /// prints them
    #[arg(long)]
    consolidate: bool,
    /// Say of one node what becomes of it, and why
    #[arg(long, value_name = "NAME", requires = "consolidate")]
    node: Option<String>,
    /// Let spot nodes be replaced by cheaper spot nodes, as the feature gate
    /// SpotToSpotConsolidation does
    #[arg(long, requires = "consolidate")]
    spot_to_spot: bool,
    #[command(flatten)]
    policy: Policy,
    /// How to print the plan
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Fail where an API server would refuse or ignore part of a workload
    #[arg(long)]
    strict: bool,
    /// Say by the exit code what would happen: 2 nodes would be launched or removed, 3 some pods do
    /// not fit
    #[arg(long)]
    detailed_exitcode: bool,
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
        match self.observe()? {
            Err(refusals) => refused(&refusals),
            Ok(observed) if self.consolidate => self.consolidate(observed),
            Ok(observed) => self.place(observed),
        }
    }

    /// What is known once everything was read, or what is wrong with the input.
    fn observe(&self) -> Result<Result<Observed<'_>, Refusals>> {
        // Almost every plan needs the tables, and while files are read and judged another core is
        // idle.
        let tables = std::thread::spawn(kerf_catalog::table::shapes);
        let cluster = self.wants_cluster().then_some(&self.cluster);
        let input = input::read(&self.filename, cluster)?;
        // Nobody waits for a thread that is still at it when there is nothing to plan.
        drop(tables);
        Ok(input.and_then(|input| match input.manifest_warnings() {
            warnings if self.strict && !warnings.is_empty() => Err(Refusals(warnings)),
            warnings => Observed::of(input, warnings, self.catalogue.as_ref(), &self.policy),
        }))
    }

    /// Whether a cluster is read: without files, or where one is named beside them.
    fn wants_cluster(&self) -> bool {
        self.filename.is_empty() || self.cluster.are_given()
    }

    /// Where pods that wait should go.
    fn place(&self, observed: Observed<'_>) -> Result<ExitCode> {
        eprint!("{}", warning(&observed.warnings, self.plain));
        let (report, notes) = placed(observed, self.diff);
        let text = match self.output {
            Format::Table => table::render(&report, &notes, style(self.plain), width()),
            Format::Wide => table::render(&report, &notes, style(self.plain), Width::Wide),
            Format::Json => shape::to_json(&report)?,
            Format::Yaml => shape::to_yaml(&report)?,
        };
        self.print(&text, &notes)?;
        Ok(self.exit(outcome(&report)))
    }

    /// What consolidation would do.
    fn consolidate(&self, observed: Observed<'_>) -> Result<ExitCode> {
        let Observed { observed, mut notes, warnings, now, .. } = observed;
        eprint!("{}", warning(&warnings, self.plain));
        let planned = consolidation::plan(observed.world(), now, self.spot_to_spot);
        let planned = match planned {
            Ok(planned) => planned,
            Err(refusals) => return refused(&refusals),
        };
        notes.extend(planned.notes());
        let text = match &self.node {
            None => planned.text(self.output, &notes, style(self.plain))?,
            Some(name) => match planned.node_text(name, style(self.plain)) {
                Ok(text) => text,
                Err(refusals) => return refused(&refusals),
            },
        };
        self.print(&text, &notes)?;
        Ok(self.exit(if planned.has_moves() { Exit::Changes } else { Exit::Success }))
    }

    fn exit(&self, outcome: Exit) -> ExitCode {
        if self.detailed_exitcode { outcome.into() } else { Exit::Success.into() }
    }

    fn print(&self, text: &str, notes: &[String]) -> Result<()> {
        if matches!(self.output, Format::Json | Format::Yaml) {
            notes.iter().for_each(|note| eprintln!("{note}"));
        }
        std::io::stdout().write_all(text.as_bytes()).context("could not write the plan")
    }
}

fn refused(refusals: &Refusals) -> Result<ExitCode> {
    eprint!("{refusals}");
    Ok(Exit::Failure.into())
}

/// Everything that was given, as the controller would know it.
struct Observed<'a> {
    input: Input,
    observed: ObservedManifests,
    catalogues: Catalogues<'a>,
    now: Time,
    notes: Vec<String>,
    /// What an API server would not take as it stands.
    warnings: Vec<String>,
}

impl<'a> Observed<'a> {
    fn of(
        mut input: Input,
        warnings: Vec<String>,
        catalogue: Option<&'a CatalogueName>,
        policy: &Policy,
    ) -> Result<Self, Refusals> {
        let scheduler_config = policy.scheduler_config()?;
        let mut catalogues = Catalogues::new(&mut input, catalogue)?;
        catalogues.note_scheduler_config(&scheduler_config);
        let mut settings = policy.settings(catalogues.label_rules());
        settings.provider = ProviderInfo::with_node_classes(catalogue::node_class_kinds(&input));
        settings.node_overlays = true;
        let manifests = std::mem::take(&mut input.manifests);
        let now = now();
        let observed = manifests.observe(settings, scheduler_config.default_spreads, now);
        let mut observed = observed.map_err(|problems| input.places.refusals(problems))?;
        let notes = catalogues.offer(&mut observed)?;
        Ok(Self { input, observed, catalogues, now, notes, warnings })
    }
}

/// The plan for pods that wait, and what to say beside it.
fn placed(given: Observed<'_>, is_compared: bool) -> (Report, Vec<String>) {
    let Observed { input, mut observed, mut catalogues, mut notes, .. } = given;
    let PlanProblem { mut problem, set_aside, passed_over, notes: assumed, kubernetes_events } =
        observed.problem();
    let mut solution = kerf_scheduler::solve(&problem);
    if !solution.unplaced.is_empty() && catalogues.offer_everything(&mut observed) {
        // The nodes stay the same; the reasons can name types that no pool allows.
        problem = observed.problem().problem;
        solution = kerf_scheduler::solve(&problem);
    }
    notes.extend(kubernetes_events.iter().map(notes::of_event));
    notes.extend(assumed);
    notes.extend(notes::of(&input, &passed_over));
    notes.extend(notes::of_requests(&problem.pods));
    notes.extend(notes::of_solution(&solution));
    let mut report = Report::new(&problem, &solution, &set_aside);
    report.today = is_compared.then(|| Today::of(&kerf_consolidation::node_prices(&problem)));
    // The command ends in a moment. Giving back a thousand instance types piece by piece would take
    // a tenth of its time.
    std::mem::forget((problem, observed, catalogues, input));
    (report, notes)
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

fn outcome(report: &Report) -> Exit {
    if !report.unschedulable.is_empty() {
        Exit::Unschedulable
    } else if !report.new_nodes.is_empty() {
        Exit::Changes
    } else {
        Exit::Success
    }
}

/// As wide as what standard output goes to.
fn width() -> Width {
    Width::Columns(terminal::columns())
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
