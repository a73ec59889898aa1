//! Node classes: what they select is found, what they need is made, what they say is tried.
//!
//! ```text
//!   spec ─┬─ images ──────────────┐
//!         ├─ capacity_reservations│   asked at the same time
//!         ├─ placement_group      ├─► status and conditions ─► validation ─► drift_rules
//!         ├─ subnets              │
//!         ├─ security_groups      │
//!         └─ instance_profile ────┘
//! ```
//!
//! Each part is looked at for itself: one that is missing, or gives no answer, stops no other.

mod cached;
mod capacity_reservations;
mod class_key;
pub(crate) mod conditions;
pub(crate) mod drift_rules;
mod images;
mod instance_profile;
mod launch_templates;
mod part;
mod placement_group;
mod profile_calls;
mod profile_collection;
mod security_groups;
mod subnets;
mod validation;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kerf_api::ec2_node_class::{
    Ami, CapacityReservation, CapacityReservationState, EC2NodeClass, EC2NodeClassSpec,
    EC2NodeClassStatus, SecurityGroup, Subnet,
};
use kerf_catalog::settings::PlacementGroup;
use kerf_engine::condition::Status;
use kerf_engine::event::{Failure, ResolvedNodeClass};
use kerf_engine::observed::NodeClass;
use kerf_engine::time::Span;
use kerf_runtime::clock;
use tokio::time::sleep;
use tracing::warn;

use self::cached::Cached;
use self::capacity_reservations::FoundReservation;
use self::class_key::ClassKey;
use self::conditions::{
    AMIS_READY, CAPACITY_RESERVATIONS_READY, INSTANCE_PROFILE_READY, PLACEMENT_GROUP_READY,
    SECURITY_GROUPS_READY, SUBNETS_READY, VALIDATION_SUCCEEDED,
};
use self::drift_rules::GroupId;
use self::images::Parameters;
use self::instance_profile::InstanceProfiles;
use self::part::{PartResult, Parts, Taken};
use self::profile_collection::ProfileCollection;
use self::subnets::FoundSubnet;
use self::validation::{Subject, Validation};
use crate::provider::context::Context;
use crate::provider::launch::free_addresses::FreeAddresses;
use crate::provider::offers::ReservationCounts;

/// How long security groups, reservations and placement groups stay good.
const MINUTE: Duration = Duration::from_mins(1);
/// How long the last known placement group is used while EC2 gives no answer.
const LAST_KNOWN_GROUP: Duration = Duration::from_hours(24);
/// When to look again at a class of which a part gave no answer.
const AGAIN_AFTER: Span = Span::from_seconds(10);

/// Everything that is done for node classes.
pub(crate) struct NodeClasses {
    context: Context,
    addresses: Arc<FreeAddresses>,
    counts: Arc<ReservationCounts>,
    parameters: Parameters,
    images: Cached<ClassKey, Vec<Ami>>,
    reservations: Cached<ClassKey, Vec<FoundReservation>>,
    placement_groups: Cached<ClassKey, PlacementGroup>,
    last_known_groups: Cached<ClassKey, PlacementGroup>,
    subnets: Cached<ClassKey, Vec<FoundSubnet>>,
    security_groups: Cached<ClassKey, Vec<SecurityGroup>>,
    profiles: InstanceProfiles,
    collection: ProfileCollection,
    validation: Validation,
}

/// A class being looked at.
struct Look<'a> {
    class: &'a NodeClass,
    key: ClassKey,
    object: &'a EC2NodeClass,
    spec: &'a EC2NodeClassSpec,
    before: &'a EC2NodeClassStatus,
    /// In seconds since 1970.
    now: i64,
}

/// What was found of each part.
struct Found {
    amis: PartResult<Vec<Ami>>,
    reservations: PartResult<Vec<FoundReservation>>,
    placement_group: PartResult<Option<PlacementGroup>>,
    subnets: PartResult<Vec<Subnet>>,
    security_groups: PartResult<Vec<SecurityGroup>>,
    instance_profile: PartResult<String>,
}

impl NodeClasses {
    /// Nothing is known of any class. Figures that come along with what is looked for are told to
    /// those who keep them.
    pub(crate) fn new(
        context: Context,
        addresses: Arc<FreeAddresses>,
        counts: Arc<ReservationCounts>,
    ) -> Self {
        let settings = context.settings.clone();
        Self {
            addresses,
            counts,
            parameters: Parameters::default(),
            images: Cached::new(settings.ami_refresh),
            reservations: Cached::new(MINUTE),
            placement_groups: Cached::new(MINUTE),
            last_known_groups: Cached::new(LAST_KNOWN_GROUP),
            subnets: Cached::new(settings.subnet_refresh),
            security_groups: Cached::new(MINUTE),
            profiles: InstanceProfiles::new(&context),
            collection: ProfileCollection::new(),
            validation: Validation::new(&context),
            context,
        }
    }

    /// Finds what a class selects, makes what it needs, and checks what it says.
    ///
    /// # Errors
    /// The class cannot be read, or no part of it gave an answer.
    pub(crate) async fn resolve(&self, class: &NodeClass) -> Result<ResolvedNodeClass, Failure> {
        let object = crate::node_class::read(class).map_err(|error| unreadable(class, &error))?;
        let look = Look {
            class,
            key: ClassKey::of(class),
            object: &object,
            spec: &object.spec,
            before: &object.status.clone().unwrap_or_default(),
            now: clock::now().as_second(),
        };
        // Before anything is asked: a profile that a class names must not go.
        if let Some(profile) = &look.before.instance_profile {
            self.collection.name(profile);
        }
        let found = self.find(&look).await;
        if let Ok(profile) = &found.instance_profile {
            self.collection.name(profile);
        }
        self.conclude(&look, found).await
    }

    /// Removes what was made for a class that no claim uses any more.
    ///
    /// # Errors
    /// A call gave no answer. What was removed stays removed.
    pub(crate) async fn release(&self, class: &NodeClass) -> Result<(), Failure> {
        // Without a way to IAM there is nothing that could be asked to go.
        if !self.context.settings.is_isolated {
            self.profiles.release(class).await?;
        }
        launch_templates::release(&self.context, &class.meta.name).await?;
        let is_other = |key: &ClassKey| key.uid != class.meta.uid;
        self.images.retain(is_other);
        self.reservations.retain(is_other);
        self.placement_groups.retain(is_other);
        self.last_known_groups.retain(is_other);
        self.subnets.retain(is_other);
        self.security_groups.retain(is_other);
        self.validation.forget(class);
        let class = class.meta.name.to_string();
        self.context.registry.unset(validation::USER_DATA_BYTES, &vec![("nodeclass", class)]);
        Ok(())
    }

    /// Removes instance profiles that nobody uses any more, from time to time. Never ends.
    pub(crate) async fn keep_up(&self) {
        loop {
            sleep(profile_collection::EVERY).await;
            if let Err(failure) = self.collect_profiles(clock::now().as_second()).await {
                warn!(?failure, "unused instance profiles stay for now");
            }
        }
    }

    /// Removes instance profiles that nobody uses, and nobody used when this was called before;
    /// their names. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// A call gave no answer.
    pub(crate) async fn collect_profiles(&self, now: i64) -> Result<Vec<String>, Failure> {
        if self.context.settings.is_isolated || !self.collection.is_informed() {
            return Ok(Vec::new());
        }
        let profiles = self.profiles.unprotected().await?;
        let of_instances = profile_collection::of_instances(&self.context).await?;
        let unused = self.collection.choose(profiles, &of_instances, now);
        self.profiles.delete_all(&unused).await?;
        Ok(unused.into_iter().map(|it| it.name).collect())
    }

    /// The placement group of a class as it was last known.
    pub(crate) fn placement_group(&self, class: &NodeClass) -> Option<PlacementGroup> {
        self.last_known_groups.get(&ClassKey::of(class))
    }

    /// Asks for all parts at the same time. In boxes: futures of the client library are large.
    async fn find(&self, look: &Look<'_>) -> Found {
        let profile = look.before.instance_profile.as_deref();
        let (amis, reservations, placement_group, subnets, security_groups, instance_profile) = tokio::join!(
            Box::pin(self.find_images(look)),
            Box::pin(self.find_reservations(look)),
            Box::pin(self.find_placement_group(look)),
            Box::pin(self.find_subnets(look)),
            Box::pin(self.find_security_groups(look)),
            Box::pin(self.profiles.find(look.class, look.spec, profile)),
        );
        Found { amis, reservations, placement_group, subnets, security_groups, instance_profile }
    }

    async fn find_images(&self, look: &Look<'_>) -> PartResult<Vec<Ami>> {
        let ask = images::find(&self.context, &self.parameters, look.spec, look.now);
        self.images.or_ask(look.key.clone(), ask).await
    }

    async fn find_reservations(&self, look: &Look<'_>) -> PartResult<Vec<FoundReservation>> {
        let terms = look.spec.capacity_reservation_selector_terms.as_deref().unwrap_or_default();
        if terms.is_empty() || !self.context.settings.uses_reserved_capacity {
            return Ok(Vec::new());
        }
        let ask = async {
            let found = capacity_reservations::find(&self.context, terms).await?;
            found.iter().for_each(|it| self.counts.listed(it.id(), it.available));
            Ok(found)
        };
        self.reservations.or_ask(look.key.clone(), ask).await
    }

    async fn find_placement_group(&self, look: &Look<'_>) -> PartResult<Option<PlacementGroup>> {
        let Some(selector) = &look.spec.placement_group_selector else { return Ok(None) };
        let ask = placement_group::find(&self.context, selector);
        let group = self.placement_groups.or_ask(look.key.clone(), ask).await?;
        self.last_known_groups.put(look.key.clone(), group.clone());
        Ok(Some(group))
    }

    async fn find_subnets(&self, look: &Look<'_>) -> PartResult<Vec<Subnet>> {
        let ask = async {
            let found = subnets::find(&self.context, &look.spec.subnet_selector_terms).await?;
            for FoundSubnet { subnet, free } in &found {
                self.addresses.refresh(&subnet.id, *free);
                if let Some(id) = &subnet.zone_id {
                    self.context.zone_ids.note(&subnet.zone, id);
                }
            }
            PartResult::Ok(found)
        };
        let found = self.subnets.or_ask(look.key.clone(), ask).await?;
        Ok(found.into_iter().map(|it| it.subnet).collect())
    }

    async fn find_security_groups(&self, look: &Look<'_>) -> PartResult<Vec<SecurityGroup>> {
        let ask = security_groups::find(&self.context, &look.spec.security_group_selector_terms);
        self.security_groups.or_ask(look.key.clone(), ask).await
    }

    /// Puts together what was found, in the order in which conditions are told.
    async fn conclude(&self, look: &Look<'_>, found: Found) -> Result<ResolvedNodeClass, Failure> {
        let (name, before) = (&*look.class.meta.name, look.before);
        let mut parts = Parts::default();
        let amis = parts.take(name, AMIS_READY, found.amis);
        let mut next_change = None;
        let reservations = self.context.settings.uses_reserved_capacity.then(|| {
            let taken = parts.take(name, CAPACITY_RESERVATIONS_READY, found.reservations);
            let taken = at(taken, look.now, &mut next_change);
            taken.or_before(before.capacity_reservations.clone())
        });
        // Without an answer, now or before, nobody knows which are selected.
        let knows_reservations = matches!(reservations, Some(Some(_)));
        let reservations = reservations.flatten().filter(|list| !list.is_empty());
        let group = parts.take(name, PLACEMENT_GROUP_READY, found.placement_group);
        let subnets = parts.take(name, SUBNETS_READY, found.subnets);
        let groups = parts.take(name, SECURITY_GROUPS_READY, found.security_groups);
        let profile = parts.take(name, INSTANCE_PROFILE_READY, found.instance_profile);
        let status = EC2NodeClassStatus {
            amis: amis.or_before(before.amis.clone()),
            capacity_reservations: reservations,
            conditions: None,
            instance_profile: match profile {
                Taken::Found(profile) => Some(profile),
                // Launches under way may name it still.
                Taken::Nothing | Taken::AsBefore => before.instance_profile.clone(),
            },
            security_groups: groups.or_before(before.security_groups.clone()),
            subnets: subnets.or_before(before.subnets.clone()),
        };
        let validated = self.validate(look, &status, &group, &parts).await;
        parts.take(name, VALIDATION_SUCCEEDED, validated);
        if let (true, Some(error)) = (parts.conditions.is_empty(), parts.unanswered.first()) {
            return Err(error.clone().into());
        }
        let drift_rules = drift_rules::of(&status, group_id(look.spec, &group), knows_reservations);
        let ending_reservations = ending(status.capacity_reservations.as_deref());
        let unanswered = (!parts.unanswered.is_empty()).then_some(AGAIN_AFTER);
        Ok(ResolvedNodeClass {
            conditions: parts.conditions,
            status: Arc::new(serde_json::to_value(&status).unwrap_or_default()),
            drift_rules,
            ending_reservations,
            again_after: unanswered.into_iter().chain(next_change).min(),
        })
    }

    async fn validate(
        &self,
        look: &Look<'_>,
        status: &EC2NodeClassStatus,
        group: &Taken<Option<PlacementGroup>>,
        parts: &Parts,
    ) -> PartResult<()> {
        let group = match group {
            Taken::Found(group) => group.clone(),
            Taken::Nothing | Taken::AsBefore => self.placement_group(look.class),
        };
        let object = EC2NodeClass { status: Some(status.clone()), ..look.object.clone() };
        let subject = Subject { class: look.class, object: &object, group: group.as_ref() };
        let status_of =
            |kind: &str| parts.status_of(kind).unwrap_or_else(|| stored(look.class, kind));
        Box::pin(self.validation.check(subject, status_of)).await
    }
}

fn unreadable(class: &NodeClass, error: &serde_json::Error) -> Failure {
    Failure::Invalid { message: format!("EC2NodeClass {}: {error}", class.meta.name) }
}

/// Those of the reservations that are about to end.
fn ending(reservations: Option<&[CapacityReservation]>) -> BTreeSet<String> {
    let all = reservations.unwrap_or_default().iter();
    let ending = all.filter(|it| it.state == Some(CapacityReservationState::Expiring));
    ending.map(|it| it.id.clone()).collect()
}

/// The reservations as they are at a time, and how long they stay so.
fn at(
    taken: Taken<Vec<FoundReservation>>,
    now: i64,
    next_change: &mut Option<Span>,
) -> Taken<Vec<CapacityReservation>> {
    let found = match taken {
        Taken::Found(found) => found,
        Taken::Nothing => return Taken::Nothing,
        Taken::AsBefore => return Taken::AsBefore,
    };
    let next = found.iter().filter_map(|it| it.changes_at(now)).min();
    *next_change = next.map(|time| Span::from_seconds(u64::try_from(time - now).unwrap_or(0)));
    Taken::Found(found.iter().filter_map(|it| it.at(now)).collect())
}

/// What is known of a condition from before. What was said about another spec counts for nothing.
fn stored(class: &NodeClass, kind: &str) -> Status {
    let condition = class.status.conditions.get(kind);
    let current = condition.filter(|it| it.observed_generation == class.meta.generation);
    current.map_or(Status::Unknown, |condition| condition.status)
}

fn group_id<'a>(spec: &EC2NodeClassSpec, group: &'a Taken<Option<PlacementGroup>>) -> GroupId<'a> {
    match (&spec.placement_group_selector, group) {
        (None, _) => GroupId::None,
        (Some(_), Taken::Found(Some(group))) => GroupId::Is(&group.id),
        (Some(_), _) => GroupId::Unknown,
    }
}
