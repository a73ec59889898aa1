//! Problems made up by chance: small, and full of what goes wrong.

mod dice;
mod machines;
mod nearness;
mod nodes;
mod placement;
mod pods;
mod pools;
mod words;

use std::collections::BTreeMap;

use kerf_model::labels::{LabelRules, kwok};
use kerf_scheduler::{Filling, MinValuesPolicy, PreferencePolicy, Problem, Settings};

use dice::Dice;

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
    };
}

/// A problem; the same for the same seed and size, always.
#[must_use]
pub fn random_problem(seed: u64, size: &Size) -> Problem {
    let dice = &mut Dice::new(seed);
    let zone_count = dice.between(1, size.zones.clamp(1, words::ZONES.len()) as u64);
    let zones = &words::ZONES[..zone_count as usize];
    let types = machines::instance_types(dice, size, zones);
    let mut pools = pools::pools(dice, size, zones, &types);
    let daemons = pods::daemons(dice, size, zones);
    let nodes = nodes::nodes(dice, size, &pools, &daemons);
    pools::raise_limits(dice, &mut pools, &nodes);
    let pods = pods::pods(dice, size, zones);
    Problem { pods, daemons, nodes, pools, namespaces: namespaces(), settings: settings(dice) }
}

fn namespaces() -> BTreeMap<String, BTreeMap<String, String>> {
    let labelled = |(name, stage): (&str, &str)| {
        (name.to_owned(), BTreeMap::from([("stage".to_owned(), stage.to_owned())]))
    };
    words::NAMESPACES.into_iter().map(labelled).collect()
}

fn settings(dice: &mut Dice) -> Settings {
    let ignore = dice.chance(15);
    let best_effort = dice.chance(25);
    Settings {
        label_rules: LabelRules::core().with(&kwok::provider_labels()),
        preferences: if ignore { PreferencePolicy::Ignore } else { PreferencePolicy::Respect },
        min_values: if best_effort { MinValuesPolicy::BestEffort } else { MinValuesPolicy::Strict },
        instance_type_options_max: if dice.chance(10) { 2 } else { 600 },
        improvement_effort: 200,
        filling: if dice.chance(50) { Filling::Free } else { Filling::Planned },
        ..Settings::default()
    }
}
