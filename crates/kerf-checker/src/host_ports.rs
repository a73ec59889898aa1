//! No two pods take one port of a node.

use kerf_model::host_port::HostPort;
use kerf_model::pod::PodShape;

use crate::facts::{Facts, Place, PlacedPod};
use crate::violation::{Rule, Violation};

/// Clashes between the placed pods of one place, and of those with the ones that are there anyway.
pub(crate) fn clashes(facts: &Facts, place: Place, anyway: &[(&str, &PodShape)]) -> Vec<Violation> {
    let there: Vec<PlacedPod> =
        facts.placed().map(|(_, each)| each).filter(|each| each.place == place).collect();
    let mut found = Vec::new();
    for (position, one) in there.iter().enumerate() {
        let later = there[position + 1..].iter().map(|each| (each.name, each.shape));
        for (name, shape) in later.chain(anyway.iter().copied()) {
            if let Some(port) = shared_port(one.shape, shape) {
                let place = facts.place_name(place);
                let sentence = format!("pods {} and {name} both take {port} of {place}", one.name);
                found.push(Violation::new(Rule::HostPorts, sentence));
            }
        }
    }
    found
}

fn shared_port<'a>(one: &'a PodShape, other: &PodShape) -> Option<&'a HostPort> {
    one.host_ports.iter().find(|mine| other.host_ports.iter().any(|theirs| mine.clashes(theirs)))
}
