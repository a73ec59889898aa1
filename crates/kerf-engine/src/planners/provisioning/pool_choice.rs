//! Which pools may get new nodes, in the order they are tried.

use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::min_values::review_min_values;
use kerf_model::pool::{NodePool, Sizing};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::Vocabulary;
use kerf_scheduler::{MinValuesPolicy, PoolWithTypes};

use super::reservation::{self, ReservedClaims};
use crate::condition::READY;
use crate::event::Key;
use crate::kubernetes_event::KubernetesEvent;
use crate::observed::Pool;
use crate::time::Span;
use crate::world::World;

/// The pools to choose from, and what to say about the others.
#[derive(Debug, Default)]
pub(super) struct PoolChoice {
    pub(super) pools: Vec<PoolWithTypes>,
    pub(super) kubernetes_events: Vec<KubernetesEvent>,
}

/// How long a pool is not told again that it excludes every instance.
const INCOMPATIBLE_SILENCE: Span = Span::from_minutes(1);

/// The pools that may get new nodes: heavier first, then by name from the end, which is part of
/// the public behaviour.
pub(super) fn choose(world: &World) -> PoolChoice {
    let mut choice = PoolChoice::default();
    let reserved = ReservedClaims::of(world);
    let pools = world.pools.values().map(Arc::as_ref);
    let mut open: Vec<&Pool> = pools.filter(|pool| is_open(world, pool)).collect();
    open.sort_by(|left, right| {
        let key = |pool: &Pool| (pool.spec.weight, pool.meta.name.clone());
        key(right).cmp(&key(left))
    });
    for pool in open {
        let Some(instances) =
            world.instance_types.get(&pool.meta.name).filter(|all| !all.is_empty())
        else {
            continue;
        };
        let settings = &world.settings.scheduler;
        let must_vary = settings.min_values == MinValuesPolicy::Strict;
        if let Err(message) = can_be_made(&pool.spec, instances, &settings.label_rules, must_vary) {
            let about = Key::Pool(pool.meta.name.clone());
            let event = KubernetesEvent::warning(about, "NoCompatibleInstanceTypes", message);
            choice.kubernetes_events.push(event.silent_for(INCOMPATIBLE_SILENCE));
            continue;
        }
        let held = reserved.held(world.offered_at(&pool.meta.name));
        let (pool, instance_types) = (pool.spec.clone(), reservation::without(instances, &held));
        choice.pools.push(PoolWithTypes { pool, instance_types });
    }
    choice
}

/// Whether a pool may get new nodes for pods at all.
pub(super) fn is_open(world: &World, pool: &Pool) -> bool {
    world.is_supported(&pool.spec.template.spec.node_class)
        && pool.spec.sizing == Sizing::Dynamic
        && !pool.meta.is_deleting()
        && pool.status.conditions.is_true(READY)
}

/// Whether some instance is what the pool asks for, and enough different ones are where it says so.
fn can_be_made(
    pool: &NodePool,
    instances: &[InstanceType],
    rules: &LabelRules,
    must_vary: bool,
) -> Result<(), &'static str> {
    const NONE: &str = "NodePool requirements filtered out all compatible available instance types";
    const TOO_FEW: &str = "NodePool requirements filtered out all compatible available instance \
                           types due to minValues incompatibility";
    let mut words = Vocabulary::new();
    let normalization = rules.normalization();
    let entries = &pool.template.spec.requirements;
    // What has no meaning is told by the pool's validation.
    let Ok(wanted) = Requirements::from_entries(entries, normalization, &mut words) else {
        return Ok(());
    };
    let mut fitting = Vec::new();
    for instance in instances {
        let read = Requirements::from_entries(&*instance.requirements, normalization, &mut words);
        let Ok(offered) = read else { continue };
        if wanted.intersects(&offered, &words) {
            fitting.push(offered);
            // The first is enough, unless they have to be counted.
            if !(must_vary && wanted.has_min_values()) {
                return Ok(());
            }
        }
    }
    match fitting.is_empty() {
        true => Err(NONE),
        false if review_min_values(&wanted, &fitting).is_satisfied() => Ok(()),
        false => Err(TOO_FEW),
    }
}
