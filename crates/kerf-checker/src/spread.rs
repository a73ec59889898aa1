//! Required spreads are not too skewed.
//!
//! A spread binds a pod when it is placed, not afterwards, so the final state is judged by what
//! must have been true then, whatever the order was. The last carrier placed in a domain saw at
//! least the running pods and the other carriers there, and an emptiest domain no fuller than it is
//! now.

use std::collections::BTreeMap;

use kerf_model::labels::well_known;
use kerf_model::pod::{PodShape, SpreadConstraint};
use kerf_model::requirements::PodPlacement;
use kerf_model::taint::Toleration;

use crate::domain::Domain;
use crate::facts::{Facts, Place, PlacedPod};
use crate::selecting::Selection;
use crate::serving::{node_serves, repelled_by};
use crate::spread_domains::emptiest;
use crate::violation::{Rule, Violation};

/// Placed pods bound by one and the same spread.
pub(crate) struct Group<'a> {
    identity: Identity<'a>,
    pub(crate) constraint: SpreadConstraint,
    /// The topology key in the spelling in use.
    pub(crate) key: String,
    pub(crate) meant: Selection,
    pub(crate) carriers: Vec<PlacedPod<'a>>,
}

/// What makes two spreads one: the constraint with the pod's own values, and the nodes that count.
#[derive(PartialEq)]
struct Identity<'a> {
    namespace: &'a str,
    constraint: SpreadConstraint,
    placement: Option<&'a PodPlacement>,
    tolerations: Option<&'a [Toleration]>,
}

/// Checks every group.
pub(crate) fn check(facts: &Facts) -> Vec<Violation> {
    groups(facts).iter().flat_map(|group| check_group(facts, group)).collect()
}

fn groups<'a>(facts: &Facts<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for (pod, carrier) in facts.placed() {
        for spread in carrier.shape.spreads.iter().filter(|spread| spread.required) {
            let identity = identity(carrier.shape, spread);
            match groups.iter_mut().find(|group| group.identity == identity) {
                Some(group) if group.carriers.last().is_some_and(|it| it.pod == Some(pod)) => {}
                Some(group) => group.carriers.push(carrier),
                None => groups.push(group(facts, identity, carrier)),
            }
        }
    }
    groups
}

fn identity<'a>(shape: &'a PodShape, spread: &SpreadConstraint) -> Identity<'a> {
    let keys = || spread.match_label_keys.iter().map(String::as_str);
    let selector = spread.selector.as_ref();
    let selector = selector.map(|each| each.with_match_label_keys(keys(), &shape.labels));
    Identity {
        namespace: &shape.namespace,
        constraint: SpreadConstraint { selector, match_label_keys: Vec::new(), ..spread.clone() },
        placement: spread.honours_affinity.then_some(&shape.placement),
        tolerations: spread.honours_taints.then_some(&shape.tolerations),
    }
}

fn group<'a>(facts: &Facts, identity: Identity<'a>, first: PlacedPod<'a>) -> Group<'a> {
    let constraint = identity.constraint.clone();
    let normalization = facts.problem.settings.label_rules.normalization();
    let key = normalization.key(&constraint.topology_key).to_owned();
    let namespaces = [identity.namespace.to_owned()].into();
    let meant = Selection { namespaces, selector: constraint.selector.clone() };
    Group { identity, constraint, key, meant, carriers: vec![first] }
}

/// How many matching pods a domain has.
#[derive(Default)]
pub(crate) struct Count {
    /// Pods that run already.
    running: u32,
    /// Placed carriers.
    carriers: u32,
    /// Placed pods that are not bound by the spread themselves.
    others: u32,
}

impl Count {
    /// All of them.
    pub(crate) fn total(&self) -> u32 {
        self.running + self.carriers + self.others
    }
}

fn check_group(facts: &Facts, group: &Group) -> Vec<Violation> {
    let counts = counts(facts, group);
    let mut found = Vec::new();
    let mut by_domain: BTreeMap<String, Vec<&PlacedPod>> = BTreeMap::new();
    for carrier in &group.carriers {
        match Domain::of(facts, carrier.place, &group.key).known() {
            Some(domain) => by_domain.entry(domain.to_owned()).or_default().push(carrier),
            None => {
                let place = facts.place_name(carrier.place);
                let (name, key) = (carrier.name, &group.key);
                let sentence = format!("pod {name} spreads by {key}, which is open on {place}");
                found.push(Violation::new(Rule::Spread, sentence));
            }
        }
    }
    for (domain, carriers) in &by_domain {
        found.extend(check_domain(facts, group, &counts, domain, carriers));
    }
    found
}

fn check_domain(
    facts: &Facts,
    group: &Group,
    counts: &BTreeMap<String, Count>,
    domain: &str,
    carriers: &[&PlacedPod],
) -> Vec<Violation> {
    let none = Count::default();
    let count = counts.get(domain).unwrap_or(&none);
    let (selected, unselected): (Vec<&PlacedPod>, Vec<&PlacedPod>) =
        carriers.iter().partition(|carrier| group.meant.means(carrier.shape));
    let mut found = Vec::new();
    for (bound, reached) in
        [(selected, count.running + count.carriers), (unselected, count.running)]
    {
        // Whoever came last had the last word; it is not known who that was, so the mildest counts.
        let mildest = bound.iter().map(|carrier| emptiest(facts, group, counts, carrier)).max();
        let Some(emptiest) = mildest else { continue };
        if reached > emptiest.saturating_add(group.constraint.max_skew) {
            let names: Vec<_> = bound.iter().map(|carrier| carrier.name).collect();
            let sentence = format!(
                "{} = {domain} has {reached} pods, {} more than the emptiest with {emptiest}, \
                 but pods {} allow {}",
                group.key,
                reached - emptiest,
                names.join(", "),
                group.constraint.max_skew,
            );
            found.push(Violation::new(Rule::Spread, sentence));
        }
    }
    found
}

fn counts(facts: &Facts, group: &Group) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for placed in &facts.placed {
        if !group.meant.means(placed.shape) || !node_counts(facts, group, placed.place) {
            continue;
        }
        let domain = Domain::of(facts, placed.place, &group.key);
        let Some(domain) = domain.known() else { continue };
        let count = counts.entry(domain.to_owned()).or_default();
        let carries = group.carriers.iter().any(|carrier| carrier.pod == placed.pod);
        match placed.pod {
            None => count.running += 1,
            Some(_) if carries => count.carriers += 1,
            Some(_) => count.others += 1,
        }
    }
    counts
}

/// Whether pods on the place count: it suits the node affinity and the tolerations of the carriers,
/// where the spread honours them.
pub(crate) fn node_counts(facts: &Facts, group: &Group, place: Place) -> bool {
    // All carriers of a group have the same affinity and tolerations where these matter.
    let carrier = &group.carriers[0];
    let pod = carrier.pod.expect("carriers are placed pods");
    let alternatives = &facts.pods[pod];
    let (taints, suits) = match place {
        Place::Existing(node) => {
            let suits = node_serves(facts, &facts.nodes[node], alternatives);
            (&facts.problem.nodes[node].taints, suits)
        }
        Place::New(node) => {
            let labels = &facts.new_nodes[node];
            let may = alternatives.iter().any(|each| labels.intersects(each, &facts.vocabulary));
            let pool = &facts.problem.pools[facts.solution.new_nodes[node].pool].pool;
            (&pool.template.spec.taints, may)
        }
    };
    (suits || !group.constraint.honours_affinity)
        && (repelled_by(taints, carrier.shape).is_none() || !group.constraint.honours_taints)
}

/// Whether the domains are single nodes.
pub(crate) fn is_by_host(group: &Group) -> bool {
    group.key == well_known::HOSTNAME
}
