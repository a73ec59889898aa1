//! Launching: the cheapest instance there is that a claim allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::{Launch, LaunchOffering};
use kerf_engine::event::{Failure, Instance, Outcome};
use kerf_engine::observed::Claim;
use kerf_engine::time::Time;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::LabelRules;
use kerf_model::labels::well_known::ZONE;
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::catalogue::value;
use super::{Cloud, CloudInstance, OfferingIndex, SOLD_OUT_FOR};
use crate::matching::admits;

/// What came of a launch.
pub(crate) struct Launched {
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
    pub(crate) fn launch(&mut self, launch: &Launch, rules: &LabelRules, now: Time) -> Launched {
        let claim = &launch.claim;
        if let Some((_, instance)) = self.launched.get(&claim.meta.uid) {
            let outcome = Outcome::Launched(instance.clone());
            return Launched { outcome, started: None, instance_types_changed: false };
        }
        let wanted = self.wanted(launch, rules);
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
            let message = "no instance of the wanted types is left in the wanted zones".to_owned();
            let outcome = Outcome::Failed(Failure::InsufficientCapacity { message });
            return Launched { outcome, started: None, instance_types_changed };
        };
        let started = self.start(claim, index, price, now);
        let outcome = Outcome::Launched(self.instances[&started].instance.clone());
        Launched { outcome, started: Some(started), instance_types_changed }
    }

    /// Every offering the claim allows, cheapest first. The engine decided on what it knew; what is
    /// sold out since is found out here.
    fn wanted(&self, launch: &Launch, rules: &LabelRules) -> Vec<(Price, OfferingIndex)> {
        let types = launch.instance_types.as_ref().unwrap_or(&self.instance_types);
        let index = |it: &LaunchOffering<'_>| {
            let instance_type = *self.by_name.get(&it.instance_type.name)?;
            let mut sold = self.instance_types[instance_type].offerings.iter();
            let offering = sold.position(|own| own.requirements == it.offering.requirements)?;
            Some((it.offering.price, OfferingIndex { instance_type, offering }))
        };
        let offerings = launch.offerings(types, rules).unwrap_or_default();
        offerings.iter().filter_map(index).collect()
    }

    fn start(&mut self, claim: &Claim, index: OfferingIndex, price: Price, now: Time) -> Arc<str> {
        self.launches += 1;
        let it = &self.instance_types[index.instance_type];
        let offering = &it.offerings[index.offering];
        let zone = value(offering, ZONE).unwrap_or_default();
        let id: Arc<str> = Arc::from(format!("sim:///{zone}/i-{:08x}", self.launches));
        let mut capacity = (*it.capacity).clone();
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
            made_of: BTreeMap::new(),
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
            ending_since: None,
            is_dead: false,
            has_dead_kubelet: false,
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
