//! Workloads: what makes pods, and what they are like.

use std::sync::Arc;

use kerf_engine::observed::DoNotDisrupt;
use kerf_engine::time::Span;
use kerf_model::host_port::{HostPort, Protocol};
use kerf_model::labels::well_known::HOSTNAME;
use kerf_model::pod::{PodAffinity, PodAffinityTerm, PodShape, SpreadConstraint};
use kerf_model::quantity::Quantity;
use kerf_model::requirements::{NodeAffinity, PodPlacement};
use kerf_model::resources::{PODS, ResourceList};
use kerf_model::selector::{LabelSelector, TermNamespaces};
use kerf_model::taint::Toleration;

use super::document as doc;
use super::error::ScenarioError;
use super::text;

/// What makes pods, and what they are like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The name, unique in the scenario.
    pub name: Arc<str>,
    /// What keeps the pods.
    pub kind: WorkloadKind,
    /// How many pods there shall be; at once, for a job.
    pub replicas: u32,
    /// Where its pods may stand.
    pub shape: Arc<PodShape>,
    /// From being bound to being ready.
    pub starts_in: Span,
    /// From the call to end until the end, if its grace period allows.
    pub stops_in: Span,
    /// How long it may take to end.
    pub grace: Span,
    /// What its do-not-disrupt annotation says.
    pub do_not_disrupt: DoNotDisrupt,
    /// Whether the system cannot do without its pods.
    pub is_critical: bool,
    /// Their priority.
    pub priority: i32,
    /// Its PodDisruptionBudget.
    pub pdb: Option<PdbRule>,
    /// Whether each pod has a volume that stays in the zone it was first attached in.
    pub has_volume: bool,
}

/// What keeps pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// So many, whichever.
    Deployment,
    /// Numbered pods, one after the other.
    StatefulSet,
    /// One on every node it may run on.
    DaemonSet,
    /// Pods that end by themselves.
    Job {
        /// How many must have ended.
        completions: u32,
        /// How long each runs.
        runs_for: Span,
    },
}

/// A PodDisruptionBudget's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PdbRule {
    /// So many must stay available.
    MinAvailable(Share),
    /// So many may be unavailable.
    MaxUnavailable(Share),
}

/// A number of pods, absolute or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many.
    Count(u32),
    /// So many percent, rounded up.
    Percent(u32),
}

/// Most workloads live here.
const NAMESPACE_DEFAULT: &str = "default";
/// The label that distinguishes a workload's pods.
pub(crate) const APP_LABEL: &str = "app";

impl Share {
    /// Of so many.
    #[must_use]
    pub fn of(self, total: u32) -> u32 {
        match self {
            Self::Count(count) => count,
            Self::Percent(percent) => {
                let share = (u64::from(total) * u64::from(percent)).div_ceil(100);
                u32::try_from(share).unwrap_or(u32::MAX)
            }
        }
    }
}

pub(super) fn read(doc: &doc::Workload, field: &str) -> Result<Workload, ScenarioError> {
    let (kind, name) = kind(doc, field)?;
    let at = |name: &str| format!("{field}.{name}");
    let duration = |text: &Option<String>, name: &str, default: u64| match text {
        None => Ok(Span::from_seconds(default)),
        Some(text) => text::span(text).map_err(|error| ScenarioError::field(at(name), error)),
    };
    let pdb = match (&doc.min_available, &doc.max_unavailable) {
        (None, None) => None,
        (Some(text), None) => Some((PdbRule::MinAvailable as fn(Share) -> _, text)),
        (None, Some(text)) => Some((PdbRule::MaxUnavailable as fn(Share) -> _, text)),
        (Some(_), Some(_)) => {
            let problem = "a workload has minAvailable or maxUnavailable, not both";
            return Err(ScenarioError::field(field, problem));
        }
    };
    let pdb = pdb
        .map(|(rule, text)| text::share(text).map(rule))
        .transpose()
        .map_err(|error| ScenarioError::field(at("minAvailable"), error))?;
    Ok(Workload {
        kind,
        replicas: doc.replicas,
        shape: Arc::new(shape(doc, &name, field)?),
        starts_in: duration(&doc.starts, "starts", 2)?,
        stops_in: duration(&doc.stops, "stops", 1)?,
        grace: duration(&doc.grace, "grace", 30)?,
        do_not_disrupt: match doc.do_not_disrupt.as_deref() {
            None => DoNotDisrupt::Absent,
            Some("true") => DoNotDisrupt::Always,
            Some(text) => text::span(text)
                .map(DoNotDisrupt::For)
                .map_err(|error| ScenarioError::field(at("doNotDisrupt"), error))?,
        },
        is_critical: doc.critical,
        priority: doc.priority,
        pdb,
        has_volume: doc.volume,
        name: Arc::from(name),
    })
}

fn kind(doc: &doc::Workload, field: &str) -> Result<(WorkloadKind, String), ScenarioError> {
    let runs_for = || match &doc.runs {
        None => Ok(Span::from_minutes(5)),
        Some(text) => {
            text::span(text).map_err(|error| ScenarioError::field(format!("{field}.runs"), error))
        }
    };
    match (&doc.deployment, &doc.stateful_set, &doc.daemon_set, &doc.job) {
        (Some(name), None, None, None) => Ok((WorkloadKind::Deployment, name.clone())),
        (None, Some(name), None, None) => Ok((WorkloadKind::StatefulSet, name.clone())),
        (None, None, Some(name), None) => Ok((WorkloadKind::DaemonSet, name.clone())),
        (None, None, None, Some(name)) => {
            let completions = doc.completions.max(doc.replicas);
            Ok((WorkloadKind::Job { completions, runs_for: runs_for()? }, name.clone()))
        }
        _ => {
            let problem = "name it by exactly one of deployment, statefulSet, daemonSet, job";
            Err(ScenarioError::field(field, problem))
        }
    }
}

fn shape(doc: &doc::Workload, name: &str, field: &str) -> Result<PodShape, ScenarioError> {
    let mut labels = doc.labels.clone();
    labels.insert(APP_LABEL.to_owned(), name.to_owned());
    let mut requests = resources(&doc.requests, &format!("{field}.requests"))?;
    requests.insert(PODS, Quantity::from_int(1));
    let read = |texts: &[String], name: &str| {
        let numbered = texts.iter().enumerate();
        numbered
            .map(|(index, text)| {
                text::requirement(text).map_err(|error| {
                    ScenarioError::field(format!("{field}.{name}[{index}]"), error)
                })
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let required = read(&doc.nodes, "nodes")?;
    let required = if required.is_empty() { Vec::new() } else { vec![required] };
    let tolerations: Result<Vec<Toleration>, _> =
        doc.tolerations.iter().map(|text| text::toleration(text)).collect();
    let node_selector = doc.node_selector.iter();
    Ok(PodShape {
        namespace: doc.namespace.clone().unwrap_or_else(|| NAMESPACE_DEFAULT.to_owned()),
        requests,
        placement: PodPlacement {
            node_selector: node_selector.map(|(k, v)| (text::key(k), v.clone())).collect(),
            node_affinity: NodeAffinity { required, ..NodeAffinity::default() },
        },
        tolerations: tolerations
            .map_err(|error| ScenarioError::field(format!("{field}.tolerations"), error))?,
        spreads: doc.spread.iter().map(|key| spread(&text::key(key), &labels)).collect(),
        affinity: affinity_terms(&doc.together, &labels),
        anti_affinity: affinity_terms(&doc.apart, &labels),
        host_ports: doc.host_ports.iter().map(|port| host_port(*port)).collect(),
        volumes: Vec::new(),
        has_resource_claims: false,
        labels,
    })
}

pub(super) fn resources(
    texts: &std::collections::BTreeMap<String, String>,
    field: &str,
) -> Result<ResourceList, ScenarioError> {
    let mut list = ResourceList::new();
    for (name, text) in texts {
        let quantity = Quantity::parse(text)
            .map_err(|error| ScenarioError::field(format!("{field}.{name}"), error))?;
        list.insert(name.as_str(), quantity);
    }
    Ok(list)
}

type Labels = std::collections::BTreeMap<String, String>;

fn own(labels: &Labels) -> LabelSelector {
    let app = labels.get_key_value(APP_LABEL).into_iter();
    let match_labels = app.map(|(key, value)| (key.clone(), value.clone())).collect();
    LabelSelector { match_labels, match_expressions: Vec::new() }
}

fn spread(key: &str, labels: &Labels) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: key.to_owned(),
        max_skew: 1,
        required: true,
        min_domains: None,
        selector: Some(own(labels)),
        match_label_keys: Vec::new(),
        honours_affinity: true,
        // Kubernetes ignores taints unless told otherwise, except that a spread over host names
        // would then count every node that is closed.
        honours_taints: key == HOSTNAME,
    }
}

fn affinity_terms(keys: &[String], labels: &Labels) -> PodAffinity {
    let term = |key: &String| PodAffinityTerm {
        topology_key: text::key(key),
        selector: Some(own(labels)),
        namespaces: TermNamespaces::default(),
    };
    PodAffinity { required: keys.iter().map(term).collect(), preferred: Vec::new() }
}

fn host_port(port: u16) -> HostPort {
    HostPort::new(std::net::Ipv4Addr::UNSPECIFIED.into(), port, Protocol::Tcp)
}
