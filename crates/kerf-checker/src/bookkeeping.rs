//! Every pod is named once, everything is in order, and the sums are right.

use std::collections::BTreeMap;

use kerf_model::price::Price;
use kerf_model::resources::ResourceList;
use kerf_scheduler::{NewNode, PlacementProblem, Solution};

use crate::facts::Facts;
use crate::violation::{Rule, Violation};

/// What the answer names and the problem does not have.
pub(crate) fn unknown_names(problem: &PlacementProblem, solution: &Solution) -> Vec<Violation> {
    let mut unknown = Vec::new();
    let mut expect = |kind: &str, index: usize, count: usize| {
        if index >= count {
            let sentence = format!("the answer names {kind} {index}, but there are {count}");
            unknown.push(Violation::new(Rule::Bookkeeping, sentence));
        }
    };
    for placement in &solution.existing {
        expect("node", placement.node, problem.nodes.len());
    }
    for pod in mentioned_pods(solution) {
        expect("pod", pod, problem.pods.len());
    }
    for node in &solution.new_nodes {
        expect("pool", node.pool, problem.pools.len());
        let Some(pool) = problem.pools.get(node.pool) else { continue };
        for option in &node.options {
            expect("instance type", option.instance_type, pool.instance_types.len());
            let Some(chosen) = pool.instance_types.get(option.instance_type) else { continue };
            expect("offering", option.offering, chosen.offerings.len());
        }
    }
    unknown
}

fn mentioned_pods(solution: &Solution) -> impl Iterator<Item = usize> {
    let existing = solution.existing.iter().flat_map(|each| &each.pods);
    let new = solution.new_nodes.iter().flat_map(|each| &each.pods);
    let unplaced = solution.unplaced.iter().map(|each| &each.pod);
    existing.chain(new).chain(unplaced).chain(&solution.deferred).copied()
}

/// Checks the lists of the answer and its sums.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found: Vec<String> = mentions(facts);
    let solution = facts.solution;
    if !rising(solution.existing.iter().map(|each| each.node)) {
        found.push("the nodes that get pods are not in the order of the problem".to_owned());
    }
    if !rising(solution.unplaced.iter().map(|each| each.pod)) {
        found.push("the pods without a place are not in the order of the problem".to_owned());
    }
    for unplaced in solution.unplaced.iter().filter(|each| each.reason.is_empty()) {
        found.push(format!("{} has no place and no reason", facts.pod_name(unplaced.pod)));
    }
    for placement in &solution.existing {
        let name = &facts.problem.nodes[placement.node].name;
        found.extend(pods_listed(&format!("node {name}"), &placement.pods));
    }
    for (index, node) in solution.new_nodes.iter().enumerate() {
        let name = format!("new node {index}");
        found.extend(pods_listed(&name, &node.pods));
        found.extend(new_node(&name, node, facts));
    }
    let found = found.into_iter().map(|each| Violation::new(Rule::Bookkeeping, each));
    found.chain(sums(solution)).chain(resource_claims(facts)).collect()
}

fn mentions(facts: &Facts) -> Vec<String> {
    let mut times: BTreeMap<usize, usize> = BTreeMap::new();
    mentioned_pods(facts.solution).for_each(|pod| *times.entry(pod).or_default() += 1);
    let times = |pod| times.get(&pod).copied().unwrap_or(0);
    let wrong = (0..facts.problem.pods.len()).filter(|&pod| times(pod) != 1);
    wrong
        .map(|pod| format!("{} is named {} times, not once", facts.pod_name(pod), times(pod)))
        .collect()
}

fn pods_listed(name: &str, pods: &[usize]) -> Vec<String> {
    let mut found = Vec::new();
    if pods.is_empty() {
        found.push(format!("{name} is listed without pods"));
    }
    if !rising(pods.iter().copied()) {
        found.push(format!("the pods of {name} are not in rising order"));
    }
    found
}

fn new_node(name: &str, node: &NewNode, facts: &Facts) -> Vec<String> {
    let mut found = Vec::new();
    if !node.requirements.is_sorted_by(|left, right| left.key <= right.key) {
        found.push(format!("the requirements of {name} are not sorted by key"));
    }
    let mut asked = ResourceList::new();
    node.pods.iter().for_each(|&pod| asked.add(&facts.problem.pods[pod].shape.requests));
    for (resource, asked) in asked.iter() {
        if asked > node.requests.quantity(resource) {
            found
                .push(format!("the requests of {name} hold less {resource} than its pods ask for"));
        }
    }
    found
}

fn sums(solution: &Solution) -> Vec<Violation> {
    let mut found = Vec::new();
    let first = solution.new_nodes.iter().filter_map(|node| node.options.first());
    let total: u64 = first.map(|option| option.price.micros_per_hour()).sum();
    if Price::from_micros_per_hour(total) != solution.price {
        let total = Price::from_micros_per_hour(total);
        found.push(format!("the cheapest options cost {total}, not {}", solution.price));
    }
    if solution.lower_bound > solution.price {
        let (bound, price) = (solution.lower_bound, solution.price);
        found.push(format!("nothing can cost less than {bound}, but the answer costs {price}"));
    }
    found.into_iter().map(|each| Violation::new(Rule::Price, each)).collect()
}

fn resource_claims(facts: &Facts) -> Vec<Violation> {
    let placed = facts.placed().filter(|(_, each)| each.shape.has_resource_claims);
    let sentence = |(pod, placed): (usize, crate::facts::PlacedPod)| {
        let place = facts.place_name(placed.place);
        format!("{} asks for devices, but is placed on {place}", facts.pod_name(pod))
    };
    placed.map(|each| Violation::new(Rule::ResourceClaims, sentence(each))).collect()
}

fn rising(numbers: impl Iterator<Item = usize>) -> bool {
    numbers.is_sorted_by(|left, right| left < right)
}
