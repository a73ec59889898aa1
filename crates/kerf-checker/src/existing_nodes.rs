//! What goes onto nodes that exist.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::pod::PodShape;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use kerf_scheduler::ExistingPlacement;

use crate::facts::{Facts, Place};
use crate::host_ports;
use crate::serving::{node_serves, repelled_by};
use crate::violation::{Rule, Violation};

/// Checks every node that gets pods.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    facts.solution.existing.iter().flat_map(|placement| check_node(facts, placement)).collect()
}

fn check_node(facts: &Facts, placement: &ExistingPlacement) -> Vec<Violation> {
    let mut found = Vec::new();
    for &pod in &placement.pods {
        found.extend(check_pod(facts, placement.node, pod));
    }
    found.extend(check_resources(facts, placement));
    found.extend(check_volume_limits(facts, placement));
    let node = &facts.problem.nodes[placement.node];
    let bound: Vec<(&str, &PodShape)> =
        node.pods.iter().map(|bound| (bound.pod.name.as_str(), &*bound.pod.shape)).collect();
    found.extend(host_ports::clashes(facts, Place::Existing(placement.node), &bound));
    found
}

fn check_pod(facts: &Facts, node: usize, pod: usize) -> Vec<Violation> {
    let mut found = Vec::new();
    let (shape, name) = (&facts.problem.pods[pod].shape, facts.pod_name(pod));
    let (there, labels) = (&facts.problem.nodes[node], &facts.nodes[node]);
    if let Some(taint) = repelled_by(&there.taints, shape) {
        let sentence = format!("{name} does not tolerate {taint} of node {}", there.name);
        found.push(Violation::new(Rule::Taints, sentence));
    }
    if !node_serves(facts, labels, &facts.pods[pod]) {
        let sentence = format!("the labels of node {} do not satisfy {name}", there.name);
        found.push(Violation::new(Rule::NodeAffinity, sentence));
    }
    if !facts.volumes[pod].iter().all(|volume| node_serves(facts, labels, volume)) {
        let sentence = format!("a volume of {name} cannot be reached from node {}", there.name);
        found.push(Violation::new(Rule::Volumes, sentence));
    }
    found
}

fn check_resources(facts: &Facts, placement: &ExistingPlacement) -> Vec<Violation> {
    let node = &facts.problem.nodes[placement.node];
    let mut total = missing_daemons(facts, placement.node);
    node.pods.iter().for_each(|bound| total.add(&bound.pod.shape.requests));
    placement.pods.iter().for_each(|&pod| total.add(&facts.problem.pods[pod].shape.requests));
    let over = |(name, wanted): &(&str, Quantity)| *wanted > node.allocatable.quantity(name);
    let sentence = |(name, wanted): (&str, Quantity)| {
        let had = node.allocatable.quantity(name);
        format!("node {} has {had} of {name}, but {wanted} is asked of it", node.name)
    };
    let over = total.iter().filter(over);
    over.map(|each| Violation::new(Rule::Resources, sentence(each))).collect()
}

/// What daemons that belong on the node will still take: all of theirs less what they have.
fn missing_daemons(facts: &Facts, node: usize) -> ResourceList {
    let (there, labels) = (&facts.problem.nodes[node], &facts.nodes[node]);
    let mut missing = ResourceList::new();
    for (daemon, wanted) in facts.problem.daemons.iter().zip(&facts.daemons) {
        let belongs = !daemon.has_resource_claims
            && repelled_by(&there.taints, daemon).is_none()
            && node_serves(facts, labels, wanted);
        if belongs {
            missing.add(&daemon.requests);
        }
    }
    for bound in there.pods.iter().filter(|bound| bound.is_daemon) {
        missing.subtract(&bound.pod.shape.requests);
    }
    missing.iter().map(|(name, quantity)| (name, quantity.max(Quantity::ZERO))).collect()
}

fn check_volume_limits(facts: &Facts, placement: &ExistingPlacement) -> Vec<Violation> {
    let node = &facts.problem.nodes[placement.node];
    let mut attached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for bound in &node.pods {
        attach(&mut attached, &bound.pod.shape);
    }
    let before = attached.clone();
    for &pod in &placement.pods {
        attach(&mut attached, &facts.problem.pods[pod].shape);
    }
    let mut found = Vec::new();
    for (driver, claims) in attached {
        let Some(&limit) = node.volume_limits.get(driver) else { continue };
        let grown = before.get(driver) != Some(&claims);
        if grown && claims.len() > limit as usize {
            let (count, name) = (claims.len(), &node.name);
            let sentence = format!("{driver} attaches {limit} volumes to node {name}, not {count}");
            found.push(Violation::new(Rule::Volumes, sentence));
        }
    }
    found
}

fn attach<'a>(attached: &mut BTreeMap<&'a str, BTreeSet<&'a str>>, shape: &'a PodShape) {
    for volume in &shape.volumes {
        if let Some(driver) = &volume.driver {
            attached.entry(driver).or_default().insert(&volume.claim);
        }
    }
}
