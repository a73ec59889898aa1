//! What a plan says about the EC2NodeClasses it was made with, and what it cannot know of them.

use std::collections::BTreeSet;

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_model::instance_type::InstanceType;
use kerf_model::resources::{CPU, MEMORY};

/// The type whose share for pods is told, where it is offered: everybody knows it.
const EXAMPLE: &str = "m5.large";

/// A line about what a class was taken for, and one about what AWS alone could tell.
pub(super) fn of(name: &str, class: &EC2NodeClass, types: &[InstanceType]) -> Vec<String> {
    let family = class.spec.resolved_ami_family();
    let family = family.map_or("an image of unknown family", |family| family.name());
    let mut told = format!("EC2NodeClass {name}: {family}");
    if has_zones(class) {
        told = format!("{told}, {}", zones(class));
    }
    if let Some(left) = left_for_pods(types) {
        told = format!("{told}; {left}");
    }
    let unknown = unknown(class);
    let unknown = (!unknown.is_empty())
        .then(|| format!("EC2NodeClass {name}: only AWS can tell {}", unknown.join(", ")));
    let problem = kerf_aws::catalogue::expression_problem(class);
    let problem = problem.map(|problem| format!("EC2NodeClass {name}: {problem}"));
    [told].into_iter().chain(unknown).chain(problem).collect()
}

/// Whether its status says which zones its subnets are in.
pub(super) fn has_zones(class: &EC2NodeClass) -> bool {
    class.status.iter().filter_map(|status| status.subnets.as_ref()).flatten().next().is_some()
}

/// The zones of the subnets in its status.
fn zones(class: &EC2NodeClass) -> String {
    let subnets = class.status.iter().filter_map(|status| status.subnets.as_ref()).flatten();
    let zones: BTreeSet<&str> = subnets.map(|subnet| subnet.zone.as_str()).collect();
    let plural = if zones.len() == 1 { "zone" } else { "zones" };
    format!("{plural} {}", zones.into_iter().collect::<Vec<_>>().join(", "))
}

/// What is left of a type once the system has its share.
fn left_for_pods(types: &[InstanceType]) -> Option<String> {
    let it = types.iter().find(|it| it.name == EXAMPLE).or_else(|| types.first())?;
    let (all, left) = (&it.capacity, it.allocatable());
    let of = |resource: &str| format!("{} of {}", left.quantity(resource), all.quantity(resource));
    Some(format!("pods get {} CPUs and {} memory of {}", of(CPU), of(MEMORY), it.name))
}

/// What the class asks for that manifests do not answer.
fn unknown(class: &EC2NodeClass) -> Vec<&'static str> {
    let (spec, status) = (&class.spec, class.status.as_ref());
    let has_alias = spec.ami_selector_terms.iter().any(|term| term.alias.is_some());
    let knows_images = status.is_some_and(|status| status.amis.is_some());
    let lacks = [
        (!has_alias && !knows_images, "for which architectures its images are"),
        (
            spec.capacity_reservation_selector_terms.as_ref().is_some_and(|it| !it.is_empty()),
            "what is left of its capacity reservations",
        ),
        (spec.placement_group_selector.is_some(), "whether its placement group has room"),
    ];
    lacks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect()
}
