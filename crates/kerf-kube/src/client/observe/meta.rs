//! What all stored objects have, and values many of them share.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as api;
use kerf_api::Condition as ApiCondition;
use kerf_engine::condition::{Condition, Conditions, Status};
use kerf_engine::observed::{Meta, Name, Revision};
use kerf_engine::time::Time;
use kerf_engine::zonal_shift::ANNOTATION_DOMAIN;
use kerf_model::labels::well_known::API_DOMAIN;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

/// Reads an object's metadata.
pub(crate) fn meta(metadata: &api::ObjectMeta) -> Meta {
    Meta {
        name: name_of(metadata),
        uid: Arc::from(metadata.uid.as_deref().unwrap_or_default()),
        revision: revision(metadata.resource_version.as_deref()),
        generation: metadata.generation.unwrap_or_default(),
        created_at: metadata.creation_timestamp.as_ref().map_or_else(Time::default, time),
        deleting_since: metadata.deletion_timestamp.as_ref().map(time),
    }
}

/// An object's name.
pub(crate) fn name_of(metadata: &api::ObjectMeta) -> Name {
    Arc::from(metadata.name.as_deref().unwrap_or_default())
}

/// A version as the API server counts it. One that is no number is older than all others, so that
/// it never hides what comes later.
pub(crate) fn revision(text: Option<&str>) -> Revision {
    Revision(text.and_then(|text| text.parse().ok()).unwrap_or_default())
}

/// A moment.
pub(crate) fn time(time: &api::Time) -> Time {
    Time::from_millis(time.0.as_millisecond())
}

/// A moment as the API keeps it: in whole seconds. Moments no calendar has are the first of all.
pub(crate) fn api_time(time: Time) -> api::Time {
    api::Time(jiff::Timestamp::from_second(time.seconds()).unwrap_or_default())
}

/// The identity of the first owner of that kind.
pub(crate) fn owner_uid(metadata: &api::ObjectMeta, kind: &str) -> Option<Arc<str>> {
    let owners = metadata.owner_references.iter().flatten();
    let owner = owners.into_iter().find(|owner| owner.kind == kind)?;
    Some(Arc::from(owner.uid.as_str()))
}

/// The annotations in the API's own domains and in that of zonal shifts; others change often and
/// decide nothing.
pub(crate) fn own_annotations(metadata: &api::ObjectMeta) -> BTreeMap<String, String> {
    let own = |key: &str| {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let is_api = |rest: &str| rest.is_empty() || rest.ends_with('.');
        domain.strip_suffix(API_DOMAIN).is_some_and(is_api) || domain == ANNOTATION_DOMAIN
    };
    let all = metadata.annotations.iter().flatten();
    all.filter(|(key, _)| own(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Status conditions, in their order.
pub(crate) fn conditions(list: Option<&Vec<ApiCondition>>) -> Conditions {
    let read = |condition: &ApiCondition| Condition {
        kind: condition.type_.clone(),
        status: match condition.status.as_str() {
            "True" => Status::True,
            "False" => Status::False,
            _ => Status::Unknown,
        },
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        changed_at: time(&condition.last_transition_time),
        observed_generation: condition.observed_generation.unwrap_or_default(),
    };
    Conditions(list.into_iter().flatten().map(read).collect())
}

/// Status conditions as they are stored.
pub(crate) fn api_conditions(conditions: &Conditions) -> Vec<ApiCondition> {
    let write = |condition: &Condition| ApiCondition {
        type_: condition.kind.clone(),
        status: match condition.status {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        }
        .to_owned(),
        observed_generation: Some(condition.observed_generation),
        last_transition_time: api_time(condition.changed_at),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    };
    conditions.0.iter().map(write).collect()
}

/// Quantities Kerf itself has stored; one it cannot read counts as not there.
pub(crate) fn resources(list: Option<&kerf_api::ResourceList>) -> ResourceList {
    let mut read = ResourceList::new();
    for (name, quantity) in list.into_iter().flatten() {
        if let Ok(quantity) = Quantity::parse(&quantity.text()) {
            read.insert(name.as_str(), quantity);
        }
    }
    read
}

/// Quantities as they are stored; none at all is no field.
pub(crate) fn api_resources(list: &ResourceList) -> Option<kerf_api::ResourceList> {
    let write = |(name, quantity): (&str, Quantity)| {
        (name.to_owned(), kerf_api::Quantity::Text(quantity.to_string()))
    };
    let list: kerf_api::ResourceList = list.iter().map(write).collect();
    (!list.is_empty()).then_some(list)
}
