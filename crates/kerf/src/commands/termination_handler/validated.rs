//! The options, checked and made into what the handler needs. Nothing starts with a value that means
//! nothing.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use kerf_engine::memory::Closing;
use kerf_engine::observed::NamespacedName;
use kerf_engine::time::Span;
use kerf_engine::{BlockingPods, DrainSettings, Marks};
use kerf_model::taint::{Taint, TaintEffect};
use kerf_runtime::log::ByLevel;
use kerf_termination_handler::settings::{
    Action, Actions, Heartbeats, LogVersion, Poison, QueueSettings,
};
use tracing::Level;

use super::options::{Given, Renamed};
use super::region;

/// The longest that an Auto Scaling group waits at a hook, 48 hours.
const HEARTBEAT_UNTIL_MAX: i64 = 172_800;
/// The label that load balancers go by, and the value that says whose it is.
const EXCLUDE_LABEL: (&str, &str) =
    ("node.kubernetes.io/exclude-from-external-load-balancers", "aws-node-termination-handler");

/// The taint that says that a node will not come back as it is.
const OUT_OF_SERVICE: (&str, &str) = ("node.kubernetes.io/out-of-service", "nodeshutdown");

/// What follows from the options.
pub(super) struct Validated {
    pub(super) queue: QueueSettings,
    pub(super) drain: DrainSettings,
    pub(super) region: String,
    pub(super) pace: (NonZeroU32, NonZeroU32),
    pub(super) metrics_port: Option<u16>,
    pub(super) probe: Option<(u16, String)>,
    pub(super) log: ByLevel,
    /// What to say about old names and values that are not understood.
    pub(super) warnings: Vec<String>,
    pub(super) leader_elect: bool,
    /// Annotations of Kubernetes Events, where these are recorded.
    pub(super) events: Option<BTreeMap<String, String>>,
}

impl Validated {
    /// Checks the options.
    pub(super) fn of(given: &Given) -> Result<Self> {
        ensure!(
            given.some("node-name").is_some(),
            "the node's name is missing: set NODE_NAME, or pass --node-name"
        );
        let mut warnings = Vec::new();
        let heartbeats = heartbeats(given)?;
        if !given.switch("enable-sqs-termination-draining")? {
            bail!(
                "the mode that reads the instance's metadata is not there yet: set \
                 ENABLE_SQS_TERMINATION_DRAINING=true and QUEUE_URL"
            );
        }
        if given.switch("assume-asg-tag-propagation")? {
            let text = "assume-asg-tag-propagation is no longer used: tags are read from instances";
            warnings.push(text.to_owned());
        }
        Ok(Self {
            drain: drain(given, &mut warnings)?,
            region: region(given)?,
            pace: (rate(given, "kube-api-qps")?, rate(given, "kube-api-burst")?),
            metrics_port: match given.switch("enable-prometheus-server")? {
                true => Some(given.count("prometheus-server-port")?),
                false => None,
            },
            probe: match given.switch("enable-probes-server")? {
                true => Some((given.count("probes-server-port")?, probe_path(given))),
                false => None,
            },
            log: log(given)?,
            leader_elect: given.switch("leader-elect")? && given.some("pod-namespace").is_some(),
            events: given.switch("emit-kubernetes-events")?.then_some(annotations(given)?),
            queue: queue(given, heartbeats, &mut warnings)?,
            warnings,
        })
    }
}

/// A number of calls, which cannot be nought.
fn rate(given: &Given, flag: &'static str) -> Result<NonZeroU32> {
    let number = NonZeroU32::new(given.count(flag)?);
    number.with_context(|| format!("{flag} must be above zero"))
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
    let actions = match given.switch("cordon-only")? {
        true => Actions::all(Action::Cordon),
        false => Actions::parse(given.text("queue-actions")).map_err(anyhow::Error::msg)?,
    };
    let delay = given.integer("complete-lifecycle-action-delay-seconds")?.max(0);
    Ok(QueueSettings {
        queue_url,
        hidden_for: seconds(hidden),
        managed_tag: given.switch(check)?.then(|| given.text(tag).to_owned()),
        cluster_name: given.some("cluster-name"),
        actions,
        finishes_without_node: given.switch("delete-sqs-msg-if-node-not-found")?,
        hook_delay: seconds(delay),
        heartbeats,
        poison: match given.text("poison-messages") {
            "delete" => Poison::Delete,
            "keep" => Poison::Keep,
            other => bail!("poison-messages is {other:?}; allowed are delete and keep"),
        },
        taint_effect: taint_effect(given, warnings)?,
        dry_run: given.switch("dry-run")?,
        log_version: log_version(given, warnings)?,
    })
}

/// Which of two names for the same counts.
fn renamed(
    given: &Given,
    new: &'static str,
    old: &'static str,
    warnings: &mut Vec<String>,
) -> &'static str {
    let (name, how) = given.renamed(new, old);
    match how {
        Renamed::No => {}
        Renamed::OldAlone => warnings.push(format!("{old} is deprecated, use {new}")),
        Renamed::Both => warnings.push(format!("{old} is deprecated and ignored beside {new}")),
    }
    name
}

fn drain(given: &Given, warnings: &mut Vec<String>) -> Result<DrainSettings> {
    let time_out = given.integer("node-termination-grace-period")?;
    let grace = renamed(given, "pod-termination-grace-period", "grace-period", warnings);
    let own_pod = given.some("pod-name").zip(given.some("pod-namespace"));
    let own_pod = own_pod
        .map(|(name, namespace)| NamespacedName { namespace: namespace.into(), name: name.into() });
    let (key, value) = EXCLUDE_LABEL;
    Ok(DrainSettings {
        closing: Closing::Cordon,
        forces_pods: match given.text("drain-deadline-action") {
            "none" => false,
            "delete" => true,
            other => bail!("drain-deadline-action is {other:?}; allowed are none and delete"),
        },
        time_out: Some(match u64::try_from(time_out) {
            Ok(seconds @ 1..) => Span::from_seconds(seconds),
            // No limit, as far as anybody can tell.
            _ => Span::from_minutes(60 * 24 * 365),
        }),
        own_pod,
        evicts_protected: true,
        by_provider_id_only: given.switch("use-provider-id")?,
        label: given
            .switch("exclude-from-load-balancers")?
            .then(|| (key.to_owned(), value.to_owned())),
        pod_grace_seconds: u32::try_from(given.integer(grace)?).ok(),
        taint_after: given
            .switch("enable-out-of-service-taint")?
            .then(|| Taint::new(OUT_OF_SERVICE.0, OUT_OF_SERVICE.1, TaintEffect::NoExecute)),
        own_node: None,
        marks: Marks::default(),
        blocking: BlockingPods {
            with_local_data: !given.switch("delete-local-data")?,
            of_daemon_sets: !given.switch("ignore-daemon-sets")?,
        },
        evict_after: Span::default(),
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

fn taint_effect(given: &Given, warnings: &mut Vec<String>) -> Result<Option<TaintEffect>> {
    if !given.switch("taint-node")? {
        return Ok(None);
    }
    Ok(Some(match given.text("taint-effect") {
        "NoSchedule" => TaintEffect::NoSchedule,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        other => {
            warnings.push(format!("taint-effect {other:?} is not known; NoSchedule is used"));
            TaintEffect::NoSchedule
        }
    }))
}

fn log_version(given: &Given, warnings: &mut Vec<String>) -> Result<LogVersion> {
    let version = given.integer("log-format-version")?;
    if !(1..=2).contains(&version) {
        let used = version.clamp(1, 2);
        warnings.push(format!("log-format-version {version} is not known; {used} is used"));
    }
    Ok(if version <= 1 { LogVersion::One } else { LogVersion::Two })
}

fn log(given: &Given) -> Result<ByLevel> {
    let level = match given.text("log-level").to_ascii_lowercase().as_str() {
        "info" => Level::INFO,
        "debug" => Level::DEBUG,
        "error" => Level::ERROR,
        other => bail!("log-level is {other:?}; allowed are info, debug and error"),
    };
    let quiet: &[&str] = &["kerf_kube", "kerf_runtime"];
    Ok(ByLevel { level, is_json: given.switch("json-logging")?, quiet })
}

/// Annotations as `key=value,key=value`.
fn annotations(given: &Given) -> Result<BTreeMap<String, String>> {
    let text = given.text("kubernetes-events-extra-annotations");
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| match part.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => bail!("kubernetes-events-extra-annotations: {part:?} is not key=value"),
    };
    parts.map(pair).collect()
}

fn probe_path(given: &Given) -> String {
    let path = given.text("probes-server-endpoint");
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or_default())
}
