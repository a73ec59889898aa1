//! `kerf bench-solve`: a problem of `bench/peer`, solved and measured. Not for users.

mod instance_type;
mod problem_file;

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use kerf_engine::time::Time;
use kerf_kube::PlanProblem;
use kerf_scheduler::{PlacementProblem, Solution};
use serde::Serialize;

use problem_file::BenchProblem;

/// Most rounds; the fastest counts, so more of them change little.
const ROUNDS_MAX: usize = 20;

/// Arguments of `kerf bench-solve`.
#[derive(Args)]
pub(crate) struct BenchSolve {
    /// A problem file; its shape is described in bench/peer/README.md
    file: String,
    /// Seconds for further rounds after the first
    #[arg(long, default_value_t = 10)]
    budget_seconds: u64,
}

/// What is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    version: u32,
    workload: String,
    pods: usize,
    placed: usize,
    unplaced: usize,
    new_nodes: usize,
    price_micros_per_hour: u64,
    lower_bound_micros_per_hour: u64,
    /// From API objects to the problem; not part of solving.
    assemble_micros: u128,
    /// From the problem to the decided nodes, of the fastest round.
    solve_micros: u128,
    rounds_micros: Vec<u128>,
    /// The largest resident size so far: before solving, after the first round, at the end.
    before_memory_bytes: Option<u64>,
    peak_memory_bytes: Option<u64>,
    peak_memory_all_rounds_bytes: Option<u64>,
    unschedulable: Vec<Unschedulable>,
}

#[derive(Serialize)]
struct Unschedulable {
    pod: String,
    reason: String,
}

impl BenchSolve {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { file, budget_seconds } = self;
        let BenchProblem { workload, manifests, instance_types, settings } =
            problem_file::read(&file)?;
        let start = Instant::now();
        let observed = manifests.observe(settings, Vec::new(), Time::default());
        let mut observed = observed.map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(|it| it.problem.to_string()).collect();
            anyhow::anyhow!("{file}: {}", lines.join("; "))
        })?;
        let pools: Vec<_> = observed.world().pools.keys().cloned().collect();
        observed.offer(pools.into_iter().map(|pool| (pool, instance_types.clone())));
        let asked = observed.problem();
        let assemble_micros = start.elapsed().as_micros();
        let before_memory_bytes = peak_memory_bytes();
        let budget = Duration::from_secs(budget_seconds);
        let (solution, rounds_micros, peak_memory_bytes) = rounds(&asked.problem, budget);
        let outcome = Outcome {
            assemble_micros,
            before_memory_bytes,
            peak_memory_bytes,
            peak_memory_all_rounds_bytes: self::peak_memory_bytes(),
            ..outcome(workload, &asked, &solution, rounds_micros)
        };
        let text = serde_json::to_string_pretty(&outcome).context("plain data")? + "\n";
        std::io::stdout().write_all(text.as_bytes()).context("could not write the outcome")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Solves at least once, then again while another round like the last fits into the budget.
fn rounds(problem: &PlacementProblem, budget: Duration) -> (Solution, Vec<u128>, Option<u64>) {
    let begin = Instant::now();
    let mut times = Vec::new();
    let mut first = None;
    let mut peak = None;
    loop {
        let start = Instant::now();
        let solution = kerf_scheduler::solve(problem);
        let last = start.elapsed();
        times.push(last.as_micros());
        peak = peak.or_else(peak_memory_bytes);
        let solution = first.get_or_insert(solution).clone();
        if times.len() >= ROUNDS_MAX || begin.elapsed() + last > budget {
            return (solution, times, peak);
        }
    }
}

fn outcome(
    workload: String,
    asked: &PlanProblem,
    solution: &Solution,
    rounds_micros: Vec<u128>,
) -> Outcome {
    let PlanProblem { problem, set_aside, .. } = asked;
    let name = |pod: &kerf_model::pod::Pod| format!("{}/{}", pod.shape.namespace, pod.name);
    let unplaced = solution
        .unplaced
        .iter()
        .map(|it| Unschedulable { pod: name(&problem.pods[it.pod]), reason: it.reason.clone() });
    let aside = set_aside
        .iter()
        .map(|it| Unschedulable { pod: it.pod.to_string(), reason: it.reason.clone() });
    let unschedulable: Vec<_> = unplaced.chain(aside).collect();
    let pods = problem.pods.len() + set_aside.len();
    Outcome {
        version: 1,
        workload,
        pods,
        placed: pods - unschedulable.len(),
        unplaced: unschedulable.len(),
        new_nodes: solution.new_nodes.len(),
        price_micros_per_hour: solution.price.micros_per_hour(),
        lower_bound_micros_per_hour: solution.lower_bound.micros_per_hour(),
        assemble_micros: 0,
        solve_micros: rounds_micros.iter().copied().min().unwrap_or_default(),
        rounds_micros,
        before_memory_bytes: None,
        peak_memory_bytes: None,
        peak_memory_all_rounds_bytes: None,
        unschedulable,
    }
}

/// The largest resident size of this process so far, where the system tells.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
