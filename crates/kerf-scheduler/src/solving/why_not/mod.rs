//! Why a pod found no place: the one constraint that fails in the pool that came nearest, what that
//! pool has instead, and the smallest change that helps. Made for pods that failed only.
//!
//! ```text
//!  pod × each pool ─ misses ─► the pool with the least in the way ─► text of its first miss
//! ```

mod contradiction;
mod labels;
mod limits;
mod miss;
mod neighbours;
mod phrase;
mod room;
mod stock;

use kerf_model::requirement::{Requirement, RequirementEntry};
use kerf_model::vocabulary::Vocabulary;

use crate::reading::class::{Class, Variant};
use crate::reading::instance_type::Template;
use crate::solving::solver::Solver;

/// A pod without a place, measured against one pool.
#[derive(Clone, Copy)]
struct Measured<'a> {
    solver: &'a Solver<'a>,
    class: &'a Class,
    variant: &'a Variant,
    template: &'a Template,
    /// The place of the template among all.
    place: usize,
}

impl Solver<'_> {
    /// The nearest reason why pods of a class found no place.
    pub(crate) fn why_not(&self, class: usize, variant: usize) -> String {
        let class = &self.base.classes[class];
        if class.shape.has_resource_claims {
            return "the pod asks for devices through resource claims (DRA), which are not \
                    supported; use extended resources such as nvidia.com/gpu"
                .to_owned();
        }
        let Some(variant) = class.variants.get(variant) else {
            return contradiction::text(class);
        };
        let templates = self.base.instance_types.templates.iter().enumerate();
        let measured = templates.map(|(place, template)| {
            let measured = Measured { solver: self, class, variant, template, place };
            (measured, measured.misses())
        });
        let nearest = measured.min_by_key(|(measured, misses)| miss::distance(measured, misses));
        match nearest {
            Some((measured, misses)) => measured.text(&misses),
            None => "no NodePool is there that makes nodes for pods; create one, or see why none \
                     is Ready with kubectl get nodepools"
                .to_owned(),
        }
    }
}

impl<'a> Measured<'a> {
    fn vocabulary(&self) -> &'a Vocabulary {
        &self.solver.base.vocabulary
    }

    fn pool_name(&self) -> &'a str {
        &self.solver.base.problem.pools[self.template.pool].pool.name
    }
}

/// Whether one of the values that a type or offering lists for a key is allowed.
fn admits(wanted: &Requirement, listed: &RequirementEntry, vocabulary: &Vocabulary) -> bool {
    listed.operator != kerf_model::requirement::Operator::In
        || listed.values.iter().any(|value| wanted.has_text(value, vocabulary))
}
