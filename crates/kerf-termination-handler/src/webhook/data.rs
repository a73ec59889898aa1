//! What templates can tell: the event, and the instance it is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::template::Value;
use crate::metadata::NodeMetadata;
use crate::record::EventRecord;

/// The data of an event.
pub(super) fn of(record: &EventRecord, metadata: &NodeMetadata) -> Value {
    let either =
        |first: &str, second: &str| Value::from(if first.is_empty() { second } else { first });
    let labels = record.node_labels.iter().flatten();
    let labels = labels.map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
    let pods = record.pods.iter().flatten().map(|pod| Value::from(pod.as_str())).collect();
    let fields: BTreeMap<String, Value> = [
        ("AccountId", Value::from(metadata.account_id.as_str())),
        ("AvailabilityZone", Value::from(metadata.availability_zone.as_str())),
        ("InstanceID", either(&record.instance_id, &metadata.instance_id)),
        ("InstanceLifeCycle", Value::from(metadata.instance_life_cycle.as_str())),
        ("InstanceType", either(&record.instance_type, &metadata.instance_type)),
        ("LocalHostname", Value::from(metadata.local_hostname.as_str())),
        ("LocalIP", Value::from(metadata.private_ip.as_str())),
        ("PublicHostname", Value::from(metadata.public_hostname.as_str())),
        ("PublicIP", Value::from(metadata.public_ip.as_str())),
        ("Region", Value::from(metadata.region.as_str())),
        ("EventID", Value::from(record.event_id.as_str())),
        ("Kind", Value::from(record.kind)),
        ("Monitor", Value::from(record.monitor)),
        ("Description", Value::from(record.description.as_str())),
        ("State", Value::from(record.state.as_str())),
        ("AutoScalingGroupName", Value::from(record.auto_scaling_group_name.as_str())),
        ("NodeName", Value::from(record.node_name.as_str())),
        ("NodeLabels", Value::Map(Arc::new(labels))),
        ("Pods", Value::List(pods)),
        ("ProviderID", Value::from(record.provider_id.as_str())),
        ("IsManaged", Value::Bool(record.is_managed)),
        ("StartTime", Value::Time(record.start_time.parse().ok())),
        ("EndTime", Value::Time(None)),
        ("NodeProcessed", Value::Bool(record.node_processed)),
        ("InProgress", Value::Bool(record.in_progress)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    Value::Record(Arc::new(fields))
}

/// The data of no event, with which a template is tried.
pub(super) fn empty() -> Value {
    of(&EventRecord::default(), &NodeMetadata::default())
}
