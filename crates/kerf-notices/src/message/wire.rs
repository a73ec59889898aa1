//! The fields of a message body that matter, as they are written.
//!
//! Each shape is a type of its own, so that the many events of one instance are read without
//! looking for what only the few others have. A body of another shape is read a second time.

use serde::Deserialize;

use super::field::{Field, Object, TextField};
use super::raw_list::RawList;

/// An EventBridge event about one instance, or about none.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Bridged<'a> {
    #[serde(borrow, default)]
    pub(super) source: TextField<'a>,
    #[serde(borrow, default, rename = "detail-type")]
    pub(super) detail_type: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) id: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) account: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) region: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) time: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) resources: RawList<'a>,
    #[serde(borrow, default)]
    pub(super) detail: Field<Object<Detail<'a>>>,
}

/// The union of the `detail` objects about one instance.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Detail<'a> {
    #[serde(borrow, default, rename = "instance-id")]
    pub(super) instance_id: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) state: TextField<'a>,
    #[serde(borrow, default, rename = "EC2InstanceId")]
    pub(super) asg_instance: TextField<'a>,
}

/// What else a Health event says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Health<'a> {
    #[serde(borrow, default)]
    pub(super) detail: Field<Object<HealthDetail<'a>>>,
}

/// The `detail` of a Health event.
#[derive(Debug, Default, Deserialize)]
pub(super) struct HealthDetail<'a> {
    #[serde(borrow, default)]
    pub(super) service: TextField<'a>,
    #[serde(borrow, default, rename = "eventTypeCategory")]
    pub(super) category: TextField<'a>,
    #[serde(borrow, default, rename = "eventScopeCode")]
    pub(super) scope: TextField<'a>,
    #[serde(borrow, default, rename = "eventRegion")]
    pub(super) event_region: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) page: TextField<'a>,
    #[serde(borrow, default, rename = "affectedEntities")]
    pub(super) entities: RawList<'a>,
}

/// One of the things a Health event is about.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Entity<'a> {
    #[serde(borrow, default, rename = "entityValue")]
    pub(super) value: TextField<'a>,
}

/// What else an announcement of a zonal shift says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Shift<'a> {
    #[serde(borrow, default)]
    pub(super) time: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) detail: Field<Object<ShiftDetail<'a>>>,
}

/// The `detail` of such an announcement: AWS documents the zone in `metadata`, and has put it
/// elsewhere as well.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ShiftDetail<'a> {
    #[serde(borrow, default)]
    pub(super) metadata: Field<Object<AwayFrom<'a>>>,
    #[serde(borrow, default, rename = "awayFrom")]
    pub(super) away_from: TextField<'a>,
    #[serde(borrow, default, rename = "serviceEventDetails")]
    pub(super) service: Field<Object<ServiceDetail<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ServiceDetail<'a> {
    #[serde(borrow, default)]
    pub(super) autoshift: Field<Object<AwayFrom<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct AwayFrom<'a> {
    #[serde(borrow, default, rename = "awayFrom")]
    pub(super) zone: TextField<'a>,
}

/// A direct notification of Auto Scaling, or an SNS wrapping.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Direct<'a> {
    #[serde(borrow, default, rename = "EC2InstanceId")]
    pub(super) instance: TextField<'a>,
    #[serde(borrow, default, rename = "LifecycleTransition")]
    pub(super) transition: TextField<'a>,
    #[serde(borrow, default, rename = "LifecycleActionToken")]
    pub(super) token: TextField<'a>,
    #[serde(borrow, default, rename = "RequestId")]
    pub(super) request: TextField<'a>,
    #[serde(borrow, default, rename = "AccountId")]
    pub(super) account: TextField<'a>,
    #[serde(borrow, default, rename = "Event")]
    pub(super) event: TextField<'a>,
    #[serde(borrow, default, rename = "Message")]
    pub(super) message: TextField<'a>,
}
