//! Why a pod found no place, nearest cause first.

use kerf_model::min_values::review_min_values;
use kerf_model::taint::untolerated;

use crate::problem::MinValuesPolicy;
use crate::reading::instance_type::{PoolInstanceType, Template};
use crate::solving::solver::Solver;
use crate::units;

impl Solver<'_> {
    /// The nearest reason why pods of a class found no place.
    pub(crate) fn why_not(&self, class: usize, variant: usize) -> String {
        let shape = &self.base.classes[class].shape;
        if shape.has_resource_claims {
            return "it asks for devices through resource claims (DRA), which are not supported; \
                    use extended resources such as nvidia.com/gpu"
                .to_owned();
        }
        if self.base.classes[class].variants.is_empty() {
            return "its node affinity or its volumes contradict themselves, so no node can satisfy \
                    them"
                .to_owned();
        }
        if self.base.instance_types.templates.is_empty() {
            return "no dynamic pool is ready; create a NodePool".to_owned();
        }
        let reasons: Vec<String> = self
            .base
            .instance_types
            .templates
            .iter()
            .map(|template| {
                let name = &self.base.problem.pools[template.pool].pool.name;
                format!("pool {name:?}: {}", self.why_not_in(template, class, variant))
            })
            .collect();
        reasons.join("; ")
    }

    fn why_not_in(&self, template: &Template, class: usize, variant: usize) -> String {
        let class = &self.base.classes[class];
        let variant = &class.variants[variant];
        if !template.taints.is_subset(&variant.tolerated) {
            let taints = &self.base.problem.pools[template.pool].pool.template.spec.taints;
            let untolerated = untolerated(taints, &class.shape.tolerations).next();
            return untolerated.map_or_else(
                || "it does not tolerate its taints".to_owned(),
                |taint| format!("it does not tolerate the taint {taint}"),
            );
        }
        let explained = template.requirements.explain(
            &variant.node,
            &self.base.well_known,
            &self.base.vocabulary,
        );
        if let Err(reason) = explained {
            return reason.to_string();
        }
        let mut both = template.requirements.clone();
        both.narrow(&variant.node, &self.base.vocabulary);
        let instance_types = &self.base.instance_types.all[template.instance_types.clone()];
        let allowed: Vec<_> = instance_types
            .iter()
            .filter(|instance_type| {
                instance_type.requirements.intersects(&both, &self.base.vocabulary)
            })
            .collect();
        if allowed.is_empty() {
            return "no instance type satisfies its requirements".to_owned();
        }
        let sellable: Vec<_> = allowed
            .into_iter()
            .filter(|instance_type| {
                instance_type.cheapest_offering(&both, &self.base.vocabulary).is_some()
            })
            .collect();
        if sellable.is_empty() {
            return "no offering of the instance types it could use is available".to_owned();
        }
        let fitting: Vec<_> = sellable
            .iter()
            .filter(|instance_type| units::fits(&class.requests, &instance_type.free))
            .collect();
        if fitting.is_empty() {
            return self.what_is_too_large(&class.requests, &sellable);
        }
        if !fitting.iter().any(|instance_type| self.state.allows(instance_type)) {
            return "the limits of the pool leave no room for a node that would hold it".to_owned();
        }
        let left = |instance_type: &PoolInstanceType| {
            instance_type
                .cheapest_left(&both, &self.state.reservations, &self.base.vocabulary)
                .is_some()
        };
        if !fitting.iter().any(|instance_type| left(instance_type)) {
            return "the reserved capacity it could use is taken; allow other capacity types or \
                    reserve more"
                .to_owned();
        }
        let types = fitting.iter().map(|instance_type| &instance_type.requirements);
        let strict = self.base.problem.settings.min_values == MinValuesPolicy::Strict;
        if strict && !review_min_values(&both, types).is_satisfied() {
            return "too few different instance types would hold it for the pool's minValues; lower \
                    minValues or set the min-values policy to BestEffort"
                .to_owned();
        }
        "its rules about other pods (spread, affinity, anti-affinity or host ports) leave no node \
         it could stand on"
            .to_owned()
    }

    /// The resource that no instance type has enough of.
    fn what_is_too_large(
        &self,
        requests: &units::Amounts,
        instance_types: &[&crate::reading::instance_type::PoolInstanceType],
    ) -> String {
        for (index, asked) in requests.iter().enumerate().filter(|(_, asked)| **asked > 0) {
            let most = instance_types
                .iter()
                .map(|instance_type| instance_type.free.get(index).copied().unwrap_or(0))
                .max()
                .unwrap_or(0);
            if *asked > most {
                let amounts = |amount: i64| {
                    let mut amounts = units::Amounts::new();
                    amounts.resize(index + 1, 0);
                    amounts[index] = amount.max(0);
                    let list = self.base.units.to_list(&amounts);
                    let name = self.base.units.name_at(index);
                    list.get(name).map_or_else(|| "0".to_owned(), |quantity| quantity.to_string())
                };
                let name = self.base.units.name_at(index);
                return format!(
                    "it asks for {name} {} and the largest node it could use has {} to give; ask \
                     for less or allow larger instance types",
                    amounts(*asked),
                    amounts(most)
                );
            }
        }
        "no instance type has enough of everything it asks for at once".to_owned()
    }
}
