//! Where events come from, by the options: a queue, or the metadata of the instance.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use kerf_termination_handler::settings::{
    Heartbeats, MetadataSettings, Monitor, Poison, QueueSettings,
};

use super::options::Given;
use super::region;
use super::validated::renamed;

/// The longest that an Auto Scaling group waits at a hook, 48 hours.
const HEARTBEAT_UNTIL_MAX: i64 = 172_800;
/// Where the uptime is, unless another file is named.
const UPTIME: &str = "/proc/uptime";

/// Where events come from.
pub(super) enum Source {
    /// A queue, in a region.
    Queue(Box<QueueSettings>, String),
    /// The metadata service.
    Metadata(Box<MetadataSettings>),
}

/// Where events come from.
pub(super) fn source(given: &Given, warnings: &mut Vec<String>) -> Result<Source> {
    let heartbeats = heartbeats(given)?;
    if given.switch("enable-sqs-termination-draining")? {
        let queue = queue(given, heartbeats, warnings)?;
        return Ok(Source::Queue(Box::new(queue), region(given)?));
    }
    Ok(Source::Metadata(Box::new(metadata(given)?)))
}

fn metadata(given: &Given) -> Result<MetadataSettings> {
    let mut monitors = Vec::new();
    for (monitor, flags) in [
        (Monitor::Spot, ["enable-spot-interruption-draining"].as_slice()),
        (Monitor::Scheduled, &["enable-scheduled-event-draining"]),
        (Monitor::Rebalance, &["enable-rebalance-monitoring", "enable-rebalance-draining"]),
        (Monitor::AutoScaling, &["enable-asg-lifecycle-draining"]),
    ] {
        let mut is_wanted = false;
        for flag in flags {
            is_wanted |= given.switch(flag)?;
        }
        monitors.extend(is_wanted.then_some(monitor));
    }
    Ok(MetadataSettings {
        node_name: given.text("node-name").to_owned(),
        url: given.text("metadata-url").to_owned(),
        tries: given.count::<u32>("metadata-tries")?.max(1),
        monitors,
        drain_before: seconds(given.integer("node-termination-grace-period")?),
        uptime_file: given.some("uptime-from-file").unwrap_or_else(|| UPTIME.to_owned()).into(),
    })
}

fn queue(
    given: &Given,
    heartbeats: Option<Heartbeats>,
    warnings: &mut Vec<String>,
) -> Result<QueueSettings> {
    let Some(queue_url) = given.some("queue-url") else {
        bail!("there is no queue to read: set QUEUE_URL, or pass --queue-url");
    };
    let hidden = given.integer("sqs-msg-visibility-timeout-sec")?;
    ensure!(
        (1..=119).contains(&hidden),
        "sqs-msg-visibility-timeout-sec is {hidden}; allowed are 1 to 119"
    );
    let (new, old) = ("check-tag-before-draining", "check-asg-tag-before-draining");
    let check = renamed(given, new, old, warnings);
    let tag = renamed(given, "managed-tag", "managed-asg-tag", warnings);
    let delay = given.integer("complete-lifecycle-action-delay-seconds")?.max(0);
    Ok(QueueSettings {
        queue_url,
        hidden_for: seconds(hidden),
        managed_tag: given.switch(check)?.then(|| given.text(tag).to_owned()),
        cluster_name: given.some("cluster-name"),
        finishes_without_node: given.switch("delete-sqs-msg-if-node-not-found")?,
        hook_delay: seconds(delay),
        heartbeats,
        poison: match given.text("poison-messages") {
            "delete" => Poison::Delete,
            "keep" => Poison::Keep,
            other => bail!("poison-messages is {other:?}; allowed are delete and keep"),
        },
    })
}

fn heartbeats(given: &Given) -> Result<Option<Heartbeats>> {
    let (every, until) = (given.integer("heartbeat-interval")?, given.integer("heartbeat-until")?);
    let (has_every, has_until) = (every != -1, until != -1);
    if !has_every && !has_until {
        return Ok(None);
    }
    ensure!(
        given.switch("enable-sqs-termination-draining")?,
        "heartbeats are for lifecycle hooks, which only queue mode has: unset heartbeat-interval \
         and heartbeat-until"
    );
    ensure!(has_every, "heartbeat-until needs heartbeat-interval");
    ensure!((30..=3_600).contains(&every), "heartbeat-interval is {every}; allowed are 30 to 3600");
    let until = if has_until { until } else { HEARTBEAT_UNTIL_MAX };
    ensure!(
        (60..=HEARTBEAT_UNTIL_MAX).contains(&until),
        "heartbeat-until is {until}; allowed are 60 to {HEARTBEAT_UNTIL_MAX}"
    );
    ensure!(every <= until, "heartbeat-interval is longer than heartbeat-until");
    Ok(Some(Heartbeats { every: seconds(every), until: seconds(until) }))
}

fn region(given: &Given) -> Result<String> {
    let of_queue = || region::of_queue(given.text("queue-url"));
    let Some(region) = given.some("aws-region").or_else(of_queue) else {
        bail!(
            "no region is known: set AWS_REGION, or pass --aws-region; the queue's URL names none"
        );
    };
    Ok(region)
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or_default())
}
