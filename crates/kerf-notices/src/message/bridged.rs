//! Events as EventBridge sends them.

use std::collections::BTreeSet;

use smallvec::smallvec;

use super::event::Instances;
use super::field::{Field, Object, Text, TextField};
use super::origin;
use super::raw_list::RawList;
use super::reading::{Stop, parse};
use super::wire::{Bridged, Detail, Entity, Health, HealthDetail};
use super::{Drop, Event, InstanceId, Kind, State, Unreadable};
use crate::zonal_shift::SOURCE;

/// What depends on the kind.
#[derive(Default)]
struct Subject<'a> {
    instances: Instances,
    clusters: Vec<String>,
    /// The region it is about, where that may be another than the one it was delivered in.
    region: TextField<'a>,
    page: u32,
}

/// Reads an event that has a source. Its text is needed for kinds that say more than most.
pub(super) fn read_bridged<'a>(text: &'a str, body: Bridged<'a>) -> Result<Event<'a>, Stop> {
    let detail_type = match &body.detail_type {
        Field::Is(text) => text.0.as_ref(),
        Field::Absent => return Err(Unreadable::Missing("detail-type").into()),
        Field::Other => return Err(Unreadable::Wrong("detail-type").into()),
    };
    let (kind, subject) = match (body.source.text().unwrap_or_default(), detail_type) {
        ("aws.ec2", detail_type) => of_ec2(detail_type, &body)?,
        ("aws.health", "AWS Health Event") => (Kind::Health, of_health(text, &body)?),
        ("aws.autoscaling", "EC2 Instance-terminate Lifecycle Action") => {
            (Kind::AsgTerminate, of_group(&body)?)
        }
        ("aws.autoscaling", "EC2 Instance-launch Lifecycle Action") => {
            (Kind::AsgLaunch, of_group(&body)?)
        }
        (SOURCE, _) => (Kind::ZonalShift, of_zonal_shift(&body)?),
        _ => return Err(Drop::OtherKind.into()),
    };
    let region = match subject.region {
        Field::Absent => body.region,
        region => region,
    };
    Ok(Event {
        kind,
        id: origin::id(body.id)?,
        account: origin::account(body.account, "account")?,
        region: origin::region(region)?,
        // A time that is no text says nothing.
        time: match body.time {
            Field::Is(Text(time)) => Some(time),
            Field::Absent | Field::Other => None,
        },
        instances: subject.instances,
        clusters: subject.clusters,
        page: subject.page,
        unwrapped: None,
    })
}

fn of_ec2<'a>(detail_type: &str, body: &Bridged<'a>) -> Result<(Kind, Subject<'a>), Stop> {
    let kind = match detail_type {
        "EC2 Spot Instance Interruption Warning" => Kind::SpotInterruption,
        "EC2 Instance Rebalance Recommendation" => Kind::Rebalance,
        "EC2 Instance State-change Notification" => Kind::StateChange(state(body)?),
        "EC2 Capacity Reservation Instance Interruption Warning" => {
            Kind::CapacityReservationInterruption
        }
        _ => return Err(Drop::OtherKind.into()),
    };
    let detail = detail(body)?;
    let instance = detail.map_or(&Field::Absent, |detail| &detail.instance_id);
    let instances = smallvec![one_instance(instance, "detail.instance-id")?];
    Ok((kind, Subject { instances, ..Subject::default() }))
}

fn of_group<'a>(body: &Bridged<'a>) -> Result<Subject<'a>, Stop> {
    let detail = detail(body)?;
    let instance = detail.map_or(&Field::Absent, |detail| &detail.asg_instance);
    let instances = smallvec![one_instance(instance, "detail.EC2InstanceId")?];
    Ok(Subject { instances, ..Subject::default() })
}

fn of_zonal_shift<'a>(body: &Bridged<'a>) -> Result<Subject<'a>, Stop> {
    detail(body)?;
    Ok(Subject { clusters: cluster_names(&body.resources.elements()?), ..Subject::default() })
}

/// The `detail`, after a look at what every kind has to have right.
fn detail<'b, 'a>(body: &'b Bridged<'a>) -> Result<Option<&'b Detail<'a>>, Stop> {
    if matches!(body.resources, RawList::Other) {
        return Err(Unreadable::Wrong("resources").into());
    }
    match &body.detail {
        Field::Is(detail) => Ok(Some(&detail.0)),
        Field::Absent => Ok(None),
        Field::Other => Err(Unreadable::Wrong("detail").into()),
    }
}

fn state(body: &Bridged<'_>) -> Result<State, Stop> {
    match body.detail.value().map(|detail| &detail.0.state) {
        Some(Field::Is(state)) => State::from_text(&state.0).ok_or(Drop::OtherState.into()),
        Some(Field::Other) => Err(Unreadable::Wrong("detail.state").into()),
        Some(Field::Absent) => Err(Unreadable::Missing("detail.state").into()),
        None => Err(Unreadable::Missing("detail").into()),
    }
}

fn of_health<'a>(text: &'a str, body: &Bridged<'a>) -> Result<Subject<'a>, Stop> {
    let health: Health<'a> = parse(text)?;
    let Field::Is(Object(said)) = health.detail else {
        return Err(Unreadable::Missing("detail").into());
    };
    if said.service.text() != Some("EC2") {
        return Err(Drop::OtherService.into());
    }
    if said.category.text() != Some("scheduledChange") {
        return Err(Drop::OtherCategory.into());
    }
    if said.scope.text() == Some("PUBLIC") {
        return Err(Drop::PublicHealth.into());
    }
    detail(body)?;
    Ok(Subject {
        instances: health_instances(&said, body.resources)?,
        page: said.page.text().and_then(|page| page.parse().ok()).unwrap_or_default(),
        // A Health event may be delivered in another region than the one it is about.
        region: match said.event_region {
            Field::Is(region) => Field::Is(region),
            Field::Absent | Field::Other => Field::Absent,
        },
        clusters: Vec::new(),
    })
}

/// The instances among the affected entities; where there are none, among the resources.
fn health_instances(said: &HealthDetail<'_>, resources: RawList<'_>) -> Result<Instances, Stop> {
    if matches!(said.entities, RawList::Other) {
        return Err(Unreadable::Wrong("detail.affectedEntities").into());
    }
    let entities: Vec<Object<Entity<'_>>> = said.entities.elements()?;
    let named = entities.iter().filter_map(|entity| entity.0.value.text());
    let mut instances = each_once(named.filter_map(InstanceId::from_resource));
    if instances.is_empty() {
        let resources: Vec<Text<'_>> = resources.elements()?;
        let named = resources.iter().map(|resource| resource.0.as_ref());
        instances = each_once(named.filter_map(InstanceId::from_resource));
    }
    if instances.is_empty() { Err(Drop::NoInstances.into()) } else { Ok(instances) }
}

fn each_once(ids: impl Iterator<Item = InstanceId>) -> Instances {
    let mut seen = BTreeSet::new();
    ids.filter(|id| seen.insert(*id)).collect()
}

pub(super) fn one_instance(field: &TextField<'_>, name: &'static str) -> Result<InstanceId, Stop> {
    match field {
        Field::Is(text) => text.0.parse().map_err(|_| Unreadable::Wrong(name).into()),
        Field::Absent => Err(Unreadable::Missing(name).into()),
        Field::Other => Err(Unreadable::Wrong(name).into()),
    }
}

/// The names in `arn:PARTITION:eks:REGION:ACCOUNT:cluster/NAME`.
fn cluster_names(resources: &[Text<'_>]) -> Vec<String> {
    let name = |resource: &Text<'_>| {
        let mut parts = resource.0.splitn(6, ':');
        let is_eks = parts.next() == Some("arn") && parts.nth(1) == Some("eks");
        let name = parts.nth(2)?.strip_prefix("cluster/")?;
        (is_eks && !name.is_empty()).then(|| name.to_owned())
    };
    let mut names: Vec<_> = resources.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}
