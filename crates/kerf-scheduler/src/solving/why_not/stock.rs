//! What the nearest pool can be made of, where that is not what the pod asks for.

use std::collections::BTreeSet;

use kerf_model::instance_type::InstanceType;
use kerf_model::requirement::{Operator, Requirement};
use kerf_model::vocabulary::KeyId;

use super::{Measured, admits, phrase};

/// An instance type that would do, and how its pool rules it out.
pub(super) struct Exclusion<'a> {
    pub(super) instance_type: &'a str,
    /// Follows "which".
    pub(super) ruled_out: String,
}

impl<'a> Measured<'a> {
    /// No instance type has what the pod asks of these labels together.
    pub(super) fn types_text(&self, keys: &[KeyId]) -> String {
        let name = self.pool_name();
        let wanted: Vec<&Requirement> =
            keys.iter().filter_map(|key| self.variant.node.find(*key)).collect();
        match wanted.as_slice() {
            [] => self.no_type_text(),
            [one] if self.does_not_exist(one) => self.missing_text(one),
            [one] => self.one_label_text(one),
            several => {
                let asked = several.iter().map(|it| phrase::asked(it, self.vocabulary()));
                let asked: Vec<String> = asked.collect();
                let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
                format!(
                    "the pod needs {} together, which no instance type of NodePool {name} has; \
                     drop one of them",
                    phrase::listed(&asked, "and")
                )
            }
        }
    }

    /// The pool has no instance type at all.
    fn no_type_text(&self) -> String {
        let name = self.pool_name();
        let own = self.template.requirements.iter();
        let wrong =
            own.filter(|it| it.key() != KeyId::NODE_POOL).find(|it| self.does_not_exist(it));
        match wrong {
            Some(wrong) => {
                let text = self.vocabulary().key_text(wrong.key());
                let missing = self.missing_text(wrong);
                format!("NodePool {name} has no instance type: {missing} (requirement {text})")
            }
            None => format!(
                "NodePool {name} has no instance type that can be bought now: its requirements \
                 rule out all of them, or they are sold out"
            ),
        }
    }

    /// A label that some instance types have, and none of this pool.
    fn one_label_text(&self, wanted: &Requirement) -> String {
        let name = self.pool_name();
        let has_it = |it: &InstanceType| self.type_admits(it, wanted);
        if let Some(exclusion) = self.exclusion(has_it) {
            let Exclusion { ruled_out, .. } = exclusion;
            return format!("{}, which {ruled_out}", self.need(wanted));
        }
        let text = self.vocabulary().key_text(wanted.key());
        let values = self.values_in_pool(text);
        let values: Vec<&str> = values.into_iter().collect();
        let noun = phrase::noun(text).map_or_else(|| "values".to_owned(), |_| phrase::nouns(text));
        format!(
            "{} and the {noun} of NodePool {name} are {}; change the pod, or add a NodePool for it",
            self.need(wanted),
            phrase::listed(&values, "and")
        )
    }

    /// No instance type it could use is sold that way.
    pub(super) fn offerings_text(&self, keys: &[KeyId]) -> String {
        let name = self.pool_name();
        let wanted = keys.iter().filter_map(|key| self.variant.node.find(*key));
        let wanted: Vec<&Requirement> = wanted.collect();
        if let [one] = wanted.as_slice()
            && self.does_not_exist(one)
        {
            return self.missing_text(one);
        }
        let asked = wanted.iter().map(|it| phrase::asked(it, self.vocabulary()));
        let asked: Vec<String> = asked.collect();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let asked = phrase::listed(&asked, "and");
        if self.is_sold_out() {
            return format!(
                "the instance types of NodePool {name} that the pod could use are sold out for \
                 {asked}; allow other types, zones or capacity types, or wait"
            );
        }
        let key = keys.last().map_or("", |key| self.vocabulary().key_text(*key));
        let sold: BTreeSet<&str> = self.values_in_pool(key);
        let sold: Vec<&str> = sold.into_iter().collect();
        format!(
            "the instance types of NodePool {name} that the pod could use are not sold with \
             {asked}; there {} {}",
            if sold.len() == 1 { "is" } else { "are" },
            phrase::listed(&sold, "and")
        )
    }

    /// Whether offerings would do that are out of stock.
    fn is_sold_out(&self) -> bool {
        let pool = &self.solver.base.problem.pools[self.template.pool];
        let node = self.with_pool(&self.variant.node);
        pool.instance_types.iter().filter(|it| self.exclusions(it).is_empty()).any(|it| {
            it.offerings.iter().filter(|offering| !offering.available).any(|offering| {
                offering.requirements.iter().all(|entry| {
                    let key = self.vocabulary().find_key(&entry.key);
                    let own = key.and_then(|key| node.find(key));
                    own.is_none_or(|own| admits(own, entry, self.vocabulary()))
                })
            })
        })
    }

    /// The values that the pool's own instance types and offerings have for a label.
    fn values_in_pool(&self, key: &str) -> BTreeSet<&'a str> {
        let vocabulary = self.vocabulary();
        let Some(id) = vocabulary.find_key(key) else { return BTreeSet::new() };
        let own = self.template.requirements.find(id);
        let values = self.types().iter().flat_map(|it| it.domains(id, vocabulary));
        let values = values.filter(|value| own.is_none_or(|own| own.has(*value, vocabulary)));
        values.map(|value| vocabulary.value_text(id, value)).collect()
    }

    /// How the pool rules out the instance types that would do, and what to change; of several the
    /// one with the least to change.
    pub(super) fn exclusion(
        &self,
        would_do: impl Fn(&InstanceType) -> bool,
    ) -> Option<Exclusion<'a>> {
        let pool = &self.solver.base.problem.pools[self.template.pool];
        let types = pool.instance_types.iter().filter(|it| would_do(it));
        let with = types.map(|it| (it, self.exclusions(it)));
        let price = |it: &InstanceType| it.offerings.iter().map(|offering| offering.price).min();
        let (instance_type, keys) = with
            .filter(|(_, keys)| !keys.is_empty())
            .min_by_key(|(it, keys)| (keys.len(), price(it), it.name.clone()))?;
        let own = self.template.requirements.find(keys[0])?;
        let text = self.vocabulary().key_text(keys[0]);
        let value = value_of(instance_type, text);
        let allowed = phrase::allowed(own, self.vocabulary());
        let change = match value {
            Some(value) if own.operator() == Operator::In => format!("add {value} to it"),
            _ => format!("let it allow {}", value.unwrap_or("more")),
        };
        let name = self.pool_name();
        Some(Exclusion {
            instance_type: &instance_type.name,
            ruled_out: format!(
                "NodePool {name} rules out by its requirement {text} ({allowed}); {change}"
            ),
        })
    }

    /// The pool's own requirements that an instance type does not meet.
    fn exclusions(&self, instance_type: &InstanceType) -> Vec<KeyId> {
        let own = self.template.requirements.iter();
        let excludes = |own: &&Requirement| {
            let text = self.vocabulary().key_text(own.key());
            let entry = instance_type.requirements.iter().find(|entry| entry.key == text);
            entry.is_some_and(|entry| !admits(own, entry, self.vocabulary()))
        };
        own.filter(excludes).map(|own| own.key()).collect()
    }

    /// Whether an instance type has what is asked of one label.
    pub(super) fn type_admits(&self, instance_type: &InstanceType, wanted: &Requirement) -> bool {
        let text = self.vocabulary().key_text(wanted.key());
        let entry = instance_type.requirements.iter().find(|entry| entry.key == text);
        entry.is_some_and(|entry| admits(wanted, entry, self.vocabulary()))
    }
}

fn value_of<'t>(instance_type: &'t InstanceType, key: &str) -> Option<&'t str> {
    let entry = instance_type.requirements.iter().find(|entry| entry.key == key)?;
    entry.values.first().map(String::as_str)
}
