//! The fields of a message body that matter, as they are written.

use serde::Deserialize;

use super::field::{Field, List, Object, Text, TextField};

/// The union of an EventBridge event, a direct Auto Scaling notification and an SNS wrapping.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Body<'a> {
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
    pub(super) resources: Field<List<Text<'a>>>,
    #[serde(borrow, default)]
    pub(super) detail: Field<Object<Detail<'a>>>,

    #[serde(borrow, default, rename = "EC2InstanceId")]
    pub(super) asg_instance: TextField<'a>,
    #[serde(borrow, default, rename = "LifecycleTransition")]
    pub(super) asg_transition: TextField<'a>,
    #[serde(borrow, default, rename = "LifecycleActionToken")]
    pub(super) asg_token: TextField<'a>,
    #[serde(borrow, default, rename = "RequestId")]
    pub(super) asg_request: TextField<'a>,
    #[serde(borrow, default, rename = "AccountId")]
    pub(super) asg_account: TextField<'a>,
    #[serde(borrow, default, rename = "Event")]
    pub(super) asg_event: TextField<'a>,

    #[serde(borrow, default, rename = "Message")]
    pub(super) sns_message: TextField<'a>,
}

/// The union of the `detail` objects.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Detail<'a> {
    #[serde(borrow, default, rename = "instance-id")]
    pub(super) instance_id: TextField<'a>,
    #[serde(borrow, default)]
    pub(super) state: TextField<'a>,
    #[serde(borrow, default, rename = "EC2InstanceId")]
    pub(super) asg_instance: TextField<'a>,
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
    pub(super) entities: Field<List<Object<Entity<'a>>>>,
}

/// One of the things a Health event is about.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Entity<'a> {
    #[serde(borrow, default, rename = "entityValue")]
    pub(super) value: TextField<'a>,
}
