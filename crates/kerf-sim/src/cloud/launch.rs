//! Launching: the cheapest instance there is that a claim allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::event::{Failure, Instance, Outcome};
use kerf_engine::observed::Claim;
use kerf_engine::time::Time;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::catalogue::value;
use super::{Cloud, CloudInstance, OfferingIndex, SOLD_OUT_FOR};
use crate::matching::admits;

/// What came of a launch.
pub(crate) struct Launch {
    /// What the caller hears.
    pub(crate) outcome: Outcome,
    /// The instance that was started just now.
    pub(crate) started: Option<Arc<str>>,
    /// Whether it showed that something is sold out.
    pub(crate) instance_types_changed: bool,
}

/// The image every instance starts from.
const IMAGE: &str = "ami-0123456789abcdef0";

impl Cloud {
    /// Starts an instance for a claim, at most one ever for its identity.
    pub(crate) fn launch(&mut self, claim: &Claim, now: Time) -> Launch {
        if let Some((_, instance)) = self.launched.get(&claim.meta.uid) {
            let outcome = Outcome::Launched(instance.clone());
            return Launch { outcome, started: None, instance_types_changed: false };
        }
        let wanted = self.wanted(claim);
        let mut sold_out = Vec::new();
        let found = wanted.into_iter().find(|(_, index)| {
            let has = self.stock.get(index).is_none_or(|left| *left > 0);
            if !has {
                sold_out.push(*index);
            }
            has
        });
        for index in &sold_out {
            self.sold_out_until.insert(*index, now + SOLD_OUT_FOR);
        }
        if !sold_out.is_empty() {
            self.mark(&sold_out, false);
        }
        let instance_types_changed = !sold_out.is_empty();
        let Some((price, index)) = found else {
            let message = "no machine of the wanted types is left in the wanted zones".to_owned();
            let outcome = Outcome::Failed(Failure::InsufficientCapacity { message });
            return Launch { outcome, started: None, instance_types_changed };
        };
        let started = self.start(claim, index, price, now);
        let outcome = Outcome::Launched(self.instances[&started].instance.clone());
        Launch { outcome, started: Some(started), instance_types_changed }
    }

    /// Every offering the claim allows, cheapest first.
    fn wanted(&self, claim: &Claim) -> Vec<(Price, OfferingIndex)> {
        let requirements = &claim.spec.node.requirements;
        let named = requirements
            .iter()
            .find(|entry| entry.key == INSTANCE_TYPE && entry.operator == Operator::In);
        let types: Vec<usize> = match named {
            Some(entry) => {
                entry.values.iter().filter_map(|name| self.by_name.get(name).copied()).collect()
            }
            None => (0..self.instance_types.len()).collect(),
        };
        let mut wanted = Vec::new();
        for instance_type in types {
            let it = &self.instance_types[instance_type];
            if !claim.spec.requests.fits(&it.allocatable()) || !type_serves(it, requirements) {
                continue;
            }
            for (offering, sold) in it.offerings.iter().enumerate() {
                if sold.available && offering_serves(sold, requirements) {
                    wanted.push((sold.price, OfferingIndex { instance_type, offering }));
                }
            }
        }
        wanted.sort();
        wanted
    }

    fn start(&mut self, claim: &Claim, index: OfferingIndex, price: Price, now: Time) -> Arc<str> {
        self.launches += 1;
        let it = &self.instance_types[index.instance_type];
        let offering = &it.offerings[index.offering];
        let zone = value(offering, ZONE).unwrap_or_default();
        let id: Arc<str> = Arc::from(format!("sim:///{zone}/i-{:08x}", self.launches));
        let mut capacity = it.capacity.clone();
        for (name, quantity) in offering.capacity_override.iter() {
            capacity.insert(name, quantity);
        }
        let instance = Arc::new(Instance {
            provider_id: id.clone(),
            claim: Some(claim.meta.name.clone()),
            image_id: Some(IMAGE.to_owned()),
            labels: labels(it, offering, &claim.spec.node.requirements),
            annotations: BTreeMap::new(),
            capacity,
            allocatable: it.allocatable_of(offering),
            is_ending: false,
        });
        let launched = CloudInstance {
            instance: instance.clone(),
            claim: claim.meta.name.clone(),
            claim_uid: claim.meta.uid.clone(),
            pool: Arc::from(claim.pool().unwrap_or_default()),
            instance_type: it.name.clone(),
            price,
            launched_at: now,
            is_dead: false,
            is_announced: false,
            offering: index,
        };
        if let Some(left) = self.stock.get_mut(&index) {
            *left -= 1;
        }
        self.launched.insert(claim.meta.uid.clone(), (id.clone(), instance));
        self.instances.insert(id.clone(), launched);
        id
    }
}

fn type_serves(it: &InstanceType, requirements: &[RequirementEntry]) -> bool {
    requirements.iter().filter(|entry| !is_of_offering(&entry.key)).all(|wanted| {
        let known = it.requirements.iter().find(|entry| entry.key == wanted.key);
        // A key no type speaks of is a label of the pool's own.
        known.is_none_or(|known| match known.operator {
            Operator::In => known.values.iter().any(|value| admits(wanted, Some(value))),
            Operator::DoesNotExist => admits(wanted, None),
            _ => true,
        })
    })
}

fn offering_serves(offering: &Offering, requirements: &[RequirementEntry]) -> bool {
    let asked = requirements.iter().filter(|entry| is_of_offering(&entry.key));
    asked.into_iter().all(|wanted| admits(wanted, value(offering, &wanted.key)))
}

fn is_of_offering(key: &str) -> bool {
    key == ZONE || key == CAPACITY_TYPE
}

/// What the node will be labelled with: what the type and the offering leave no choice about, and
/// of what they leave open the first value that the claim allows.
fn labels(
    it: &InstanceType,
    offering: &Offering,
    wanted: &[RequirementEntry],
) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for entry in it.requirements.iter().filter(|entry| entry.operator == Operator::In) {
        let allowed = |value: &&String| {
            let asked = wanted.iter().filter(|wish| wish.key == entry.key);
            asked.into_iter().all(|wish| admits(wish, Some(value)))
        };
        if let Some(value) = entry.values.iter().find(allowed) {
            labels.insert(entry.key.clone(), value.clone());
        }
    }
    for entry in offering.requirements.iter().filter(|entry| entry.operator == Operator::In) {
        if let Some(value) = entry.values.first() {
            labels.insert(entry.key.clone(), value.clone());
        }
    }
    labels
}
