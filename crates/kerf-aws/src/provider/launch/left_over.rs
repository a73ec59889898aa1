//! Instances that the process before this one launched and did not live to tell of.
//!
//! Launches are merged, and EC2 knows a request again only if it is for the same claims at once. So
//! after a kill the next process would launch another instance, and end the first as nobody's.
//! Instead it looks for instances that no claim has, and gives them to the claims whose launch may
//! have been under way. What EC2 does not describe may be there all the same: these claims wait a
//! while before they are launched anew.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use aws_sdk_ec2::types::{Instance as Described, InstanceStateName};
use kerf_catalog::resource_name::EFA;
use kerf_engine::action::Launch;
use kerf_engine::observed::Claim;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::labels::aws::{NODE_CLASS, PLACEMENT_GROUP_ID};
use kerf_model::labels::well_known::{CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, SPOT, ZONE};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::info;

use super::Launcher;
use super::answer::Launched;
use super::candidate::{only_value, value};
use super::capacity_type::{Purchase, tenancy};
use super::ledger::Uid;
use crate::Result;
use crate::provider::filters::Filters;
use crate::provider::instances::CONSISTENT_AFTER;
use crate::provider::instances::describe::describe;
use crate::provider::instances::instance::{capacity_type, parse_provider_id, tag};
use crate::provider::tags;

/// So long a claim that may have been launched waits for EC2 to describe its instance. Mostly EC2
/// takes a second or two; what takes longer costs a launch too many, which is ended as nobody's.
const WAIT: Duration = Duration::from_secs(15);
/// How often EC2 is asked meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Tells which instances are nobody's.
pub(crate) trait Look: Sync {
    /// Those that EC2 describes and that this process has not launched; none where it cannot tell
    /// these apart now.
    ///
    /// # Errors
    /// EC2 gave no answer.
    fn look(&self) -> impl Future<Output = Result<Option<Vec<LeftOver>>>> + Send;
}

/// What was found since this process took over.
#[derive(Debug)]
pub(crate) struct LeftOvers(RwLock<Arc<TakeOver>>);

#[derive(Debug)]
struct TakeOver {
    at: Instant,
    /// Claims without an instance: each may have been launched.
    in_doubt: Vec<Claim>,
    /// The ids of instances that claims had.
    claimed: HashSet<String>,
    found: Mutex<Found>,
}

/// What EC2 has described so far.
#[derive(Debug, Default)]
struct Found {
    /// When it was asked last.
    looked_at: Option<Instant>,
    /// When it was asked last and told.
    seen_at: Option<Instant>,
    /// The instances that no claim has.
    free: Vec<LeftOver>,
    /// Those that were handed out, by the uid of the claim.
    given: HashMap<Uid, Launched>,
}

/// An instance that no claim has.
#[derive(Clone, Debug)]
pub(crate) struct LeftOver {
    launched: Launched,
    pool: String,
    class: String,
    tenancy: String,
}

impl Default for LeftOvers {
    fn default() -> Self {
        Self(RwLock::new(Arc::new(TakeOver::of([].iter()))))
    }
}

impl LeftOvers {
    /// This process begins to lead, and these claims are there.
    pub(crate) fn take_over<'c>(&self, claims: impl Iterator<Item = &'c Claim>) {
        let new = Arc::new(TakeOver::of(claims));
        if !new.in_doubt.is_empty() {
            let (claims, seconds) = (new.in_doubt.len(), WAIT.as_secs());
            info!(claims, seconds, "these may have been launched before: EC2 is asked for so long");
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = new;
    }

    /// The instance that a claim is given in place of a new one, if there is one for it. A claim
    /// that may have been launched waits until its instance is described, or would have been.
    ///
    /// # Errors
    /// EC2 gave no answer.
    pub(crate) async fn take(
        &self,
        launch: &Launch,
        types: &[InstanceType],
        rules: &LabelRules,
        ec2: &impl Look,
    ) -> Result<Option<Launched>> {
        let at_start = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !at_start.is_told_alike(&launch.claim, rules) {
            return Ok(None);
        }
        let suits = |it: &LeftOver| it.suits(launch, types, rules);
        while at_start.at.elapsed() < CONSISTENT_AFTER {
            let mut found = at_start.found.lock().await;
            if found.looked_at.is_none_or(|at| at.elapsed() >= LOOK_EVERY) {
                let now = Instant::now();
                let seen = ec2.look().await?;
                found.note(seen, &at_start.claimed, now);
            }
            if let Some(given) = found.give(&launch.claim, &at_start.in_doubt, suits) {
                return Ok(Some(given));
            }
            if found.seen_at.is_some_and(|at| at >= at_start.at + WAIT) {
                break;
            }
            let again = found.looked_at.unwrap_or(at_start.at) + LOOK_EVERY;
            drop(found);
            sleep_until(again).await;
        }
        Ok(None)
    }
}

impl Found {
    /// EC2 was asked at that moment and described these.
    fn note(&mut self, seen: Option<Vec<LeftOver>>, claimed: &HashSet<String>, at: Instant) {
        self.looked_at = Some(at);
        let Some(seen) = seen else { return };
        self.seen_at = Some(at);
        self.free = seen;
        let given: HashSet<&str> = self.given.values().map(|it| it.id.as_str()).collect();
        self.free.retain(|LeftOver { launched: Launched { id, .. }, .. }| {
            !claimed.contains(id) && !given.contains(id.as_str())
        });
    }

    /// Hands one of them to a claim. Who asks again is given the same, and what may be another's
    /// by its labels is left for that one.
    fn give(
        &mut self,
        claim: &Claim,
        in_doubt: &[Claim],
        suits: impl Fn(&LeftOver) -> bool,
    ) -> Option<Launched> {
        let uid = &claim.meta.uid;
        if let Some(given) = self.given.get(uid) {
            return Some(given.clone());
        }
        let mut kept: HashSet<usize> = HashSet::new();
        if !is_labelled(claim) {
            let without = in_doubt.iter().filter(|it| !self.given.contains_key(&it.meta.uid));
            for other in without.filter(|it| is_labelled(it)) {
                let own = |(place, it): (usize, &LeftOver)| {
                    !kept.contains(&place) && it.is_as_labelled(other)
                };
                let place = self.free.iter().enumerate().position(own);
                kept.extend(place);
            }
        }
        let free = |(place, it): (usize, &LeftOver)| !kept.contains(&place) && suits(it);
        let place = self.free.iter().enumerate().position(free)?;
        let launched = self.free.remove(place).launched;
        self.given.insert(uid.clone(), launched.clone());
        Some(launched)
    }
}

/// Whether a claim was told by labels what its instance is: they are stored before its id.
fn is_labelled(claim: &Claim) -> bool {
    [INSTANCE_TYPE, ZONE].iter().all(|key| claim.spec.labels.contains_key(*key))
}

impl TakeOver {
    fn of<'c>(claims: impl Iterator<Item = &'c Claim>) -> Self {
        let (mut in_doubt, mut claimed) = (Vec::new(), HashSet::new());
        for claim in claims {
            match claim.status.provider_id.as_deref() {
                Some(id) => claimed.extend(parse_provider_id(id).map(|(_, id)| id.to_owned())),
                None => in_doubt.push(claim.clone()),
            }
        }
        Self { at: Instant::now(), in_doubt, claimed, found: Mutex::default() }
    }

    /// Whether a claim is in doubt, and so are only claims of its pool whose nodes are told the same
    /// at their first boot: whichever of them an instance was launched for, it is this one's too.
    /// Labels that tell what the instance is may be there already, or not.
    fn is_told_alike(&self, claim: &Claim, rules: &LabelRules) -> bool {
        let pool = |it: &Claim| it.spec.labels.get(NODE_POOL).cloned();
        let labels = |it: &Claim| -> BTreeMap<String, String> {
            let own = it.spec.labels.iter().filter(|(key, _)| !rules.is_well_known(key));
            own.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let mut of_pool = self.in_doubt.iter().filter(|it| pool(it) == pool(claim));
        let (own, node) = (labels(claim), &claim.spec.node);
        self.in_doubt.iter().any(|it| it.meta.uid == claim.meta.uid)
            && of_pool.all(|it| {
                labels(it) == own
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

    /// Whether it is what the labels of a claim say of its instance, as far as they do.
    fn is_as_labelled(&self, claim: &Claim) -> bool {
        let Launched { instance_type, zone, purchase, .. } = &self.launched;
        let told = [
            (INSTANCE_TYPE, instance_type.as_str()),
            (ZONE, zone),
            (CAPACITY_TYPE, purchase.capacity_type()),
        ];
        told.iter().all(|(key, own)| claim.spec.labels.get(*key).is_none_or(|it| it == own))
    }

    /// Whether it is what a launch could have given.
    fn suits(&self, launch: &Launch, types: &[InstanceType], rules: &LabelRules) -> bool {
        let (claim, launched) = (&launch.claim.spec, &self.launched);
        let has_fabric = claim.requests.get(EFA).is_some_and(|count| !count.is_zero());
        if claim.labels.get(NODE_POOL) != Some(&self.pool)
            || claim.node.node_class.name != self.class
            || tenancy(&launch.claim) != self.tenancy
            || has_fabric
            || !self.is_as_labelled(&launch.claim)
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

impl Look for Launcher {
    /// Launches nothing meanwhile, and cannot tell while it does not know what it has launched.
    async fn look(&self) -> Result<Option<Vec<LeftOver>>> {
        let Ok(_quiet) = timeout(LOOK_EVERY, self.batches.quiet()).await else {
            return Ok(None);
        };
        let states = [InstanceStateName::Pending, InstanceStateName::Running];
        let states = states.iter().map(|state| state.as_str().to_owned()).collect();
        let filters = Filters::any_of("instance-state-name", states)
            .with_tag_key(NODE_POOL)
            .with_tag_key(NODE_CLASS)
            .with(&format!("tag:{}", tags::CLUSTER_NAME), &self.context.cluster.name);
        let described = describe(&self.context, filters).await?;
        let ledger = self.batches.ledger();
        if ledger.has_unanswered() {
            return Ok(None);
        }
        let mut free: Vec<LeftOver> = described.iter().filter_map(LeftOver::of).collect();
        free.retain(|it| ledger.instance(&it.launched.id).is_none());
        free.sort_by(|a, b| a.launched.id.cmp(&b.launched.id));
        Ok(Some(free))
    }
}

#[cfg(test)]
mod tests;
