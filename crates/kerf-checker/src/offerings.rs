//! How new nodes are bought.

use std::collections::BTreeMap;

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::pod::PodShape;
use kerf_model::resources::ResourceList;
use kerf_scheduler::TypeOption;

use crate::facts::{Facts, Place};
use crate::violation::{Rule, Violation};

/// The offering an option names must be had, suit the node, hold its pods and daemons, and cost
/// what is said; no other that does may cost less.
pub(crate) fn check_option(
    facts: &Facts,
    index: usize,
    option: &TypeOption,
    daemons: &[&PodShape],
) -> Vec<Violation> {
    let node = &facts.solution.new_nodes[index];
    let chosen = &facts.problem.pools[node.pool].instance_types[option.instance_type];
    let name = format!("{} as {}", facts.place_name(Place::New(index)), chosen.name);
    let mut total = ResourceList::new();
    node.pods.iter().for_each(|&pod| total.add(&facts.problem.pods[pod].shape.requests));
    daemons.iter().for_each(|daemon| total.add(&daemon.requests));
    let suits = |offering| suits(facts, index, option.instance_type, offering);
    let (at, named) = (option.offering, &chosen.offerings[option.offering]);
    let mut found = Vec::new();
    if !suits(at) {
        let sentence = format!("{name}: offering {at} cannot be had for it");
        found.push(Violation::new(Rule::InstanceTypes, sentence));
    }
    if let Some(resource) = too_small(chosen, named, &total) {
        let sentence = format!("{name} has too little {resource} for its pods and daemons");
        found.push(Violation::new(Rule::Resources, sentence));
    }
    if named.price != option.price {
        let (said, real) = (option.price, named.price);
        let sentence = format!("{name}: offering {at} costs {real}, not {said}");
        found.push(Violation::new(Rule::Price, sentence));
    }
    // A reservation may be used up by other nodes, so it may be passed over.
    let cheaper = chosen.offerings.iter().enumerate().find(|(other, offering)| {
        offering.price < named.price
            && offering.reservation.is_none()
            && suits(*other)
            && too_small(chosen, offering, &total).is_none()
    });
    if let Some((cheaper, _)) = cheaper {
        let sentence = format!("{name}: offering {cheaper} is cheaper than offering {at}");
        found.push(Violation::new(Rule::Price, sentence));
    }
    found
}

/// Whether the offering is available and its labels can be those of the node.
fn suits(facts: &Facts, index: usize, instance_type: usize, offering: usize) -> bool {
    let pool = facts.solution.new_nodes[index].pool;
    let sold = &facts.problem.pools[pool].instance_types[instance_type].offerings[offering];
    let labels = &facts.pools[pool].types[instance_type].offerings[offering];
    let node = &facts.new_nodes[index];
    sold.available && node.compatible(labels, &facts.well_known, &facts.vocabulary)
}

/// The first resource of which there is too little.
pub(crate) fn too_small<'a>(
    chosen: &InstanceType,
    offering: &Offering,
    wanted: &'a ResourceList,
) -> Option<&'a str> {
    let available = chosen.allocatable_of(offering);
    let short = wanted.iter().find(|(name, wanted)| *wanted > available.quantity(name));
    let short = short.map(|(name, _)| name);
    short.or((!wanted.fits(&available)).then_some("of something nobody asked for"))
}

/// No reservation is the cheapest option of more nodes than are left in it. Of a reservation that
/// several offerings report differently, the smallest number counts.
pub(crate) fn check_reservations(facts: &Facts) -> Vec<Violation> {
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    for node in &facts.solution.new_nodes {
        let Some(option) = node.options.first() else { continue };
        let types = &facts.problem.pools[node.pool].instance_types;
        let offering = &types[option.instance_type].offerings[option.offering];
        if let Some(reservation) = &offering.reservation {
            *used.entry(&reservation.id).or_default() += 1;
        }
    }
    let types = facts.problem.pools.iter().flat_map(|pool| pool.instance_types.iter());
    let reservations =
        types.flat_map(|each| each.offerings.iter()).filter_map(|o| o.reservation.as_ref());
    let reservations: Vec<_> = reservations.collect();
    let mut found = Vec::new();
    for (id, used) in used {
        let known = reservations.iter().filter(|each| each.id == id);
        let left = known.map(|each| each.remaining).min().unwrap_or(0);
        if used > left {
            let sentence =
                format!("reservation {id} has {left} left, but {used} nodes count on it");
            found.push(Violation::new(Rule::Reservations, sentence));
        }
    }
    found
}
