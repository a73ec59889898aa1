//! An event as logs and webhooks show it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kerf_aws::Described;
use serde::Serialize;

use crate::instance;
use crate::kind::EventKind;
use crate::message::Announced;
use crate::metadata::NodeMetadata;
use crate::settings::{LogVersion, Monitor};

/// The monitor of queue mode.
pub const SQS_MONITOR: &str = "SQS_MONITOR";
/// What older versions called both monitor and kind in queue mode.
pub const SQS_TERMINATE: &str = "SQS_TERMINATE";

/// The time that means none.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// An event, by the names its fields have always had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "each is named as people know it from the log")]
pub struct EventRecord {
    #[serde(rename = "EventID")]
    pub event_id: String,
    pub kind: &'static str,
    pub monitor: &'static str,
    pub description: String,
    pub state: String,
    pub auto_scaling_group_name: String,
    pub node_name: String,
    pub node_labels: Option<BTreeMap<String, String>>,
    pub pods: Option<Vec<String>>,
    #[serde(rename = "InstanceID")]
    pub instance_id: String,
    #[serde(rename = "ProviderID")]
    pub provider_id: String,
    pub instance_type: String,
    pub is_managed: bool,
    pub start_time: String,
    pub end_time: &'static str,
    pub node_processed: bool,
    pub in_progress: bool,
}

impl EventRecord {
    /// The record of an event of the queue.
    #[must_use]
    pub fn of(announced: &Announced, described: &Described, now: Timestamp) -> Self {
        // Maintenance is announced ahead, and the node is drained now.
        let start = match announced.kind {
            EventKind::ScheduledEvent => now,
            _ => announced.time,
        };
        let group = match &announced.hook {
            Some(hook) => &hook.group,
            None => instance::group(described),
        };
        Self {
            event_id: announced.event_id.clone(),
            kind: announced.kind.name(),
            monitor: SQS_MONITOR,
            description: description(announced, start, LogVersion::Two),
            state: announced.state.clone(),
            auto_scaling_group_name: group.to_owned(),
            node_name: described.private_dns_name.clone(),
            node_labels: None,
            pods: None,
            instance_id: announced.instance.clone(),
            provider_id: instance::provider_id(described),
            instance_type: described.instance_type.clone(),
            is_managed: true,
            start_time: start.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            end_time: NO_TIME,
            node_processed: false,
            in_progress: false,
        }
    }

    /// The record of an event that the metadata service told of.
    #[must_use]
    pub fn of_metadata(
        announced: &Announced,
        (monitor, description): (Monitor, String),
        node_name: &str,
        metadata: &NodeMetadata,
    ) -> Self {
        Self {
            event_id: announced.event_id.clone(),
            kind: announced.kind.name(),
            monitor: monitor.name(),
            description,
            state: announced.state.clone(),
            auto_scaling_group_name: String::new(),
            node_name: node_name.to_owned(),
            node_labels: None,
            pods: None,
            instance_id: metadata.instance_id.clone(),
            provider_id: metadata.provider_id(),
            instance_type: metadata.instance_type.clone(),
            is_managed: true,
            start_time: announced.time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            end_time: NO_TIME,
            node_processed: false,
            in_progress: false,
        }
    }

    /// As the log shows it: older guides know one kind and other texts in queue mode.
    #[must_use]
    pub fn logged(&self, announced: &Announced, version: LogVersion) -> Self {
        if version == LogVersion::Two || self.monitor != SQS_MONITOR {
            return self.clone();
        }
        let start = self.start_time.parse().unwrap_or(announced.time);
        let description = description(announced, start, version);
        Self { kind: SQS_TERMINATE, description, ..self.clone() }
    }
}

/// One line about an event, without a line break: it is quoted in JSON.
fn description(announced: &Announced, start: Timestamp, version: LogVersion) -> String {
    let (instance, time) = (&announced.instance, go_time(start));
    match announced.kind {
        EventKind::SpotItn if version == LogVersion::One => format!(
            "Spot Interruption event received. Instance {instance} will be interrupted at {time}"
        ),
        EventKind::SpotItn => {
            format!("Spot Interruption notice for instance {instance} was sent at {time}")
        }
        EventKind::ScheduledEvent => format!(
            "AWS Health scheduled change event received. Instance {instance} will be interrupted \
             at {time}"
        ),
        EventKind::RebalanceRecommendation => format!(
            "Rebalance recommendation event received. Instance {instance} will be cordoned at \
             {time}"
        ),
        EventKind::StateChange => {
            let state = &announced.state;
            format!(
                "EC2 State Change event received. Instance {instance} went into {state} at {time}"
            )
        }
        EventKind::AsgLifecycle => format!(
            "ASG Lifecycle Termination event received. Instance will be interrupted at {time}"
        ),
        EventKind::AsgLaunchLifecycle => {
            format!("ASG Lifecycle Launch event received. Instance was started at {time}")
        }
    }
}

/// A time as Go prints it.
pub(crate) fn go_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string()
}
