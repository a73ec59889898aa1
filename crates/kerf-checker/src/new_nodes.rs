//! Nodes to add: their pool, and every instance type they may be.

use kerf_model::pod::PodShape;
use kerf_model::pool::Sizing;
use kerf_model::requirement::Requirement;
use kerf_scheduler::TypeOption;

use crate::facts::{Facts, Place};
use crate::serving::{Future, repelled_by};
use crate::violation::{Rule, Violation};
use crate::{host_ports, offerings};

/// Checks every node to add.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, node) in facts.solution.new_nodes.iter().enumerate() {
        found.extend(check_pool(facts, index));
        for option in &node.options {
            found.extend(check_option(facts, index, option));
        }
    }
    found
}

fn check_pool(facts: &Facts, index: usize) -> Vec<Violation> {
    let node = &facts.solution.new_nodes[index];
    let (pool, name) = (&facts.problem.pools[node.pool].pool, facts.place_name(Place::New(index)));
    let mut found = Vec::new();
    if pool.sizing != Sizing::Dynamic {
        let sentence = format!("{name} is not to be: the size of its pool is fixed");
        found.push(Violation::new(Rule::PoolWithTypes, sentence));
    }
    for key in wider_than_pool(facts, index) {
        let sentence = format!("{name} does not keep to what its pool asks of {key}");
        found.push(Violation::new(Rule::PoolWithTypes, sentence));
    }
    for &pod in &node.pods {
        if let Some(taint) = repelled_by(&pool.template.spec.taints, &facts.problem.pods[pod].shape)
        {
            let sentence = format!("{} does not tolerate {taint} of {name}", facts.pod_name(pod));
            found.push(Violation::new(Rule::Taints, sentence));
        }
    }
    found
}

/// Keys on which the requirements of the node leave nothing, or say less than those of its pool.
/// Labels of the template need not be repeated: every node gets them.
fn wider_than_pool(facts: &Facts, index: usize) -> Vec<String> {
    let node = &facts.solution.new_nodes[index];
    let pool = &facts.problem.pools[node.pool].pool;
    let said = |key: &str| node.requirements.iter().any(|entry| entry.key == key);
    let asked = pool.template.spec.requirements.iter().map(|entry| entry.key.clone());
    let mut wrong: Vec<String> = asked.filter(|key| !said(key)).collect();
    let template = &facts.pools[node.pool].template;
    let (both, own) = (&facts.new_nodes[index], &facts.own_requirements[index]);
    for requirement in own.iter() {
        let key = requirement.key();
        let negative = |each: &Requirement| each.is_negative();
        let with_pool = both.get(key);
        let emptied = with_pool.is_empty()
            && !(negative(requirement) && template.find(key).is_none_or(negative));
        let cut = !requirement.is_complement() && with_pool.len() < requirement.len();
        if emptied || cut {
            wrong.push(facts.vocabulary.key_text(key).to_owned());
        }
    }
    wrong.sort();
    wrong.dedup();
    wrong
}

fn check_option(facts: &Facts, index: usize, option: &TypeOption) -> Vec<Violation> {
    let node = &facts.solution.new_nodes[index];
    let chosen = &facts.problem.pools[node.pool].instance_types[option.instance_type];
    let name = format!("{} as {}", facts.place_name(Place::New(index)), chosen.name);
    let pool = &facts.pools[node.pool];
    let type_facts = &pool.types[option.instance_type];
    let mut found = Vec::new();
    if !facts.new_nodes[index].intersects(&type_facts.requirements, &facts.vocabulary) {
        let sentence = format!("{name}: the type does not satisfy the node's requirements");
        found.push(Violation::new(Rule::InstanceTypes, sentence));
        return found;
    }
    let mut labels = facts.new_nodes[index].clone();
    labels.narrow(&type_facts.requirements, &facts.vocabulary);
    let future = Future { template: &pool.template, labels };
    for &pod in &node.pods {
        if !future.surely_serves(facts, &facts.pods[pod]) {
            let sentence = format!("{name} may not have the labels {} needs", facts.pod_name(pod));
            found.push(Violation::new(Rule::NodeAffinity, sentence));
        }
        if !facts.volumes[pod].iter().all(|volume| future.surely_serves(facts, volume)) {
            let pod = facts.pod_name(pod);
            let sentence = format!("{name} may not reach a volume of {pod}");
            found.push(Violation::new(Rule::Volumes, sentence));
        }
    }
    let daemons = daemons(facts, index, option.instance_type);
    found.extend(offerings::check_option(facts, index, option, &daemons));
    let daemons: Vec<_> = daemons.into_iter().map(|daemon| ("of a daemon set", daemon)).collect();
    found.extend(host_ports::clashes(facts, Place::New(index), &daemons));
    found
}

/// The daemons that may run on the node if it becomes this type.
fn daemons<'a>(facts: &Facts<'a>, index: usize, instance_type: usize) -> Vec<&'a PodShape> {
    let node = &facts.solution.new_nodes[index];
    let taints = &facts.problem.pools[node.pool].pool.template.spec.taints;
    let pool = &facts.pools[node.pool];
    let vocabulary = &facts.vocabulary;
    let all = facts.problem.daemons.iter().zip(&facts.daemons);
    let runs = all.filter(|(daemon, wanted)| {
        !daemon.has_resource_claims
            && repelled_by(taints, daemon).is_none()
            && wanted.iter().any(|term| {
                pool.template.compatible(term, &facts.well_known, vocabulary)
                    && pool.types[instance_type].requirements.intersects(term, vocabulary)
                    && facts.new_nodes[index].intersects(term, vocabulary)
            })
    });
    runs.map(|(daemon, _)| &**daemon).collect()
}
