//! The weight of a pool is law from the pending pod to the claim: a heavier pool is filled to its
//! limits, counting what is on its way, before a lighter one gets a claim.

#![allow(clippy::unwrap_used)]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, allowed, instances, ready_pool};
use kerf_engine::action::NewClaim;
use kerf_engine::event::{Key, Object};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};

const HEAVY: &str = "reserved";
const LIGHT: &str = "general";
/// The one instance type of the heavy pool, and how many pods of one CPU it holds.
const HEAVY_TYPE: &str = "m-8x";
const PODS_PER_NODE: usize = 8;

/// A heavy pool of one instance type with a limit, and a light one that costs a third of it.
fn two_pools(limit_cpus: i64) -> Cluster {
    let mut cluster = Cluster::new();
    cluster.add_pool(ready_pool(HEAVY, |pool| {
        let entry = RequirementEntry::new(INSTANCE_TYPE, Operator::In, [HEAVY_TYPE]);
        pool.template.spec.requirements.push(entry);
        pool.weight = 100;
        pool.limits.insert("cpu", Quantity::from_int(limit_cpus));
    }));
    cluster.add_pool(ready_pool(LIGHT, |_| {}));
    let mut cheap: Vec<InstanceType> = instances().to_vec();
    for offering in cheap.iter_mut().flat_map(|it| Arc::make_mut(&mut it.offerings)) {
        offering.price = Price::from_micros_per_hour(offering.price.micros_per_hour() / 3);
    }
    cluster.instance_types.insert(LIGHT.into(), cheap.into());
    cluster.offer_all();
    cluster
}

/// So many further pods of one CPU begin to wait.
fn pend(cluster: &mut Cluster, count: usize) {
    let first = cluster.pods().len();
    (first..first + count).for_each(|number| cluster.pend(&format!("pod-{number:03}"), "1"));
}

fn of_pool<'a>(cluster: &'a Cluster, pool: &str) -> Vec<&'a NewClaim> {
    let mut claims = cluster.ordered_claims();
    claims.retain(|claim| *claim.pool.0 == *pool);
    claims
}

/// How many pods are meant for claims of a pool.
fn pods_meant_for(cluster: &Cluster, pool: &str) -> usize {
    let names: Vec<&str> = of_pool(cluster, pool).iter().map(|it| it.spec.name.as_str()).collect();
    let targets = cluster.pods().into_iter().filter_map(|pod| cluster.target_of(&pod.key.name));
    targets.filter(|target| names.contains(&&**target)).count()
}

#[test]
fn a_heavier_pool_gets_every_claim_its_limit_allows_and_they_are_full() {
    for (limit_cpus, pods) in [(8, 10), (8, 25), (8, 28), (8, 60), (32, 60), (32, 120), (32, 200)] {
        let mut cluster = two_pools(limit_cpus);
        pend(&mut cluster, pods);
        cluster.seconds(5);
        let what = format!("limit {limit_cpus}, {pods} pods");
        let heavy = of_pool(&cluster, HEAVY);
        assert_eq!(heavy.len() as i64 * 8, limit_cpus, "{what}");
        for claim in &heavy {
            assert_eq!(allowed(claim, INSTANCE_TYPE), [HEAVY_TYPE], "{what}");
        }
        let held = heavy.len() * PODS_PER_NODE;
        assert_eq!(pods_meant_for(&cluster, HEAVY), held, "{what}");
        assert_eq!(pods_meant_for(&cluster, LIGHT), pods - held, "{what}");
    }
}

#[test]
fn a_lighter_pool_gets_claims_only_after_the_heavier_is_full_whatever_the_batches() {
    for waves in [&[3, 3, 3, 3, 30][..], &[20, 20, 20], &[1, 7, 8, 9, 40], &[33, 1, 1]] {
        let mut cluster = two_pools(32);
        for (number, wave) in waves.iter().enumerate() {
            pend(&mut cluster, *wave);
            cluster.seconds(3);
            // Whether claims are stored, launched or only decided on makes no difference.
            cluster.boots = number % 2 == 0;
            let heavy = of_pool(&cluster, HEAVY).len();
            assert!(heavy == 4 || of_pool(&cluster, LIGHT).is_empty(), "{waves:?}: {heavy}");
        }
        assert_eq!(of_pool(&cluster, HEAVY).len(), 4, "{waves:?}");
    }
}

#[test]
fn a_heavier_pool_whose_limit_is_raised_gets_the_next_claims() {
    let mut cluster = two_pools(8);
    pend(&mut cluster, 40);
    cluster.seconds(5);
    let before = of_pool(&cluster, LIGHT).len();
    cluster.edit(&Key::Pool(HEAVY.into()), |object| {
        let Object::Pool(pool) = object else { unreachable!("a pool's key") };
        let spec = Arc::make_mut(&mut pool.spec);
        spec.limits.insert("cpu", Quantity::from_int(24));
    });
    // More than the slack of what is on its way.
    pend(&mut cluster, 24);
    cluster.seconds(5);
    assert_eq!(of_pool(&cluster, HEAVY).len(), 3);
    assert!(before > 0 && pods_meant_for(&cluster, HEAVY) == 24, "{:?}", cluster.log());
}
