//! Fleets beside the one Karpenter would make of the same pods and instance types: never dearer,
//! and of more than one and a half times its nodes only where each further node pays.

use std::sync::{Arc, OnceLock};

use kerf_catalog::aws::{Zones, aws};
use kerf_catalog::settings::NodeClassSettings;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{LabelRules, aws as aws_labels, well_known};
use kerf_model::pod::{Pod, PodShape};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use kerf_model::rng::SplitMix64;
use kerf_scheduler::{PlacementProblem, SchedulerSettings, solve};

#[path = "../benches/hot_paths/workload/mod.rs"]
mod workload;

const MILLI_CPUS: [i64; 6] = [100, 250, 500, 1_000, 1_500, 2_000];
const MEBIBYTES: [i64; 6] = [128, 256, 512, 1_024, 2_048, 4_096];

/// Milli-CPUs, mebibytes and pods.
type Amounts = [i64; 3];

/// A way to buy a node.
struct Sold {
    free: Amounts,
    micros: u64,
    zone: String,
}

/// A new node that may still be many things.
struct Claim {
    pods: usize,
    asked: Amounts,
    options: Vec<usize>,
}

/// A fleet: its price and its nodes.
#[derive(Debug, PartialEq)]
struct Fleet {
    micros: u64,
    nodes: u64,
}

/// Where instance types come from.
#[derive(Clone, Copy)]
enum Catalogue {
    /// Three families in a region of AWS, on demand: prices with steps.
    Region,
    /// 400 sizes at a price for each CPU and gibibyte: every size is as dear as any other.
    EverySize,
}

impl Catalogue {
    fn zones(self) -> [&'static str; 3] {
        match self {
            Self::Region => ["us-east-1a", "us-east-1b", "us-east-1c"],
            Self::EverySize => ["test-zone-1", "test-zone-2", "test-zone-3"],
        }
    }

    /// A problem with these instance types, one pool without limits, and a pod to model others on.
    fn problem(self) -> PlacementProblem {
        let mut problem = workload::problem("replicas-1").expect("a workload of that name");
        let with_types = &mut problem.pools[0];
        Arc::make_mut(&mut with_types.pool).limits = ResourceList::new();
        if matches!(self, Self::Region) {
            with_types.instance_types = region();
            let label_rules = LabelRules::core().with(&aws_labels::provider_labels());
            problem.settings = SchedulerSettings { label_rules, ..SchedulerSettings::default() };
        }
        problem
    }
}

fn region() -> Arc<[InstanceType]> {
    static READ: OnceLock<Arc<[InstanceType]>> = OnceLock::new();
    let read = || {
        let all = aws("us-east-1", &NodeClassSettings::default(), Zones::All);
        let mut some = all.expect("the region is known");
        let families = ["c7a.", "m7a.", "r7a."];
        some.retain(|it| families.iter().any(|family| it.name.starts_with(family)));
        let is_on_demand = |of: &Offering| value(of, well_known::CAPACITY_TYPE) == "on-demand";
        let is_near =
            |of: &Offering| Catalogue::Region.zones().contains(&value(of, well_known::ZONE));
        let is_used = |of: &&Offering| is_on_demand(of) && is_near(of);
        for it in &mut some {
            it.offerings = it.offerings.iter().filter(is_used).cloned().collect();
        }
        some.into()
    };
    READ.get_or_init(read).clone()
}

/// So many kinds of pods, so many of each; half the kinds may be pinned to a zone.
fn problem(
    catalogue: Catalogue,
    seed: u64,
    (kinds, replicas): (usize, usize),
    is_pinned: bool,
) -> PlacementProblem {
    let mut problem = catalogue.problem();
    let zones = catalogue.zones();
    let model = (*problem.pods[0].shape).clone();
    let mut rng = SplitMix64::new(seed);
    problem.pods = Vec::new();
    for kind in 0..kinds {
        let mut shape = PodShape { requests: requests(kind, &mut rng), ..model.clone() };
        if is_pinned && kind % 2 == 0 {
            let zone = zones[rng.below(zones.len())].to_owned();
            shape.placement.node_selector.insert(well_known::ZONE.to_owned(), zone);
        }
        let shape = Arc::new(shape);
        problem.pods.extend((0..replicas).map(|number| {
            let name = format!("{kind}-{number}");
            Pod { uid: name.clone(), name, created_at: 0, shape: shape.clone() }
        }));
    }
    problem
}

/// What pods of a kind ask for. No two kinds are equally large: which of those Karpenter takes first
/// is chance.
fn requests(kind: usize, rng: &mut SplitMix64) -> ResourceList {
    let cpu = Quantity::from_milli(MILLI_CPUS[rng.below(MILLI_CPUS.len())]);
    let mebibytes = MEBIBYTES[rng.below(MEBIBYTES.len())] + kind as i64;
    let memory = Quantity::from_bytes(mebibytes << 20);
    [("cpu", cpu), ("memory", memory), ("pods", Quantity::from_int(1))].into_iter().collect()
}

fn value<'a>(offering: &'a Offering, key: &str) -> &'a str {
    let entry = offering.requirements.iter().find(|entry| entry.key == key);
    &entry.expect("every offering has it").values[0]
}

fn amounts(list: &ResourceList) -> Amounts {
    let milli = list.quantity("cpu").milli_value();
    let mebibytes = list.quantity("memory").value() >> 20;
    [milli, mebibytes, list.quantity("pods").value()].map(|it| i64::try_from(it).expect("small"))
}

fn market(instance_types: &[InstanceType]) -> Vec<Sold> {
    let sold = instance_types.iter().flat_map(|it| it.offerings.iter().map(move |of| (it, of)));
    sold.filter(|(_, of)| of.available)
        .map(|(it, of)| Sold {
            free: amounts(&it.allocatable_of(of)),
            micros: of.price.micros_per_hour(),
            zone: value(of, well_known::ZONE).to_owned(),
        })
        .collect()
}

/// The fleet Karpenter makes: the largest pods first, each onto the node with the fewest pods that
/// can hold it, else onto a further node. A node is open to everything that could hold what stands
/// on it, and becomes the cheapest of that in the end.
fn karpenter(problem: &PlacementProblem) -> Fleet {
    let market = market(&problem.pools[0].instance_types);
    let mut pods: Vec<(Amounts, Option<&String>)> = problem
        .pods
        .iter()
        .map(|pod| {
            let zone = pod.shape.placement.node_selector.get(well_known::ZONE);
            (amounts(&pod.shape.requests), zone)
        })
        .collect();
    pods.sort_by_key(|(asked, _)| std::cmp::Reverse((asked[0], asked[1])));
    let mut claims: Vec<Claim> = Vec::new();
    let all: Vec<usize> = (0..market.len()).collect();
    for (pod, zone) in pods {
        claims.sort_by_key(|claim| claim.pods);
        let with = |asked: &Amounts, options: &[usize]| {
            let asked = [asked[0] + pod[0], asked[1] + pod[1], asked[2] + pod[2]];
            let holds = |it: &usize| {
                let Sold { free, zone: own, .. } = &market[*it];
                zone.is_none_or(|zone| zone == own) && (0..3).all(|at| asked[at] <= free[at])
            };
            (options.iter().copied().filter(holds).collect::<Vec<usize>>(), asked)
        };
        let found = claims.iter_mut().find_map(|claim| {
            let (options, asked) = with(&claim.asked, &claim.options);
            (!options.is_empty()).then_some((claim, options, asked))
        });
        match found {
            Some((claim, options, asked)) => {
                *claim = Claim { pods: claim.pods + 1, asked, options };
            }
            None => {
                let (options, asked) = with(&[0; 3], &all);
                assert!(!options.is_empty(), "every pod fits something");
                claims.push(Claim { pods: 1, asked, options });
            }
        }
    }
    let cheapest = |claim: &Claim| claim.options.iter().map(|it| market[*it].micros).min();
    Fleet { micros: claims.iter().filter_map(cheapest).sum(), nodes: claims.len() as u64 }
}

fn kerf(problem: &PlacementProblem) -> Fleet {
    let solution = solve(problem);
    assert!(solution.unplaced.is_empty(), "every pod fits something");
    let nodes = solution.new_nodes.len() as u64;
    Fleet { micros: solution.price.micros_per_hour(), nodes }
}

/// What is wrong with a fleet beside Karpenter's.
fn violation(problem: &PlacementProblem) -> Option<String> {
    let (own, karpenter) = (kerf(problem), karpenter(problem));
    let more = own.nodes.saturating_sub(karpenter.nodes);
    let saved = karpenter.micros.saturating_sub(own.micros);
    let overhead = problem.settings.node_overhead.micros_per_hour();
    let has_many = 2 * own.nodes > 3 * karpenter.nodes && saved <= overhead * more;
    (own.micros > karpenter.micros || has_many)
        .then(|| format!("{own:?}, and Karpenter's {karpenter:?}"))
}

fn assert_no_violation(problems: impl Iterator<Item = (String, PlacementProblem)>) {
    let found = problems.filter_map(|(name, problem)| Some((name, violation(&problem)?)));
    let found: Vec<(String, String)> = found.collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn two_thousand_pods_of_which_half_are_pinned_to_zones_cost_no_more_than_with_karpenter() {
    let all = (0..8).flat_map(|seed| [(seed, Catalogue::EverySize), (seed, Catalogue::Region)]);
    assert_no_violation(all.map(|(seed, catalogue)| {
        (format!("seed {seed}"), problem(catalogue, seed, (100, 20), true))
    }));
}

#[test]
fn small_fleets_have_few_more_nodes_than_karpenters_or_ones_that_pay() {
    let sizes = [(1, 10), (2, 10), (3, 12), (5, 12)];
    let all = (0..40).flat_map(|seed| sizes.map(|size| (seed, size)));
    let all = all.flat_map(|it| [Catalogue::EverySize, Catalogue::Region].map(|of| (of, it)));
    assert_no_violation(all.map(|(catalogue, (seed, size))| {
        (format!("seed {seed}, {size:?}"), problem(catalogue, seed, size, false))
    }));
}
