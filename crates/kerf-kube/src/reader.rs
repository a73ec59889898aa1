//! Reading fields into the model, collecting what cannot be understood.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use kerf_api::Problem;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;
use kerf_model::taint::{Taint, TaintEffect};

/// Reads the fields of one object. What a method cannot read it notes, and answers `None`.
#[derive(Default)]
pub(crate) struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// The object, unless something of it could not be read.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Problem>> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => Err(self.problems),
        }
    }

    /// Notes a problem.
    pub(crate) fn refuse(&mut self, field: impl Into<String>, message: impl Display) {
        self.problems.push(Problem { field: field.into(), message: message.to_string() });
    }

    /// A field whose text has a grammar.
    pub(crate) fn parse<T: FromStr<Err: Display>>(&mut self, field: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error| self.refuse(field, error)).ok()
    }

    /// A number that must be at least one where it is given.
    pub(crate) fn positive(&mut self, field: &str, number: i32) -> Option<u32> {
        let positive = u32::try_from(number).ok().filter(|number| *number > 0);
        if positive.is_none() {
            self.refuse(field, format_args!("{number} is not a number from 1"));
        }
        positive
    }

    /// Resource names and quantities, none negative; absent means none.
    pub(crate) fn resources(
        &mut self,
        field: &str,
        list: Option<&BTreeMap<String, ApiQuantity>>,
    ) -> Option<ResourceList> {
        let entries = list.into_iter().flatten().map(|(name, ApiQuantity(text))| {
            let field = format!("{field}.{name}");
            let quantity: Quantity = self.parse(&field, text)?;
            if quantity.is_negative() {
                self.refuse(field, format_args!("{text:?} is less than nothing"));
                return None;
            }
            Some((name.as_str(), quantity))
        });
        all(entries)
    }

    /// The match expressions of a node selector term.
    pub(crate) fn expressions(
        &mut self,
        field: &str,
        list: Option<&Vec<core::NodeSelectorRequirement>>,
    ) -> Option<Vec<RequirementEntry>> {
        let entries = list.into_iter().flatten().enumerate().map(|(index, expression)| {
            let core::NodeSelectorRequirement { key, operator, values } = expression;
            let field = format!("{field}[{index}].operator");
            let operator = self.node_operator(&field, operator)?;
            let values = values.clone().unwrap_or_default();
            Some(RequirementEntry { key: key.clone(), operator, values, min_values: None })
        });
        all(entries)
    }

    /// Nodes are selected with six operators; pools know two more.
    fn node_operator(&mut self, field: &str, text: &str) -> Option<Operator> {
        let operator = text.parse().ok();
        let known = operator.filter(|operator| !matches!(operator, Operator::Gte | Operator::Lte));
        if known.is_none() {
            let known = "In, NotIn, Exists, DoesNotExist, Gt, Lt";
            self.refuse(field, format_args!("{text:?} is not one of {known}"));
        }
        known
    }

    /// Taints, in their order; absent means none.
    pub(crate) fn taints(
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

/// Everything, or nothing when one is missing. Looks at every entry, so that every problem is
/// noted.
pub(crate) fn all<T, C: FromIterator<T>>(entries: impl Iterator<Item = Option<T>>) -> Option<C> {
    let entries: Vec<Option<T>> = entries.collect();
    entries.into_iter().collect()
}
