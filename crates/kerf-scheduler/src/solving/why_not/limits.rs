//! A node would hold the pod, and may not be made: limits, reservations, `minValues`, other pods.

use kerf_model::min_values::{Shortfall, review_min_values};
use kerf_model::quantity::Quantity;
use kerf_model::resources::{NODES, human, human_noun};

use super::{Measured, phrase};
use crate::problem::MinValuesPolicy;
use crate::reading::instance_type::PoolInstanceType;

impl<'a> Measured<'a> {
    /// What others have taken, so that the pod cannot have it.
    pub(super) fn taken_text(&self) -> String {
        let Ok(fitting) = self.fitting(&self.variant.node) else { return String::new() };
        let state = &self.solver.state;
        let both = self.with_pool(&self.variant.node);
        if !fitting.iter().any(|it| state.allows(it)) {
            return self.limit_text(&fitting);
        }
        let is_left = |it: &&PoolInstanceType| {
            it.cheapest_left(&both, &state.reservations, self.vocabulary()).is_some()
        };
        if !fitting.iter().any(is_left) {
            return format!(
                "the capacity reservations of NodePool {} that the pod could use are full; allow \
                 other capacity types too, or reserve more",
                self.pool_name()
            );
        }
        let types = fitting.iter().map(|it| &it.requirements);
        let strict = self.solver.base.problem.settings.min_values == MinValuesPolicy::Strict;
        let review = review_min_values(&both, types);
        match review.shortfalls.first().filter(|_| strict) {
            Some(shortfall) => self.min_values_text(shortfall),
            None => self.neighbours_text(&fitting, &both),
        }
    }

    fn limit_text(&self, fitting: &[&PoolInstanceType]) -> String {
        let (name, place) = (self.pool_name(), self.place);
        let state = &self.solver.state;
        if state.nodes_left[place].is_some_and(|left| left <= 0) {
            let limit = self.template.nodes_max.unwrap_or(0);
            return format!(
                "NodePool {name} is at its limit of {}; raise spec.limits.nodes",
                human(NODES, Quantity::from_int(limit))
            );
        }
        let base = self.solver.base;
        let at = |it: &PoolInstanceType, index: usize| it.capacity.get(index).copied().unwrap_or(0);
        for (index, left) in &state.limits[place] {
            let least = fitting.iter().map(|it| at(it, *index)).min().unwrap_or(0);
            if least <= *left {
                continue;
            }
            let resource = base.units.name_at(*index);
            let said = |amount: i64| human(resource, base.units.quantity(*index, amount));
            let limits = self.template.limits.iter();
            let limit = limits.filter(|(it, _)| it == index).map(|(_, limit)| *limit).next();
            let limit = limit.unwrap_or(0);
            let used = limit - left;
            return format!(
                "NodePool {name} may have {}{} in all, {} are used or planned, and the smallest \
                 node that would hold the pod has {}; raise spec.limits.{resource} to {} or more",
                said(limit),
                human_noun(resource),
                said(used),
                said(least),
                base.units.quantity(*index, used.saturating_add(least))
            );
        }
        format!(
            "the limits of NodePool {name} leave no room for any node that would hold the pod; \
             raise spec.limits"
        )
    }

    fn min_values_text(&self, shortfall: &Shortfall) -> String {
        let key = self.vocabulary().key_text(shortfall.key);
        let Shortfall { wanted, achieved, .. } = shortfall;
        let noun = match (phrase::noun(key), *wanted) {
            (Some(noun), 1) => noun.to_owned(),
            _ => phrase::nouns(key),
        };
        format!(
            "NodePool {} wants {wanted} different {noun} to choose from (minValues) and {achieved} \
             would hold the pod; lower minValues to {achieved}, or set the min-values policy to \
             BestEffort",
            self.pool_name()
        )
    }
}
