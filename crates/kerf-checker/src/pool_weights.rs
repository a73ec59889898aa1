//! Heavier pools are filled to their limits before lighter ones get a pod that they could take.
//!
//! Judged for pods without preferences and without rules about other pods, their own or those of
//! others about them: such rules may force a pod into a domain that a heavier pool does not have.

use kerf_model::pod::{PodAffinityTerm, PodShape};
use kerf_model::pool::Sizing;
use kerf_model::requirements::Requirements;
use kerf_model::resources::ResourceList;
use kerf_model::taint::untolerated;
use kerf_scheduler::MinValuesPolicy;

use crate::facts::{Facts, Place};
use crate::offerings::too_small;
use crate::pool_limits::{counted, used};
use crate::selecting::Selection;
use crate::serving::{Future, repelled_by};
use crate::violation::{Rule, Violation};

/// Checks every such pod on a new node against every heavier pool.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, node) in facts.solution.new_nodes.iter().enumerate() {
        let weight = facts.problem.pools[node.pool].pool.weight;
        let heavier = (0..facts.problem.pools.len())
            .filter(|pool| facts.problem.pools[*pool].pool.weight > weight);
        let heavier: Vec<usize> = heavier.filter(|pool| is_judged(facts, *pool)).collect();
        for pod in node.pods.iter().copied().filter(|pod| is_free(facts, *pod)) {
            for pool in heavier.iter().copied() {
                if let Some(how) = could_take(facts, pool, pod) {
                    let (pod, name) = (facts.pod_name(pod), &facts.problem.pools[pool].pool.name);
                    let here = facts.place_name(Place::New(index));
                    let sentence = format!("{pod} is on {here}, but heavier pool {name} {how}");
                    found.push(Violation::new(Rule::Weights, sentence));
                }
            }
        }
    }
    found
}

/// Whether it can be told by simple means what a pool could take: nodes that must leave several
/// instance types open are filled by other rules.
fn is_judged(facts: &Facts, pool: usize) -> bool {
    let strict = facts.problem.settings.min_values == MinValuesPolicy::Strict;
    facts.problem.pools[pool].pool.sizing == Sizing::Dynamic
        && !(strict && facts.pools[pool].template.has_min_values())
}

/// Whether a pod has no preferences, and no rule ties it to other pods.
fn is_free(facts: &Facts, pod: usize) -> bool {
    let shape = &facts.problem.pods[pod].shape;
    let affinity = &shape.placement.node_affinity;
    let has_rules = !shape.spreads.is_empty()
        || !shape.affinity.required.is_empty()
        || !shape.affinity.preferred.is_empty()
        || !shape.anti_affinity.required.is_empty()
        || !shape.anti_affinity.preferred.is_empty()
        || !shape.host_ports.is_empty()
        || !shape.volumes.is_empty();
    affinity.required.len() <= 1
        && affinity.preferred.is_empty()
        && !has_rules
        && !is_spoken_of(facts, shape)
}

/// Whether some pod must be near pods of this shape or keep away from them.
fn is_spoken_of(facts: &Facts, shape: &PodShape) -> bool {
    let waiting = facts.problem.pods.iter().map(|pod| &pod.shape);
    let running = facts.problem.nodes.iter().flat_map(|node| &node.pods);
    let mut shapes = waiting.chain(running.map(|bound| &bound.pod.shape));
    shapes.any(|other| {
        let near = other.affinity.required.iter();
        let near = near.chain(other.affinity.preferred.iter().map(|(_, term)| term));
        let mut terms = near.chain(&other.anti_affinity.required);
        terms.any(|term: &PodAffinityTerm| {
            Selection::of_term(term, &other.namespace, facts.problem).means(shape)
        })
    })
}

/// How a pool could take a pod, if it could.
fn could_take(facts: &Facts, pool: usize, pod: usize) -> Option<String> {
    let (shape, with_types) = (&facts.problem.pods[pod].shape, &facts.problem.pools[pool]);
    // Soft taints are a preference of everybody who does not tolerate them.
    let taints = &with_types.pool.template.spec.taints;
    if untolerated(taints, &shape.tolerations).next().is_some() {
        return None;
    }
    let nodes = facts.solution.new_nodes.iter().enumerate();
    let mut own = nodes.filter(|(_, node)| node.pool == pool);
    if let Some((index, _)) = own.find(|(index, _)| has_headroom(facts, *index, pod)) {
        return Some(format!("has headroom for it on new node {index}"));
    }
    let types = 0..with_types.instance_types.len();
    let mut types = types.into_iter().filter(|it| leave_limits(facts, pool, *it));
    let found = types.find(|instance_type| can_be_made(facts, pool, *instance_type, pod))?;
    Some(format!("could make a node of type {} for it", with_types.instance_types[found].name))
}

/// Whether a new node can surely hold one more pod, whichever of its options it becomes.
fn has_headroom(facts: &Facts, index: usize, pod: usize) -> bool {
    let node = &facts.solution.new_nodes[index];
    let pool = &facts.pools[node.pool];
    let mut asked = ResourceList::new();
    let pods = node.pods.iter().copied().chain([pod]);
    pods.for_each(|pod| asked.add(&facts.problem.pods[pod].shape.requests));
    node.options.iter().all(|option| {
        let chosen = &facts.problem.pools[node.pool].instance_types[option.instance_type];
        let types = &pool.types[option.instance_type];
        let mut labels = facts.new_nodes[index].clone();
        labels.narrow(&types.requirements, &facts.vocabulary);
        let future = Future { template: &pool.template, labels };
        let mut asked = asked.clone();
        daemons(facts, node.pool, option.instance_type).for_each(|it| asked.add(&it.requests));
        let offering = &chosen.offerings[option.offering];
        future.surely_serves(facts, &facts.pods[pod])
            && too_small(chosen, offering, &asked).is_none()
    })
}

/// Whether the limits of a pool leave one more node of a type.
fn leave_limits(facts: &Facts, pool: usize, instance_type: usize) -> bool {
    let with_types = &facts.problem.pools[pool];
    let mut total = used(facts, pool);
    let capacity = &with_types.instance_types[instance_type].capacity;
    total.add(&counted(ResourceList::clone(capacity)));
    with_types.pool.limits.iter().all(|(resource, limit)| total.quantity(resource) <= limit)
}

/// Whether a pod alone could have a node of a type, bought without a reservation.
fn can_be_made(facts: &Facts, pool: usize, instance_type: usize, pod: usize) -> bool {
    let chosen = &facts.problem.pools[pool].instance_types[instance_type];
    let types = &facts.pools[pool].types[instance_type];
    let template = &facts.pools[pool].template;
    let mut asked = facts.problem.pods[pod].shape.requests.clone();
    daemons(facts, pool, instance_type).for_each(|daemon| asked.add(&daemon.requests));
    let mut sold = chosen.offerings.iter().zip(&types.offerings);
    sold.any(|(offering, labels)| {
        offering.available
            && offering.reservation.is_none()
            && too_small(chosen, offering, &asked).is_none()
            && facts.pods[pod].iter().any(|term| {
                let mut both: Requirements = template.clone();
                both.narrow(term, &facts.vocabulary);
                template.compatible(term, &facts.well_known, &facts.vocabulary)
                    && both.intersects(&types.requirements, &facts.vocabulary)
                    && both.intersects(labels, &facts.vocabulary)
            })
    })
}

/// The daemons that may run on a node of a type.
fn daemons<'f>(
    facts: &'f Facts,
    pool: usize,
    instance_type: usize,
) -> impl Iterator<Item = &'f PodShape> {
    let taints = &facts.problem.pools[pool].pool.template.spec.taints;
    let template = &facts.pools[pool].template;
    let requirements = &facts.pools[pool].types[instance_type].requirements;
    let all = facts.problem.daemons.iter().zip(&facts.daemons);
    let runs = all.filter(move |(daemon, wanted)| {
        !daemon.has_resource_claims
            && repelled_by(taints, daemon).is_none()
            && wanted.iter().any(|term| {
                template.compatible(term, &facts.well_known, &facts.vocabulary)
                    && requirements.intersects(term, &facts.vocabulary)
            })
    });
    runs.map(|(daemon, _)| &**daemon)
}
