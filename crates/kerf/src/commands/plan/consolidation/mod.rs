//! `kerf plan --consolidate`: what consolidation would do with the nodes that were given.
//!
//! ```text
//!  world ─ kerf_engine::consolidation_snapshot ─► Snapshot ─ Search ─► Plan ─ budgets ─► waves
//!                                                                          │
//!                                          table, json, yaml ◄── report ◄──┘
//! ```

mod budgets;
mod report;
mod shape;
mod table;

use std::num::NonZeroUsize;

use anyhow::Result;
use kerf_consolidation::{Search, Settings, node_prices, payback_seconds, waves};
use kerf_engine::World;
use kerf_engine::time::Time;
use kerf_model::price::Price;
use kerf_scheduler::PreparedCluster;

use super::Format;
use super::input::Refusals;
use super::table::{Style, Width};
use budgets::Budgets;
use report::{Planned, Report};

/// The command that prints everything consolidation looks at.
const GET: &str = "kubectl get nodes,pods,nodepools,nodeclaims,pdb,daemonsets -A -o yaml";

/// What consolidation would do.
pub(super) struct Consolidation {
    report: Report,
}

/// Plans the consolidation of a cluster.
pub(super) fn plan(
    world: &World,
    now: Time,
    spot_to_spot: bool,
) -> Result<Consolidation, Refusals> {
    let refuse = |text: String| Err(Refusals(vec![text]));
    if world.nodes.is_empty() {
        return refuse(format!("no Node given; try: {GET} | kerf plan --consolidate -f -"));
    }
    if world.claims.is_empty() {
        return refuse(format!(
            "no NodeClaim given, so no node is a NodePool's; try: {GET} | kerf plan --consolidate \
             -f -"
        ));
    }
    let snapshot = kerf_engine::consolidation_snapshot(world, now);
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let settings = Settings { spot_to_spot, threads, ..Settings::default() };
    let cluster = PreparedCluster::read(&snapshot.problem);
    let mut search = Search::new(&snapshot, &cluster, &settings);
    search.run(|| false);
    let plan = search.plan();
    let budgets = Budgets::of(world, &snapshot, now);
    let waves = waves(&snapshot, &cluster, &plan, |gone, going| budgets.allow(gone, going));
    let prices = node_prices(&snapshot.problem);
    let payback_seconds = payback(&plan, &settings);
    let planned = Planned {
        snapshot: &snapshot,
        plan: &plan,
        prices: &prices,
        waves: &waves,
        payback_seconds,
    };
    Ok(Consolidation { report: planned.report() })
}

/// After how long all moves together have paid for themselves.
fn payback(plan: &kerf_consolidation::Plan, settings: &Settings) -> u64 {
    if plan.moves.iter().all(|each| each.payback_seconds == 0) {
        return 0;
    }
    let launches = plan.moves.iter().flat_map(|each| &each.launches);
    let cheapest = launches.filter_map(|launch| launch.node.options.first());
    let launched =
        cheapest.fold(Price::ZERO, |sum, option| sum.checked_add(option.price).unwrap_or(sum));
    payback_seconds(plan.saving(), plan.eviction_cost(), launched, settings)
}

impl Consolidation {
    /// The plan as text.
    pub(super) fn text(&self, output: Format, notes: &[String], style: Style) -> Result<String> {
        match output {
            Format::Table => Ok(table::render(&self.report, notes, style, super::width())),
            Format::Wide => Ok(table::render(&self.report, notes, style, Width::Wide)),
            Format::Json => shape::to_json(&self.report),
            Format::Yaml => shape::to_yaml(&self.report),
        }
    }

    /// What becomes of one node, or what to ask instead.
    pub(super) fn node_text(&self, name: &str, style: Style) -> Result<String, Refusals> {
        table::render_node(&self.report, name, style).ok_or_else(|| {
            let removed = self.report.removed().map(|node| node.name.as_str());
            let kept = self.report.kept.iter().map(|kept| kept.node.name.as_str());
            let near = kerf_lint::nearest(name, removed.chain(kept));
            let instead = near.map(|near| format!("; try: --node {near}"));
            let instead = instead.unwrap_or_else(|| "; -o wide lists all".to_owned());
            Refusals(vec![format!("--node  no node {name} among those that were given{instead}")])
        })
    }

    /// Whether anything would be done.
    pub(super) fn has_moves(&self) -> bool {
        !self.report.moves.is_empty()
    }

    /// What a reader should know beside the plan.
    pub(super) fn notes(&self) -> Vec<String> {
        let count = self.report.unmanaged;
        let nodes = if count == 1 { "node has" } else { "nodes have" };
        let note =
            (count > 0).then(|| format!("{count} {nodes} no NodeClaim and stay as they are"));
        note.into_iter().collect()
    }
}
