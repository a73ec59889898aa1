//! What a greedy packer would pay: a measure for what was bought.
//!
//! It takes the pods of one pool, zone and capacity type largest first, puts as many as it can on
//! one node of the largest type that is sold there, then buys the cheapest type that holds them, and
//! goes on with the rest.

use std::collections::BTreeMap;

use kerf_engine::observed::PodOwner;
use kerf_model::labels::well_known::{CAPACITY_TYPE, ZONE};
use kerf_model::price::Price;
use kerf_model::requirement::RequirementEntry;

use crate::binder::capacity::Capacity;
use crate::simulation::Simulation;

/// A pool, a zone and a capacity type: what a pod that runs is bound to.
type Market<'a> = (&'a str, &'a str, &'a str);

/// A type that is sold there: what it holds, and what it costs.
struct Sold {
    holds: Capacity,
    price: Price,
}

impl Simulation {
    /// What a greedy packer would pay an hour for the pods that run, in the same zones and with the
    /// same capacity types.
    #[must_use]
    pub fn greedy_price(&self) -> Price {
        let mut markets: BTreeMap<Market<'_>, Vec<Capacity>> = BTreeMap::new();
        let mut daemons = Capacity::default();
        for claim in self.store.claims.values() {
            let Some(node) = self.store.node_of(claim) else { continue };
            let (Some(pool), Some(zone), Some(capacity_type)) =
                (claim.pool(), claim.label(ZONE), claim.label(CAPACITY_TYPE))
            else {
                continue;
            };
            let pods = markets.entry((pool, zone, capacity_type)).or_default();
            let mut own = Capacity::default();
            for pod in self.store.pods_on(&node.meta.name) {
                let takes = Capacity::of(&pod.shape.requests);
                if pod.owner == PodOwner::DaemonSet { own.add(&takes) } else { pods.push(takes) }
            }
            daemons = own;
        }
        let prices = markets.into_iter().map(|(market, pods)| self.packed(market, pods, &daemons));
        Price::from_micros_per_hour(prices.sum())
    }

    fn packed(&self, market: Market<'_>, mut pods: Vec<Capacity>, daemons: &Capacity) -> u64 {
        let mut sold = self.sold(market);
        sold.iter_mut().for_each(|it| it.holds.subtract(daemons));
        sold.sort_by_key(|it| it.price);
        pods.sort_by_key(|pod| std::cmp::Reverse(pod.size()));
        let mut total = 0;
        while !pods.is_empty() {
            // The type that takes the most, and of those the cheapest that takes as many.
            let most = sold.iter().map(|it| filled(&it.holds, &pods)).max().unwrap_or(0);
            let Some(cheapest) =
                sold.iter().find(|it| most > 0 && filled(&it.holds, &pods) == most)
            else {
                break;
            };
            total += cheapest.price.micros_per_hour();
            let mut left = cheapest.holds.clone();
            pods.retain(|pod| {
                let fits = left.holds(pod);
                if fits {
                    left.subtract(pod);
                }
                !fits
            });
        }
        total
    }

    fn sold(&self, (pool, zone, capacity_type): Market<'_>) -> Vec<Sold> {
        let pool = self.store.pools.get(pool);
        let wanted: &[RequirementEntry] =
            pool.map_or(&[], |pool| &pool.spec.template.spec.requirements);
        let types = self.cloud.instance_types.iter().filter(|it| {
            !wanted.iter().any(|entry| it.requirements.iter().any(|listed| entry.rules_out(listed)))
        });
        let offered = types.flat_map(|it| {
            let own = it.offerings.iter().filter(|offering| {
                offering.available
                    && offering.requirements.iter().all(|listed| match listed.key.as_str() {
                        ZONE => listed.values.iter().any(|value| value == zone),
                        CAPACITY_TYPE => listed.values.iter().any(|value| value == capacity_type),
                        _ => true,
                    })
            });
            own.map(|offering| Sold {
                holds: Capacity::of(&it.allocatable_of(offering)),
                price: offering.price,
            })
        });
        offered.collect()
    }
}

/// How many of the pods fit, the largest first.
fn filled(holds: &Capacity, pods: &[Capacity]) -> usize {
    let mut left = holds.clone();
    pods.iter()
        .filter(|pod| {
            let fits = left.holds(pod);
            if fits {
                left.subtract(pod);
            }
            fits
        })
        .count()
}
