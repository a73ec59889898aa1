//! Problems made up by chance: small, and full of what goes wrong.

mod affinity;
mod instance_types;
mod names;
mod nodes;
mod placement;
mod pods;
mod pools;
mod rng;

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_model::labels::{LabelRules, kwok};
use kerf_scheduler::{
    Binder, MinValuesPolicy, PlacementProblem, PreferencePolicy, SchedulerSettings,
};

use rng::Rng;

/// How large a made-up problem is at most. Of each there is at least one, save nodes and daemons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pods without a place.
    pub pods: usize,
    /// Most replicas that share one shape.
    pub replicas: usize,
    /// Nodes that exist.
    pub nodes: usize,
    /// Pools.
    pub pools: usize,
    /// Instance types.
    pub types: usize,
    /// Zones; there are names for four.
    pub zones: usize,
    /// Daemon sets.
    pub daemons: usize,
    /// Whether some capacity is reserved beforehand.
    pub reservations: bool,
    /// Whether each pool has a weight of its own and a limit, and most pods have no rules.
    pub ranked_pools: bool,
}

impl Size {
    /// A problem a person can still read.
    pub const SMALL: Self = Self {
        pods: 12,
        replicas: 4,
        nodes: 3,
        pools: 2,
        types: 5,
        zones: 3,
        daemons: 1,
        reservations: false,
        ranked_pools: false,
    };

    /// A problem in which everything can happen at once.
    pub const MEDIUM: Self = Self {
        pods: 60,
        replicas: 8,
        nodes: 10,
        pools: 3,
        types: 12,
        zones: 4,
        daemons: 3,
        reservations: false,
        ranked_pools: false,
    };

    /// Pools that are filled one after the other.
    pub const RANKED: Self =
        Self { pods: 120, replicas: 30, nodes: 2, pools: 4, ranked_pools: true, ..Self::MEDIUM };
}

/// A problem; the same for the same seed and size, always.
#[must_use]
pub fn random_problem(seed: u64, size: &Size) -> PlacementProblem {
    let rng = &mut Rng::new(seed);
    let zone_count = rng.between(1, size.zones.clamp(1, names::ZONES.len()) as u64);
    let zones = &names::ZONES[..zone_count as usize];
    let types = instance_types::instance_types(rng, size, zones);
    let mut pools = pools::pools(rng, size, zones, &types);
    let daemons = pods::daemons(rng, size, zones);
    let nodes = nodes::nodes(rng, size, &pools, &daemons);
    if size.ranked_pools {
        pools::rank(rng, &mut pools);
    }
    pools::raise_limits(rng, &mut pools, &nodes);
    let mut pods = pods::pods(rng, size, zones);
    if size.ranked_pools {
        pods::drop_rules(rng, &mut pods);
    }
    let settings = settings(rng);
    PlacementProblem {
        pods,
        daemons,
        daemon_names: Vec::new(),
        nodes: nodes.into_iter().map(Arc::new).collect(),
        held: pools::held(rng, &pools),
        pools,
        namespaces: namespaces().into(),
        settings,
    }
}

fn namespaces() -> BTreeMap<String, BTreeMap<String, String>> {
    let labelled = |(name, stage): (&str, &str)| {
        (name.to_owned(), BTreeMap::from([("stage".to_owned(), stage.to_owned())]))
    };
    names::NAMESPACES.into_iter().map(labelled).collect()
}

fn settings(rng: &mut Rng) -> SchedulerSettings {
    let ignore = rng.chance(15);
    let best_effort = rng.chance(25);
    SchedulerSettings {
        label_rules: LabelRules::core().with(&kwok::provider_labels()),
        preferences: if ignore { PreferencePolicy::Ignore } else { PreferencePolicy::Respect },
        min_values: if best_effort { MinValuesPolicy::BestEffort } else { MinValuesPolicy::Strict },
        instance_type_options_max: if rng.chance(10) { 2 } else { 600 },
        improvement_effort: 200,
        binder: if rng.chance(50) { Binder::KubeScheduler } else { Binder::Planned },
        ..SchedulerSettings::default()
    }
}
