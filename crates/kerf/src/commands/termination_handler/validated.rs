//! The options, checked and made into what the handler needs. Nothing starts with a value that means
//! nothing.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use anyhow::{Context, Result, bail, ensure};
use kerf_engine::DrainSettings;
use kerf_model::taint::TaintEffect;
use kerf_runtime::log::ByLevel;
use kerf_termination_handler::kind::EventKind;
use kerf_termination_handler::settings::{Action, Actions, EventSettings, LogVersion};
use kerf_termination_handler::webhook::Webhook;
use tracing::Level;

use super::drain::drain;
use super::options::{Given, Renamed};
use super::source::{Source, source};
use super::webhook::webhook;

/// What follows from the options.
pub(super) struct Validated {
    pub(super) events: EventSettings,
    pub(super) source: Source,
    pub(super) drain: DrainSettings,
    pub(super) pace: (NonZeroU32, NonZeroU32),
    pub(super) metrics_port: Option<u16>,
    pub(super) probe: Option<(u16, String)>,
    pub(super) log: ByLevel,
    /// What to say about old names and values that are not understood.
    pub(super) warnings: Vec<String>,
    pub(super) webhook: Option<Webhook>,
    pub(super) leader_elect: bool,
    /// Annotations of Kubernetes Events, where these are recorded.
    pub(super) annotations: Option<BTreeMap<String, String>>,
}

impl Validated {
    /// Checks the options.
    pub(super) fn of(given: &Given) -> Result<Self> {
        ensure!(
            given.some("node-name").is_some(),
            "the node's name is missing: set NODE_NAME, or pass --node-name"
        );
        let mut warnings = Vec::new();
        let source = source(given, &mut warnings)?;
        if given.switch("assume-asg-tag-propagation")? {
            let text = "assume-asg-tag-propagation is no longer used: tags are read from instances";
            warnings.push(text.to_owned());
        }
        Ok(Self {
            drain: drain(given, &mut warnings)?,
            pace: (rate(given, "kube-api-qps")?, rate(given, "kube-api-burst")?),
            metrics_port: match given.switch("enable-prometheus-server")? {
                true => Some(given.count("prometheus-server-port")?),
                false => None,
            },
            probe: match given.switch("enable-probes-server")? {
                true => Some((given.count("probes-server-port")?, probe_path(given))),
                false => None,
            },
            webhook: webhook(given)?,
            log: log(given)?,
            leader_elect: given.switch("leader-elect")? && given.some("pod-namespace").is_some(),
            annotations: given.switch("emit-kubernetes-events")?.then_some(annotations(given)?),
            events: events(given, &mut warnings)?,
            source,
            warnings,
        })
    }
}

/// How events are acted on.
fn events(given: &Given, warnings: &mut Vec<String>) -> Result<EventSettings> {
    Ok(EventSettings {
        actions: actions(given)?,
        taint_effect: taint_effect(given, warnings)?,
        delegates: given.switch("delegate-to-provisioner")?,
        dry_run: given.switch("dry-run")?,
        log_version: log_version(given, warnings)?,
        node_metrics: given.switch("legacy-node-metrics")?,
    })
}

/// What is done by kind. The instance's own metadata recommends a rebalance to a node that may have
/// nowhere to send its pods yet, so that is a cordon unless more is asked for.
fn actions(given: &Given) -> Result<Actions> {
    if given.switch("cordon-only")? {
        return Ok(Actions::all(Action::Cordon));
    }
    let actions = Actions::parse(given.text("queue-actions")).map_err(anyhow::Error::msg)?;
    let drains = given.switch("enable-sqs-termination-draining")?
        || given.switch("enable-rebalance-draining")?;
    Ok(match drains {
        true => actions,
        false => actions.with(EventKind::RebalanceRecommendation, Action::Cordon),
    })
}

/// A number of calls, which cannot be nought.
fn rate(given: &Given, flag: &'static str) -> Result<NonZeroU32> {
    let number = NonZeroU32::new(given.count(flag)?);
    number.with_context(|| format!("{flag} must be above zero"))
}

/// Which of two names for the same counts.
pub(super) fn renamed(
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
