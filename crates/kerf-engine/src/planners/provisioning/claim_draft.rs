//! From a node the solver wants to the claim that asks for it.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::claim::NodeClaim;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::labels::annotation::{
    CAPACITY_OVERLAY_APPLIED, MIN_VALUES_RELAXED, PRICE_OVERLAY_APPLIED,
};
use kerf_model::labels::well_known::{CAPACITY_TYPE, HOSTNAME, NODE_POOL, RESERVED};
use kerf_model::node_spec::NodeSpec;
use kerf_model::requirement::{Choice, Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::resources::ResourceList;
use kerf_model::vocabulary::Vocabulary;
use kerf_scheduler::NewNode;

use crate::action::NewClaim;
use crate::observed::{Name, Pool};
use crate::planners::template_hash::TemplateHash;
use crate::settings::Settings;
use crate::world::World;
use crate::world::instance_types::Overlaid;

/// The claim for a node of this pool, made of these instances.
pub(super) fn draft(
    node: &NewNode,
    pool: &Pool,
    instances: &[InstanceType],
    name: &Name,
    settings: &Settings,
) -> NewClaim {
    let template = &pool.spec.template;
    let requirements = requirements(node, instances);
    let labels = labels(&requirements, pool, &settings.scheduler.label_rules);
    let mut annotations = template.annotations.clone();
    let relaxed = node.min_values_relaxed.to_string();
    annotations.extend(TemplateHash::of_pool(pool).annotations());
    annotations.insert(MIN_VALUES_RELAXED.to_owned(), relaxed);
    let grace = template.spec.termination_grace.or(settings.provider.termination_grace_default);
    let spec = NodeSpec { requirements, termination_grace: grace, ..template.spec.clone() };
    let name = name.to_string();
    let spec = NodeClaim { name, labels, annotations, node: spec, requests: node.requests.clone() };
    NewClaim { spec, pool: (pool.meta.name.clone(), pool.meta.uid.clone()) }
}

/// The claim for a node of a static pool: the template and nothing else. The provider chooses among
/// the instance types that the pool allows.
pub(in crate::planners) fn from_template(
    pool: &Pool,
    name: &Name,
    settings: &Settings,
) -> NewClaim {
    let template = &pool.spec.template;
    let labels = labels(&template.spec.requirements, pool, &settings.scheduler.label_rules);
    let mut annotations = template.annotations.clone();
    annotations.extend(TemplateHash::of_pool(pool).annotations());
    let grace = template.spec.termination_grace.or(settings.provider.termination_grace_default);
    let node = NodeSpec { termination_grace: grace, ..template.spec.clone() };
    let (name, requests) = (name.to_string(), ResourceList::new());
    let spec = NodeClaim { name, labels, annotations, node, requests };
    NewClaim { spec, pool: (pool.meta.name.clone(), pool.meta.uid.clone()) }
}

/// Marks a claim that may be launched as a type whose price or capacity an overlay changed.
pub(super) fn mark_overlaid(claim: &mut NewClaim, node: &NewNode, world: &World) {
    for option in &node.options {
        let Overlaid { price, capacity } = world.overlaid(&claim.pool.0, option.instance_type);
        let marks = [(price, PRICE_OVERLAY_APPLIED), (capacity, CAPACITY_OVERLAY_APPLIED)];
        for (_, key) in marks.into_iter().filter(|(is_changed, _)| *is_changed) {
            claim.spec.annotations.insert(key.to_owned(), "true".to_owned());
        }
    }
}

/// What the node must be: as the solver says, with the ways it can be bought. The host name is the
/// solver's own business.
fn requirements(node: &NewNode, instances: &[InstanceType]) -> Vec<RequirementEntry> {
    let chosen: Vec<&InstanceType> =
        node.options.iter().filter_map(|option| instances.get(option.instance_type)).collect();
    let ways = capacity_types(node, &chosen);
    let mut entries: Vec<RequirementEntry> = Vec::with_capacity(node.requirements.len() + 1);
    for entry in &node.requirements {
        let is_open_way = entry.key == CAPACITY_TYPE && !ways.is_empty();
        if entry.key != HOSTNAME && !is_open_way {
            entries.push(entry.clone());
        }
    }
    if !ways.is_empty() {
        let asked = node.requirements.iter().find(|entry| entry.key == CAPACITY_TYPE);
        let mut entry = RequirementEntry::new(CAPACITY_TYPE, Operator::In, ways);
        entry.min_values = asked.and_then(|asked| asked.min_values);
        entries.push(entry);
    }
    if node.min_values_relaxed {
        entries.iter_mut().for_each(|entry| lower_min_values(entry, &chosen));
    }
    entries.sort_by(|left, right| left.key.cmp(&right.key));
    entries
}

/// The capacity types the chosen instances can be bought by. Reserved capacity is only for claims
/// that the solver bound to a reservation: any other would take what is held for those.
fn capacity_types<'a>(node: &NewNode, chosen: &[&'a InstanceType]) -> BTreeSet<&'a str> {
    let mut types = BTreeSet::new();
    let is_bound = |entry: &RequirementEntry| {
        entry.key == CAPACITY_TYPE && entry.operator == Operator::In && entry.values == [RESERVED]
    };
    let is_bound = node.requirements.iter().any(is_bound);
    for offering in chosen.iter().flat_map(|instance| instance.offerings.iter()) {
        let admitted = |entry: &RequirementEntry| {
            entry.values.iter().any(|value| admits(&node.requirements, &entry.key, value))
        };
        let may_use = offering.is_launchable() && (is_bound || offering.reservation.is_none());
        if may_use && offering.requirements.iter().all(admitted) {
            let way = offering.requirements.iter().find(|entry| entry.key == CAPACITY_TYPE);
            types.extend(way.into_iter().flat_map(|entry| &entry.values).map(String::as_str));
        }
    }
    types
}

/// Whether a label value satisfies every entry on its key. Offerings are told apart by plain words
/// (zone, capacity type, reservation), so entries about numbers do not exclude any.
fn admits(entries: &[RequirementEntry], key: &str, value: &str) -> bool {
    let listed = |entry: &RequirementEntry| entry.values.iter().any(|each| each == value);
    entries.iter().filter(|entry| entry.key == key).all(|entry| match entry.operator {
        Operator::In => listed(entry),
        Operator::NotIn => !listed(entry),
        Operator::DoesNotExist => false,
        _ => true,
    })
}

/// Lowers `minValues` to what the chosen instances offer.
fn lower_min_values(entry: &mut RequirementEntry, chosen: &[&InstanceType]) {
    let Some(wanted) = entry.min_values else { return };
    let own = chosen.iter().flat_map(|instance| instance.requirements.iter());
    let own = own.filter(|own| own.key == entry.key && own.operator == Operator::In);
    let distinct: BTreeSet<&String> = own.flat_map(|own| &own.values).collect();
    let achieved = u32::try_from(distinct.len()).unwrap_or(u32::MAX);
    entry.min_values = Some(wanted.min(achieved)).filter(|achieved| *achieved > 0);
}

/// The labels of the claim: the template's, the pool's and node class's names, and one value for
/// each key that instance types say nothing about.
fn labels(
    requirements: &[RequirementEntry],
    pool: &Pool,
    rules: &LabelRules,
) -> BTreeMap<String, String> {
    let template = &pool.spec.template;
    let mut labels = template.labels.clone();
    let mut words = Vocabulary::new();
    let own = requirements.iter().filter(|entry| !rules.is_well_known(&entry.key));
    if let Ok(own) = Requirements::from_entries(own, rules.normalization(), &mut words) {
        for requirement in own.iter() {
            let choice = requirement.any(0, &words);
            if choice != Choice::Nothing {
                let key = words.key_text(requirement.key()).to_owned();
                labels.insert(key, choice.text(requirement.key(), &words));
            }
        }
    }
    let class = &template.spec.node_class;
    labels.insert(NODE_POOL.to_owned(), pool.spec.name.clone());
    labels.insert(format!("{}/{}", class.group, class.kind.to_lowercase()), class.name.clone());
    labels
}
