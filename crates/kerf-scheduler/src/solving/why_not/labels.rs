//! Labels that the nearest pool does not allow or define.

use std::collections::BTreeSet;

use kerf_model::nearest::nearest;
use kerf_model::requirement::{Operator, Requirement};
use kerf_model::vocabulary::KeyId;

use super::{Measured, phrase};

impl<'a> Measured<'a> {
    /// What the pod asks of a label that the pool does not allow or define.
    pub(super) fn label_text(&self, key: KeyId) -> String {
        let vocabulary = self.vocabulary();
        let Some(wanted) = self.variant.node.find(key) else { return String::new() };
        let (name, text) = (self.pool_name(), vocabulary.key_text(key));
        match self.template.requirements.find(key) {
            _ if key == KeyId::HOSTNAME => format!(
                "the pod asks for {} by its name, which a new node cannot have; remove {text} \
                 from its node selector or affinity",
                phrase::asked(wanted, vocabulary)
            ),
            _ if key == KeyId::NODE_POOL => self.other_pool_text(wanted),
            None => self.undefined_text(wanted),
            Some(_) if self.does_not_exist(wanted) => self.missing_text(wanted),
            Some(own) if self.is_label_of_pool(text) => format!(
                "{} and NodePool {name} sets it to {}; change the pod, or add a NodePool for it",
                self.need(wanted),
                phrase::allowed(own, vocabulary)
            ),
            Some(own) => {
                let allowed = phrase::allowed(own, vocabulary);
                let noun = match phrase::noun(text) {
                    Some(_) => "",
                    None => "it to be ",
                };
                format!(
                    "{} and NodePool {name} allows {noun}{allowed}; {}",
                    self.need(wanted),
                    self.widen(wanted)
                )
            }
        }
    }

    /// What to change in the pool so that it allows what the pod asks for.
    fn widen(&self, wanted: &Requirement) -> String {
        let vocabulary = self.vocabulary();
        let text = vocabulary.key_text(wanted.key());
        let values = vocabulary.sorted_texts(wanted.key(), wanted.values());
        let existing = self.existing(text);
        let known = |value: &&&str| existing.is_empty() || existing.contains(**value);
        match values.iter().find(known) {
            Some(value) if wanted.operator() == Operator::In => {
                format!("add {value} to its requirement {text}")
            }
            _ => format!("change its requirement {text}, or the pod"),
        }
    }

    /// Who needs what: the pod, or a volume of it.
    pub(super) fn need(&self, wanted: &Requirement) -> String {
        let vocabulary = self.vocabulary();
        let asked = phrase::asked(wanted, vocabulary);
        match self.volume_behind(wanted) {
            Some(claim) => format!("the volume {claim} is in {asked}"),
            None => format!("the pod needs {asked}"),
        }
    }

    /// The claim of a volume that asks for a label which the pod itself does not ask for.
    fn volume_behind(&self, wanted: &Requirement) -> Option<&'a str> {
        let by_pod = self.variant.strict.find(wanted.key());
        if by_pod.is_some_and(|own| own == wanted) {
            return None;
        }
        let rules = &self.solver.base.problem.settings.label_rules;
        let text = self.vocabulary().key_text(wanted.key());
        let speaks = |terms: &Vec<Vec<kerf_model::requirement::RequirementEntry>>| {
            terms.iter().flatten().any(|entry| rules.normalization().key(&entry.key) == text)
        };
        let mut volumes = self.class.shape.volumes.iter();
        let volume = volumes.find(|volume| speaks(&volume.reachable_from))?;
        Some(volume.claim.split_once('/').map_or(volume.claim.as_str(), |(_, name)| name))
    }

    fn is_label_of_pool(&self, key: &str) -> bool {
        let pool = &self.solver.base.problem.pools[self.template.pool].pool;
        pool.template.labels.contains_key(key)
    }

    /// The pod asks for another pool by name.
    fn other_pool_text(&self, wanted: &Requirement) -> String {
        let vocabulary = self.vocabulary();
        let asked = vocabulary.sorted_texts(wanted.key(), wanted.values());
        let pools = self.solver.base.problem.pools.iter().map(|it| it.pool.name.as_str());
        match asked.first() {
            Some(name) if wanted.operator() == Operator::In => {
                let near = nearest(name, pools.clone());
                let there = match near {
                    Some(near) => format!("the nearest is {near}"),
                    None => {
                        let names: Vec<&str> = pools.collect();
                        format!("there is {}", phrase::listed(&names, "and"))
                    }
                };
                format!(
                    "the pod asks for NodePool {name}, which is not there or not ready; {there}"
                )
            }
            _ => format!(
                "the pod rules NodePool {} out by its node selector or affinity; change them, or \
                 add another NodePool",
                self.pool_name()
            ),
        }
    }

    /// The pool says nothing of a label, and nodes do not get it by themselves.
    fn undefined_text(&self, wanted: &Requirement) -> String {
        let vocabulary = self.vocabulary();
        let (name, text) = (self.pool_name(), vocabulary.key_text(wanted.key()));
        let asked = phrase::asked(wanted, vocabulary);
        if let Some(meant) = self.meant_key(text) {
            return format!("the pod needs {asked}, which no node has; write {meant}");
        }
        let values = vocabulary.sorted_texts(wanted.key(), wanted.values());
        let change = match (wanted.operator(), values.first()) {
            (Operator::In, Some(value)) => format!("{text}: {value}"),
            _ => text.to_owned(),
        };
        format!(
            "the pod needs {asked} and NodePool {name} does not set it; add {change} to its \
             spec.template.metadata.labels"
        )
    }

    /// A label that nodes have and that was misspelt.
    fn meant_key(&self, written: &str) -> Option<&'a str> {
        let base = self.solver.base;
        let known = base.well_known.iter().map(|key| base.vocabulary.key_text(key));
        let templates = base.instance_types.templates.iter();
        let set = templates.flat_map(|it| it.requirements.iter().map(|own| own.key()));
        let set = set.map(|key| base.vocabulary.key_text(key));
        let known: BTreeSet<&str> = known.chain(set).filter(|key| *key != written).collect();
        let part = |key: &'a str| key.rsplit('/').next().unwrap_or(key);
        if let Some(same) = known.iter().find(|key| part(key) == written) {
            return Some(same);
        }
        // Names of one letter more or less only: `team` is not a slip of `tier`.
        nearest(written, known.into_iter()).filter(|near| near.len() > 8 && written.len() > 8)
    }

    /// Whether none of the values a pod asks for exists among the instance types of any pool.
    pub(super) fn does_not_exist(&self, wanted: &Requirement) -> bool {
        let vocabulary = self.vocabulary();
        if wanted.operator() != Operator::In || !wanted.bounds().is_open() {
            return false;
        }
        let existing = self.existing(vocabulary.key_text(wanted.key()));
        let values = vocabulary.sorted_texts(wanted.key(), wanted.values());
        !existing.is_empty() && !values.iter().any(|value| existing.contains(value))
    }

    /// Says that a value does not exist, and which does.
    pub(super) fn missing_text(&self, wanted: &Requirement) -> String {
        let vocabulary = self.vocabulary();
        let text = vocabulary.key_text(wanted.key());
        let existing = self.existing(text);
        let values = vocabulary.sorted_texts(wanted.key(), wanted.values());
        let what = match phrase::noun(text) {
            Some(noun) => format!("{noun} {}", phrase::listed(&values, "or")),
            None => format!("{text} of {}", phrase::listed(&values, "or")),
        };
        let near = values.first().and_then(|value| nearest(value, existing.iter().copied()));
        let there = match near {
            Some(near) => format!("the nearest is {near}"),
            None => {
                let all: Vec<&str> = existing.into_iter().collect();
                let verb = if all.len() == 1 { "is" } else { "are" };
                format!("there {verb} {}", phrase::listed(&all, "and"))
            }
        };
        let whose = match self.volume_behind(wanted) {
            Some(claim) => format!("the volume {claim} is in {what}, which does not exist here"),
            None => format!("there is no {what}"),
        };
        format!("{whose}; {there}")
    }

    /// Every value that instance types and offerings of any pool have for a label.
    pub(super) fn existing(&self, key: &str) -> BTreeSet<&'a str> {
        let mut existing = BTreeSet::new();
        for pool in &self.solver.base.problem.pools {
            for instance_type in pool.instance_types.iter() {
                let offerings =
                    instance_type.offerings.iter().flat_map(|it| it.requirements.iter());
                let entries = instance_type.requirements.iter().chain(offerings);
                let entries = entries.filter(|it| it.operator == Operator::In && it.key == key);
                existing.extend(entries.flat_map(|it| it.values.iter().map(String::as_str)));
            }
        }
        existing
    }
}
