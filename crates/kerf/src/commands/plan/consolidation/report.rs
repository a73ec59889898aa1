//! What consolidation would do, with names in place of numbers.

use kerf_consolidation::{Kept, Launch, Move, Snapshot, Waves};
use kerf_engine::time::Time;
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use kerf_model::price::Price;
use kerf_scheduler::Displaced;

use super::super::report::{full_name, label};

/// A consolidation plan, ready to be shown.
pub(super) struct Report {
    /// What is done, in the order it is carried out.
    pub(super) moves: Vec<MoveReport>,
    /// Nodes that stay, by name.
    pub(super) kept: Vec<KeptReport>,
    /// How many waves it takes.
    pub(super) waves: usize,
    pub(super) price_before: Price,
    pub(super) price_after: Price,
    /// No plan can save more.
    pub(super) saving_bound: Price,
    /// After how long the whole plan has paid for itself.
    pub(super) payback_seconds: u64,
    /// Whether nodes were given that no claim belongs to.
    pub(super) unmanaged: usize,
}

/// Nodes that go together, and what comes for them.
pub(super) struct MoveReport {
    /// The wave it belongs to, counted from one; none while budgets hold it back.
    pub(super) wave: Option<usize>,
    pub(super) removed: Vec<NodeReport>,
    pub(super) launched: Vec<LaunchReport>,
    pub(super) saving: Price,
    pub(super) saving_at_least: Price,
    pub(super) payback_seconds: u64,
    pub(super) eviction_cost_millis: u64,
}

/// A node there is.
pub(super) struct NodeReport {
    pub(super) name: String,
    pub(super) node_pool: String,
    pub(super) instance_type: String,
    pub(super) zone: String,
    pub(super) capacity_type: String,
    pub(super) price: Price,
    /// Pods that would have to move, and where each goes: a node there is, or nothing for a new one.
    pub(super) pods: Vec<(String, Option<String>)>,
}

/// A node to launch.
pub(super) struct LaunchReport {
    pub(super) node_pool: String,
    pub(super) instance_type: String,
    pub(super) zone: String,
    pub(super) capacity_type: String,
    pub(super) price: Price,
    pub(super) worst_price: Price,
    /// How many instance types it may be.
    pub(super) options: usize,
    pub(super) pods: Vec<String>,
}

/// A node that stays.
pub(super) struct KeptReport {
    pub(super) node: NodeReport,
    /// The cause by a name that does not change.
    pub(super) cause: &'static str,
    pub(super) summary: &'static str,
    pub(super) text: String,
}

/// A plan and what it was made from.
pub(super) struct Planned<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) plan: &'a kerf_consolidation::Plan,
    /// What each node costs.
    pub(super) prices: &'a [Price],
    pub(super) waves: &'a Waves,
    pub(super) payback_seconds: u64,
}

impl Planned<'_> {
    /// The plan in names.
    pub(super) fn report(&self) -> Report {
        let wave_of = |place: usize| {
            let mut waves = self.waves.waves.iter();
            waves.position(|wave| wave.contains(&place)).map(|wave| wave + 1)
        };
        let moves = self.plan.moves.iter().enumerate();
        let mut moves: Vec<MoveReport> =
            moves.map(|(place, each)| self.move_report(each, wave_of(place))).collect();
        // Those that are held back come last; within a wave the order stays.
        moves.sort_by_key(|each| each.wave.unwrap_or(usize::MAX));
        let kept = self.plan.kept.iter().enumerate();
        let kept = kept.filter_map(|(node, kept)| Some(self.kept_report(node, kept.as_ref()?)));
        let mut kept: Vec<KeptReport> = kept.collect();
        kept.sort_by(|one, other| one.node.name.cmp(&other.node.name));
        Report {
            waves: self.waves.waves.len(),
            price_before: self.plan.price_before,
            price_after: self.plan.price_after,
            saving_bound: self.plan.saving_bound,
            payback_seconds: self.payback_seconds,
            unmanaged: kept.iter().filter(|kept| kept.cause == "NotManaged").count(),
            moves,
            kept,
        }
    }

    fn move_report(&self, each: &Move, wave: Option<usize>) -> MoveReport {
        let launched = each.launches.iter();
        MoveReport {
            wave,
            removed: each.removed.iter().map(|node| self.node(*node, Some(each))).collect(),
            launched: launched.filter_map(|launch| self.launch(launch)).collect(),
            saving: each.saving,
            saving_at_least: each.saving_at_least,
            payback_seconds: each.payback_seconds,
            eviction_cost_millis: each.eviction_cost.millis(),
        }
    }

    fn node(&self, number: usize, each: Option<&Move>) -> NodeReport {
        let problem = &self.snapshot.problem;
        let node = &problem.nodes[number];
        let label = |key: &str| node.labels.get(key).cloned().unwrap_or_default();
        let pods = node.pods.iter().enumerate();
        let pods = pods.filter(|(_, bound)| !bound.is_daemon && !bound.is_leaving);
        let destination = |pod: Displaced| {
            let mut destinations = each?.destinations.iter();
            let found = destinations.find(|destination| destination.pod == pod)?;
            Some(problem.nodes[found.node].name.clone())
        };
        NodeReport {
            name: node.name.clone(),
            node_pool: node.pool.clone().unwrap_or_default(),
            instance_type: label(INSTANCE_TYPE),
            zone: label(ZONE),
            capacity_type: label(CAPACITY_TYPE),
            price: self.prices[number],
            pods: pods
                .map(|(pod, bound)| {
                    (full_name(&bound.pod), destination(Displaced { node: number, pod }))
                })
                .collect(),
        }
    }

    /// A node as it will most likely be: its cheapest option. One without options cannot be.
    fn launch(&self, launch: &Launch) -> Option<LaunchReport> {
        let problem = &self.snapshot.problem;
        let pool = &problem.pools[launch.node.pool];
        let first = launch.node.options.first()?;
        let instance_type = &pool.instance_types[first.instance_type];
        let offering = &instance_type.offerings[first.offering];
        Some(LaunchReport {
            node_pool: pool.pool.name.clone(),
            instance_type: instance_type.name.clone(),
            zone: label(offering, ZONE),
            capacity_type: label(offering, CAPACITY_TYPE),
            price: first.price,
            worst_price: launch.worst_price,
            options: launch.node.options.len(),
            pods: launch.pods.iter().map(|pod| full_name(pod.of(problem))).collect(),
        })
    }

    fn kept_report(&self, node: usize, kept: &Kept) -> KeptReport {
        let time = |seconds| utc(Time::from_seconds(seconds));
        KeptReport {
            node: self.node(node, None),
            cause: kept.name(),
            summary: kept.summary(),
            text: kept.text(&self.snapshot.problem, time),
        }
    }
}

impl Report {
    pub(super) fn saving(&self) -> Price {
        self.price_before.checked_sub(self.price_after).unwrap_or(Price::ZERO)
    }

    pub(super) fn removed(&self) -> impl Iterator<Item = &NodeReport> {
        self.moves.iter().flat_map(|each| &each.removed)
    }

    pub(super) fn launched(&self) -> usize {
        self.moves.iter().map(|each| each.launched.len()).sum()
    }

    pub(super) fn evictions(&self) -> usize {
        self.removed().map(|node| node.pods.len()).sum()
    }

    /// How many moves are held back by budgets.
    pub(super) fn held(&self) -> usize {
        self.moves.iter().filter(|each| each.wave.is_none()).count()
    }
}

impl MoveReport {
    pub(super) fn evictions(&self) -> usize {
        self.removed.iter().map(|node| node.pods.len()).sum()
    }
}

/// A moment as Kubernetes prints it.
fn utc(time: Time) -> String {
    let moment = jiff::Timestamp::from_second(time.seconds());
    moment.map_or_else(|_| time.seconds().to_string(), |moment| moment.to_string())
}
