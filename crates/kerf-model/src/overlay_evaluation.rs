//! What overlays make of the instance types of pools.
//!
//! ```text
//!  overlays, heaviest first ─┐
//!                            ├─► per pool and type: prices, capacity ─► apply ─► instance types
//!  pools with their types ───┘   └─ skipped: overlay + why
//! ```
//!
//! The heaviest overlay to name a price or a resource wins; lighter ones fill the gaps. Two of the
//! same weight that name the same thing conflict, and then the one earlier in the alphabet is
//! skipped in every pool, so that no overlay ever applies in part.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::instance_type::InstanceType;
use crate::labels::{Normalization, well_known};
use crate::overlay::NodeOverlay;
use crate::pool::NodePool;
use crate::price::PriceAdjustment;
use crate::requirement::BadBound;
use crate::requirements::Requirements;
use crate::resources::ResourceList;
use crate::vocabulary::{KeySet, Vocabulary};

/// A pool and the instances its cloud offers it.
#[derive(Clone, Copy, Debug)]
pub struct PoolInstanceTypes<'a> {
    /// The pool.
    pub pool: &'a NodePool,
    /// Its instance types, as the provider tells them.
    pub instance_types: &'a [InstanceType],
}

/// What overlays change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayEvaluation {
    /// For each pool, in the order given.
    pub pools: Vec<PoolOverlay>,
    /// Overlays that change nothing, in the order they were tried.
    pub skipped: Vec<SkippedOverlay>,
}

/// What overlays change about the instance types of one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolOverlay {
    /// By the index of the instance type; types that stay as they are have no entry.
    pub types: BTreeMap<usize, TypeOverlay>,
}

/// What overlays change about one instance type. Nodes made from it are marked if either part
/// holds something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeOverlay {
    /// By the index of the offering.
    pub prices: BTreeMap<usize, PriceAdjustment>,
    /// Resources the type has besides what the provider says.
    pub capacity: ResourceList,
}

/// An overlay that is not applied, anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedOverlay {
    /// Which of the overlays given.
    pub overlay: usize,
    /// What keeps the overlay from being applied.
    pub reason: SkipReason,
}

/// Why an overlay is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SkipReason {
    /// Another overlay of the same weight says something about the same. Change a weight.
    #[error(
        "it conflicts with NodeOverlay {with:?}, which has the same weight, over the {what} of \
         {instance_type} in pool {pool:?}; give one of them another weight"
    )]
    Conflict {
        /// The name of the overlay that is applied.
        with: String,
        /// `price`, or the name of a resource.
        what: String,
        /// The first instance type that both speak of.
        instance_type: String,
        /// The first pool in which they do.
        pool: String,
    },
    /// A requirement cannot be understood. The overlay must change.
    #[error(transparent)]
    Requirement(#[from] BadBound),
}

/// Changes the instance types of pools as overlays say, where they enter from the provider. Returns
/// the overlays that are skipped.
pub fn apply_overlays(
    overlays: &[NodeOverlay],
    pools: &mut [(Arc<NodePool>, Arc<[InstanceType]>)],
    normalization: &Normalization,
) -> Vec<SkippedOverlay> {
    let offered: Vec<PoolInstanceTypes<'_>> = pools
        .iter()
        .map(|(pool, instance_types)| PoolInstanceTypes { pool, instance_types })
        .collect();
    let evaluation = evaluate_overlays(overlays, &offered, normalization);
    for ((_, instance_types), overlay) in pools.iter_mut().zip(&evaluation.pools) {
        if !overlay.types.is_empty() {
            *instance_types = overlay.apply(instance_types).into();
        }
    }
    evaluation.skipped
}

/// Evaluates every overlay for every pool.
#[must_use]
pub fn evaluate_overlays(
    overlays: &[NodeOverlay],
    pools: &[PoolInstanceTypes<'_>],
    normalization: &Normalization,
) -> OverlayEvaluation {
    let mut vocabulary = Vocabulary::default();
    let pools: Vec<ReadPool<'_>> =
        pools.iter().map(|pool| ReadPool::read(*pool, normalization, &mut vocabulary)).collect();
    let mut evaluation =
        OverlayEvaluation { pools: vec![PoolOverlay::default(); pools.len()], skipped: Vec::new() };
    let mut said = Said::default();
    for index in in_order(overlays) {
        let overlay = &overlays[index];
        let read =
            Requirements::from_entries(&overlay.requirements, normalization, &mut vocabulary);
        let outcome = read.map_err(SkipReason::from).and_then(|requirements| {
            let matches = matches(&requirements, &pools, &vocabulary);
            match conflict(overlay, overlays, &matches, &pools, &said) {
                None => Ok(matches),
                Some(reason) => Err(reason),
            }
        });
        match outcome {
            Ok(matches) => write(index, overlay, &matches, &mut evaluation.pools, &mut said),
            Err(reason) => evaluation.skipped.push(SkippedOverlay { overlay: index, reason }),
        }
    }
    evaluation
}

impl PoolOverlay {
    /// The instance types with the changes made.
    #[must_use]
    pub fn apply(&self, instance_types: &[InstanceType]) -> Vec<InstanceType> {
        let mut changed = instance_types.to_vec();
        for (index, overlay) in &self.types {
            let Some(instance_type) = changed.get_mut(*index) else { continue };
            if !overlay.capacity.is_empty() {
                let capacity = Arc::make_mut(&mut instance_type.capacity);
                overlay.capacity.iter().for_each(|(name, quantity)| {
                    capacity.insert(name, quantity);
                });
            }
            if !overlay.prices.is_empty() {
                let offerings = Arc::make_mut(&mut instance_type.offerings);
                for (offering, adjustment) in &overlay.prices {
                    if let Some(offering) = offerings.get_mut(*offering) {
                        offering.price = adjustment.apply(offering.price);
                    }
                }
            }
        }
        changed
    }
}

/// Heaviest first; of the same weight, the one later in the alphabet first.
fn in_order(overlays: &[NodeOverlay]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..overlays.len()).collect();
    order.sort_by(|left, right| {
        let key = |index: usize| (overlays[index].weight, &overlays[index].name);
        key(*right).cmp(&key(*left))
    });
    order
}

/// A pool with its instances as requirements.
struct ReadPool<'a> {
    offered: PoolInstanceTypes<'a>,
    /// What nodes of each type carry, the pool's own labels included, and what each offering adds.
    /// A type that cannot be read is matched by nothing.
    types: Vec<Option<(Requirements, Vec<Requirements>)>>,
}

impl<'a> ReadPool<'a> {
    fn read(
        offered: PoolInstanceTypes<'a>,
        normalization: &Normalization,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let PoolInstanceTypes { pool, instance_types } = offered;
        let labels = pool.template.labels.iter().map(|(key, value)| (&**key, &**value));
        let labels = labels.chain([(well_known::NODE_POOL, &*pool.name)]);
        let labels = Requirements::from_labels(labels, normalization, vocabulary);
        let mut read = |instance_type: &InstanceType| {
            let mut entries =
                |list: &[_]| Requirements::from_entries(list, normalization, vocabulary).ok();
            let mut requirements = entries(&instance_type.requirements)?;
            let offerings = instance_type.offerings.iter();
            let offerings = offerings.map(|it| entries(&it.requirements)).collect::<Option<_>>()?;
            requirements.narrow(&labels, vocabulary);
            Some((requirements, offerings))
        };
        Self { offered, types: instance_types.iter().map(&mut read).collect() }
    }
}

/// An instance type that an overlay speaks of.
struct Match {
    pool: usize,
    instance_type: usize,
    /// Never empty.
    offerings: Vec<usize>,
}

fn matches(wanted: &Requirements, pools: &[ReadPool<'_>], vocabulary: &Vocabulary) -> Vec<Match> {
    // A type tells every well-known label there is, so one that is not labels is not there.
    let none_undefined = KeySet::new();
    let mut matches = Vec::new();
    for (pool, read) in pools.iter().enumerate() {
        for (instance_type, labels) in read.types.iter().enumerate() {
            let Some((requirements, offerings)) = labels else { continue };
            if !requirements.compatible(wanted, &none_undefined, vocabulary) {
                continue;
            }
            let offerings: Vec<usize> = (0..offerings.len())
                .filter(|offering| wanted.intersects(&offerings[*offering], vocabulary))
                .collect();
            if !offerings.is_empty() {
                matches.push(Match { pool, instance_type, offerings });
            }
        }
    }
    matches
}

/// The overlays that spoke last, which is with the least weight, whether or not they had their way.
#[derive(Default)]
struct Said {
    /// By pool, instance type and offering.
    prices: BTreeMap<(usize, usize, usize), usize>,
    /// By pool, instance type and resource.
    capacity: BTreeMap<(usize, usize, String), usize>,
}

fn conflict(
    overlay: &NodeOverlay,
    overlays: &[NodeOverlay],
    matches: &[Match],
    pools: &[ReadPool<'_>],
    said: &Said,
) -> Option<SkipReason> {
    let equal = |other: Option<&usize>| {
        other.map(|other| &overlays[*other]).filter(|other| other.weight == overlay.weight)
    };
    matches.iter().find_map(|found| {
        let Match { pool, instance_type, offerings } = found;
        let prices = offerings.iter().filter(|_| overlay.price.is_some()).map(|offering| {
            ("price".to_owned(), said.prices.get(&(*pool, *instance_type, *offering)))
        });
        let capacity = overlay.capacity.iter().map(|(name, _)| {
            (name.to_owned(), said.capacity.get(&(*pool, *instance_type, name.to_owned())))
        });
        let mut both = prices.chain(capacity);
        let (what, with) = both.find_map(|(what, other)| Some((what, equal(other)?)))?;
        let offered = &pools[*pool].offered;
        Some(SkipReason::Conflict {
            with: with.name.clone(),
            what,
            instance_type: offered.instance_types[*instance_type].name.clone(),
            pool: offered.pool.name.clone(),
        })
    })
}

fn write(
    index: usize,
    overlay: &NodeOverlay,
    matches: &[Match],
    pools: &mut [PoolOverlay],
    said: &mut Said,
) {
    for Match { pool, instance_type, offerings } in matches {
        let change = pools[*pool].types.entry(*instance_type).or_default();
        if let Some(adjustment) = overlay.price {
            for offering in offerings {
                change.prices.entry(*offering).or_insert(adjustment);
                said.prices.insert((*pool, *instance_type, *offering), index);
            }
        }
        change.capacity.fill_missing(&overlay.capacity);
        for (name, _) in overlay.capacity.iter() {
            said.capacity.insert((*pool, *instance_type, name.to_owned()), index);
        }
        if *change == TypeOverlay::default() {
            pools[*pool].types.remove(instance_type);
        }
    }
}
