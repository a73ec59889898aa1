//! Instances that the process before this one launched and did not live to tell of.
//!
//! Launches are merged, and EC2 knows a request again only if it is for the same claims at once. So
//! after a kill the next process would launch another instance, and end the first as nobody's.
//! Instead it looks once, before it launches anything, for instances that no claim has, and gives
//! them to the claims whose launch may have been under way.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use aws_sdk_ec2::types::{Instance as Described, InstanceStateName};
use kerf_catalog::resource_name::EFA;
use kerf_engine::action::Launch;
use kerf_engine::observed::Claim;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::labels::aws::{NODE_CLASS, PLACEMENT_GROUP_ID};
use kerf_model::labels::well_known::{CAPACITY_TYPE, NODE_POOL, SPOT, ZONE};
use tokio::sync::Mutex;

use super::answer::Launched;
use super::candidate::{only_value, value};
use super::capacity_type::{Purchase, tenancy};
use crate::Result;
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::provider::instances::describe::describe;
use crate::provider::instances::instance::{capacity_type, parse_provider_id, tag};
use crate::provider::tags;

/// What was found when this process took over.
#[derive(Debug, Default)]
pub(crate) struct LeftOvers(RwLock<Arc<TakeOver>>);

#[derive(Debug, Default)]
struct TakeOver {
    /// Claims without an instance: each may have been launched.
    in_doubt: Vec<Claim>,
    /// The ids of instances that claims had.
    claimed: HashSet<String>,
    /// The instances that no claim had; none as long as EC2 was not asked.
    free: Mutex<Option<Vec<LeftOver>>>,
}

/// An instance that no claim has.
#[derive(Clone, Debug)]
struct LeftOver {
    launched: Launched,
    pool: String,
    class: String,
    tenancy: String,
}

impl LeftOvers {
    /// This process begins to lead, and these claims are there.
    pub(crate) fn take_over<'c>(&self, claims: impl Iterator<Item = &'c Claim>) {
        let mut new = TakeOver::default();
        for claim in claims {
            match claim.status.provider_id.as_deref() {
                Some(id) => new.claimed.extend(parse_provider_id(id).map(|(_, id)| id.to_owned())),
                None => new.in_doubt.push(claim.clone()),
            }
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
    }

    /// The instance that a claim is given in place of a new one, if there is one for it. The first
    /// who asks has EC2 asked, and nobody launches anything meanwhile: what EC2 then describes is
    /// of the process before.
    ///
    /// # Errors
    /// EC2 gave no answer.
    pub(crate) async fn take(
        &self,
        context: &Context,
        launch: &Launch,
        types: &[InstanceType],
        rules: &LabelRules,
    ) -> Result<Option<Launched>> {
        let at_start = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if at_start.in_doubt.is_empty() {
            return Ok(None);
        }
        let mut free = at_start.free.lock().await;
        if free.is_none() {
            *free = Some(unclaimed(context, &at_start.claimed).await?);
        }
        let free = free.get_or_insert_default();
        if free.is_empty() || !at_start.is_told_alike(&launch.claim) {
            return Ok(None);
        }
        let fits = free.iter().position(|it| it.suits(launch, types, rules));
        Ok(fits.map(|place| free.remove(place).launched))
    }
}

impl TakeOver {
    /// Whether a claim is in doubt, and so are only claims of its pool whose nodes are told the same
    /// at their first boot: whichever of them an instance was launched for, it is this one's too.
    fn is_told_alike(&self, claim: &Claim) -> bool {
        let pool = |it: &Claim| it.spec.labels.get(NODE_POOL).cloned();
        let mut of_pool = self.in_doubt.iter().filter(|it| pool(it) == pool(claim));
        let (own, node) = (&claim.spec, &claim.spec.node);
        self.in_doubt.iter().any(|it| it.meta.uid == claim.meta.uid)
            && of_pool.all(|it| {
                it.spec.labels == own.labels
                    && it.spec.node.taints == node.taints
                    && it.spec.node.startup_taints == node.startup_taints
                    && it.spec.node.node_class == node.node_class
            })
    }
}

impl LeftOver {
    /// None where it is not known well enough what it is, or it is something special.
    fn of(described: &Described) -> Option<Self> {
        let placement = described.placement()?;
        let is_special = tag(described, tags::NODE_CLAIM).is_some()
            || described.capacity_reservation_id().is_some_and(|id| !id.is_empty())
            || placement.group_id().is_some_and(|id| !id.is_empty());
        let is_spot = capacity_type(described, false) == SPOT;
        let launched = Launched {
            id: described.instance_id()?.to_owned(),
            instance_type: described.instance_type()?.as_str().to_owned(),
            zone: placement.availability_zone()?.to_owned(),
            subnet: described.subnet_id()?.to_owned(),
            image_id: described.image_id()?.to_owned(),
            purchase: if is_spot { Purchase::Spot } else { Purchase::OnDemand },
            reservation: None,
            partition: None,
        };
        let own = |key| tag(described, key).map(str::to_owned);
        let tenancy = placement.tenancy().map_or("default", |it| it.as_str()).to_owned();
        let (pool, class) = (own(NODE_POOL)?, own(NODE_CLASS)?);
        (!is_special).then_some(Self { launched, pool, class, tenancy })
    }

    /// Whether it is what a launch could have given.
    fn suits(&self, launch: &Launch, types: &[InstanceType], rules: &LabelRules) -> bool {
        let (claim, launched) = (&launch.claim.spec, &self.launched);
        let has_fabric = claim.requests.get(EFA).is_some_and(|count| !count.is_zero());
        if claim.labels.get(NODE_POOL) != Some(&self.pool)
            || claim.node.node_class.name != self.class
            || tenancy(&launch.claim) != self.tenancy
            || has_fabric
        {
            return false;
        }
        let own = types.iter().position(|it| it.name == launched.instance_type);
        let own = own.map(|place| &types[place..=place]).unwrap_or_default();
        launch.offerings(own, rules).is_ok_and(|allowed| {
            allowed.iter().any(|it| {
                value(it.offering, ZONE) == Some(&launched.zone)
                    && value(it.offering, CAPACITY_TYPE) == Some(launched.purchase.capacity_type())
                    && it.offering.reservation.is_none()
                    && only_value(&it.instance_type.requirements, PLACEMENT_GROUP_ID).is_none()
            })
        })
    }
}

/// The instances of the cluster that no claim has, by id.
async fn unclaimed(context: &Context, claimed: &HashSet<String>) -> Result<Vec<LeftOver>> {
    let states = [InstanceStateName::Pending, InstanceStateName::Running];
    let states = states.iter().map(|state| state.as_str().to_owned()).collect();
    let filters = Filters::any_of("instance-state-name", states)
        .with_tag_key(NODE_POOL)
        .with_tag_key(NODE_CLASS)
        .with(&format!("tag:{}", tags::CLUSTER_NAME), &context.cluster.name);
    let described = describe(context, filters).await?;
    let mut free: Vec<LeftOver> = described.iter().filter_map(LeftOver::of).collect();
    free.retain(|it| !claimed.contains(&it.launched.id));
    free.sort_by(|a, b| a.launched.id.cmp(&b.launched.id));
    Ok(free)
}

#[cfg(test)]
mod tests;
