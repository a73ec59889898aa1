//! The scheduler's settings: how pods spread that say nothing about it themselves.

use k8s_openapi::api::core::v1::TopologySpreadConstraint;
use kerf_api::FieldError;
use kerf_model::labels::check_qualified_name;
use kerf_model::pod::SpreadConstraint;
use serde::Deserialize;
use serde_json::Value;

use crate::manifests::read;
use crate::pod::spread;
use crate::reader::{Reader, all};

/// Where the constraints stand in the document.
const PATH: &str = "podTopologySpread.defaultConstraints";

/// What the scheduler of a cluster is told beside the objects in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulerConfig {
    /// Constraints of pods that have none; their selectors are deduced for each pod.
    pub default_spreads: Vec<SpreadConstraint>,
}

/// The document. Fields it does not know are mistakes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    pod_topology_spread: Option<PodTopologySpread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PodTopologySpread {
    #[serde(default)]
    default_constraints: Vec<DefaultConstraint>,
}

/// A constraint as pods have it. What only a pod can say is read to be refused with a reason.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DefaultConstraint {
    max_skew: i32,
    topology_key: String,
    when_unsatisfiable: String,
    min_domains: Option<i32>,
    node_affinity_policy: Option<String>,
    node_taints_policy: Option<String>,
    label_selector: Option<Value>,
    match_label_keys: Option<Value>,
}

impl SchedulerConfig {
    /// Reads the settings; an empty document says nothing.
    ///
    /// # Errors
    /// Every field that cannot be understood or may not be given.
    pub fn from_value(value: Value) -> Result<Self, Vec<FieldError>> {
        if value.is_null() {
            return Ok(Self::default());
        }
        if !value.is_object() {
            let message = "the settings are a map, podTopologySpread: {…}".to_owned();
            return Err(vec![FieldError { field: String::new(), message }]);
        }
        let document: Document = read(value).map_err(|problem| vec![problem])?;
        let spread = document.pod_topology_spread;
        let constraints = spread.map(|it| it.default_constraints).unwrap_or_default();
        let mut reader = Reader::default();
        let entries = constraints.iter().enumerate();
        let default_spreads =
            all(entries.map(|(index, constraint)| constraint.read(index, &mut reader)));
        refuse_doubles(&constraints, &mut reader);
        reader.finish(default_spreads.map(|default_spreads| Self { default_spreads }))
    }
}

impl DefaultConstraint {
    fn read(&self, index: usize, reader: &mut Reader) -> Option<SpreadConstraint> {
        let path = format!("{PATH}[{index}]");
        let deduced = "is deduced for each pod and cannot be given here";
        if self.label_selector.as_ref().is_some_and(|given| !given.is_null()) {
            reader.refuse(format!("{path}.labelSelector"), deduced);
        }
        if self.match_label_keys.as_ref().is_some_and(|given| !given.is_null()) {
            reader.refuse(format!("{path}.matchLabelKeys"), deduced);
        }
        if let Err(problem) = check_qualified_name(&self.topology_key) {
            let key = &self.topology_key;
            reader.refuse(format!("{path}.topologyKey"), format_args!("{key:?}: {problem}"));
        }
        let constraint = TopologySpreadConstraint {
            max_skew: self.max_skew,
            topology_key: self.topology_key.clone(),
            when_unsatisfiable: self.when_unsatisfiable.clone(),
            min_domains: self.min_domains,
            node_affinity_policy: self.node_affinity_policy.clone(),
            node_taints_policy: self.node_taints_policy.clone(),
            label_selector: None,
            match_label_keys: None,
        };
        spread(reader, &path, &constraint)
    }
}

/// One label is spread over once for each way to treat what cannot be met.
fn refuse_doubles(constraints: &[DefaultConstraint], reader: &mut Reader) {
    let identity =
        |it: &DefaultConstraint| (it.topology_key.clone(), it.when_unsatisfiable.clone());
    for (index, constraint) in constraints.iter().enumerate() {
        let own = identity(constraint);
        if let Some(first) = constraints[..index].iter().position(|other| identity(other) == own) {
            let (key, when) = own;
            let message = format!("{key} with {when} is given in {PATH}[{first}] already");
            reader.refuse(format!("{PATH}[{index}]"), message);
        }
    }
}
