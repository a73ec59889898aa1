//! The model in few words, so that a test shows all of it and nothing else.
#![allow(dead_code, reason = "each test file prints its own part")]

use std::collections::BTreeMap;

use k8s_openapi::serde::de::DeserializeOwned;
use kerf_model::node::Node;
use kerf_model::pod::{PodAffinity, PodAffinityTerm, PodShape, PodVolume, SpreadConstraint};
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList;
use kerf_model::selector::LabelSelector;
use kerf_model::taint::Toleration;

/// An object from YAML.
pub(crate) fn yaml<T: DeserializeOwned>(text: &str) -> T {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// An expectation as it is written in a test: lines trimmed, one that starts with `..` continues
/// the line before.
pub(crate) fn expectation(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.trim().lines().map(str::trim) {
        match (line.strip_prefix(".."), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// A line for everything a shape says.
pub(crate) fn shape(shape: &PodShape) -> String {
    let mut lines = vec![format!("{} {}", shape.namespace, labels(&shape.labels))];
    lines.push(format!("needs {}", amounts(&shape.requests)));
    let placement = &shape.placement;
    if !placement.node_selector.is_empty() {
        lines.push(format!("on {}", labels(&placement.node_selector)));
    }
    let affinity = &placement.node_affinity;
    lines.extend(affinity.required.iter().map(|term| format!("must {}", entries(term))));
    lines.extend(
        affinity
            .preferred
            .iter()
            .map(|term| format!("prefer {} {}", term.weight, entries(&term.expressions))),
    );
    if affinity.required_by_field {
        lines.push("by field".to_owned());
    }
    lines.extend(shape.tolerations.iter().map(toleration));
    lines.extend(shape.spreads.iter().map(spread));
    lines.extend(terms("near", &shape.affinity));
    lines.extend(terms("apart", &shape.anti_affinity));
    lines.extend(shape.host_ports.iter().map(|port| format!("port {port}")));
    lines.extend(shape.volumes.iter().map(volume));
    if shape.has_resource_claims {
        lines.push("devices".to_owned());
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn volume(volume: &PodVolume) -> String {
    let PodVolume { claim, driver, reachable_from } = volume;
    let places: Vec<_> = reachable_from.iter().map(|term| format!("({})", entries(term))).collect();
    let driver = driver.as_deref().unwrap_or("-");
    format!("volume {claim} {driver} {}", places.join(" or ")).trim_end().to_owned()
}

/// A line for everything a node says.
pub(crate) fn node(node: &Node) -> String {
    let pool = node.pool.as_deref().unwrap_or("-");
    let up = if node.initialized { "up" } else { "coming" };
    let mut lines = vec![format!("{} pool {pool} {up}", node.name)];
    lines.push(format!("labels {}", labels(&node.labels)));
    lines.extend(node.taints.iter().map(|taint| format!("taint {taint}")));
    lines.push(format!("has {}", amounts(&node.capacity)));
    lines.push(format!("gives {}", amounts(&node.allocatable)));
    lines.extend(node.volume_limits.iter().map(|(driver, most)| format!("{driver} up to {most}")));
    lines.extend(node.pods.iter().map(|bound| {
        let kind = if bound.is_daemon { "daemon" } else { "pod" };
        format!("{kind} {}", bound.pod.name)
    }));
    lines.iter().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn amounts(list: &ResourceList) -> String {
    list.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn labels(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

fn entries(entries: &[RequirementEntry]) -> String {
    let entry = |entry: &RequirementEntry| {
        let text = format!("{} {} {}", entry.key, entry.operator, entry.values.join(","));
        text.trim_end().to_owned()
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(" & ")
}

fn toleration(toleration: &Toleration) -> String {
    let Toleration { key, operator, value, effect } = toleration;
    let effect = effect.map_or("any", |effect| effect.as_str());
    format!("tolerates {key:?} {operator:?} {value:?} {effect}")
}

pub(crate) fn spread(spread: &SpreadConstraint) -> String {
    let SpreadConstraint {
        topology_key,
        max_skew,
        required,
        min_domains,
        selector: which,
        match_label_keys,
        honours_affinity,
        honours_taints,
    } = spread;
    let must = if *required { "must" } else { "prefer" };
    let domains = min_domains.map_or(String::new(), |least| format!(" domains>={least}"));
    let keys = match_label_keys.join(",");
    format!(
        "spread {must} {topology_key} skew {max_skew}{domains} of {} keys [{keys}] \
         affinity {honours_affinity} taints {honours_taints}",
        selector(which.as_ref())
    )
}

fn terms(word: &str, affinity: &PodAffinity) -> Vec<String> {
    let must = affinity.required.iter().map(|each| format!("{word} must {}", term(each)));
    let prefer = affinity.preferred.iter();
    let prefer = prefer.map(|(weight, each)| format!("{word} prefer {weight} {}", term(each)));
    must.chain(prefer).collect()
}

fn term(term: &PodAffinityTerm) -> String {
    let PodAffinityTerm { topology_key, selector: which, namespaces } = term;
    let names = namespaces.names.join(",");
    let by_label = namespaces.selector.as_ref();
    let by_label = by_label.map_or(String::new(), |which| format!(" in {}", selector(Some(which))));
    format!("{topology_key} of {} names [{names}]{by_label}", selector(which.as_ref()))
}

fn selector(selector: Option<&LabelSelector>) -> String {
    let Some(selector) = selector else { return "none".to_owned() };
    let expressions = selector.match_expressions.iter();
    let expressions =
        expressions.map(|it| format!("{} {} {}", it.key, it.operator, it.values.join(",")));
    let labels = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}"));
    format!("{{{}}}", labels.chain(expressions).collect::<Vec<_>>().join(" & "))
}
