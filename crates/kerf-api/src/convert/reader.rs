//! Reading fields into the model, collecting what cannot be understood.

use std::fmt::Display;
use std::str::FromStr;

use k8s_openapi::api::core::v1 as core;
use kerf_model::duration::NillableDuration;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_model::taint::{Taint, TaintEffect};

use crate::problem::Problem;
use crate::schema::quantity as api;
use crate::schema::requirement::Requirement;

/// Reads the fields of one object. What a method cannot read it notes, and answers `None`.
#[derive(Default)]
pub(super) struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The object, unless something of it could not be read.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }

    /// Notes a problem.
    pub(super) fn refuse(&mut self, field: &str, message: impl Display) {
        self.problems.push(Problem::new(field, message));
    }

    /// A field whose text has a grammar.
    pub(super) fn parse<T: FromStr<Err: Display>>(&mut self, field: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error| self.refuse(field, error)).ok()
    }

    /// A duration that may be `Never`; absent means the same.
    pub(super) fn nillable(&mut self, field: &str, text: Option<&str>) -> Option<NillableDuration> {
        self.parse(field, text.unwrap_or("Never"))
    }

    /// A number that cannot be negative.
    pub(super) fn count<T: TryFrom<i64>>(&mut self, field: &str, number: i64) -> Option<T> {
        let count = T::try_from(number).ok();
        if count.is_none() {
            self.refuse(field, format_args!("{number} is out of range"));
        }
        count
    }

    /// Resource names and quantities; absent means none.
    pub(super) fn resources(
        &mut self,
        field: &str,
        list: Option<&api::ResourceList>,
    ) -> Option<ResourceList> {
        let entries = list.into_iter().flatten().map(|(name, quantity)| {
            let quantity: Option<Quantity> =
                self.parse(&format!("{field}.{name}"), &quantity.text());
            Some((name.as_str(), quantity?))
        });
        all(entries)
    }

    /// Requirement entries, in their order.
    pub(super) fn requirements(
        &mut self,
        field: &str,
        list: &[Requirement],
    ) -> Option<Vec<RequirementEntry>> {
        let entries = list.iter().enumerate().map(|(index, requirement)| {
            let field = format!("{field}[{index}]");
            let operator: Option<Operator> =
                self.parse(&format!("{field}.operator"), &requirement.operator);
            let min_values = match requirement.min_values {
                None => Some(None),
                Some(number) => self.count(&format!("{field}.minValues"), number).map(Some),
            };
            Some(RequirementEntry {
                key: requirement.key.clone(),
                operator: operator?,
                values: requirement.values.clone().unwrap_or_default(),
                min_values: min_values?,
            })
        });
        all(entries)
    }

    /// Taints, in their order; absent means none.
    pub(super) fn taints(
        &mut self,
        field: &str,
        list: Option<&Vec<core::Taint>>,
    ) -> Option<Vec<Taint>> {
        let entries = list.into_iter().flatten().enumerate().map(|(index, taint)| {
            let effect: TaintEffect =
                self.parse(&format!("{field}[{index}].effect"), &taint.effect)?;
            Some(Taint::new(&taint.key, taint.value.as_deref().unwrap_or_default(), effect))
        });
        all(entries)
    }
}

/// Everything, or nothing when one is missing. Looks at every entry, so that every problem is noted.
fn all<T, C: FromIterator<T>>(entries: impl Iterator<Item = Option<T>>) -> Option<C> {
    let entries: Vec<Option<T>> = entries.collect();
    entries.into_iter().collect()
}
