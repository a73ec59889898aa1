//! Fields that objects of the cluster have and Kerf's own kinds do not.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
pub(crate) use kerf_api::reader::{Reader, all};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

/// What a [`Reader`] can read besides.
pub(crate) trait CoreFields {
    /// A number that must be at least one where it is given.
    fn positive(&mut self, field: &str, number: i32) -> Option<u32>;

    /// Resource names and quantities, none negative; absent means none.
    fn amounts(
        &mut self,
        field: &str,
        list: Option<&BTreeMap<String, ApiQuantity>>,
    ) -> Option<ResourceList>;

    /// The match expressions of a node selector term.
    fn expressions(
        &mut self,
        field: &str,
        list: Option<&Vec<core::NodeSelectorRequirement>>,
    ) -> Option<Vec<RequirementEntry>>;
}

impl CoreFields for Reader {
    fn positive(&mut self, field: &str, number: i32) -> Option<u32> {
        let positive = u32::try_from(number).ok().filter(|number| *number > 0);
        if positive.is_none() {
            self.refuse(field, format_args!("{number} is not a number from 1"));
        }
        positive
    }

    fn amounts(
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

    fn expressions(
        &mut self,
        field: &str,
        list: Option<&Vec<core::NodeSelectorRequirement>>,
    ) -> Option<Vec<RequirementEntry>> {
        let entries = list.into_iter().flatten().enumerate().map(|(index, expression)| {
            let core::NodeSelectorRequirement { key, operator, values } = expression;
            let field = format!("{field}[{index}].operator");
            let operator = node_operator(self, &field, operator)?;
            let values = values.clone().unwrap_or_default();
            Some(RequirementEntry { key: key.clone(), operator, values, min_values: None })
        });
        all(entries)
    }
}

/// Nodes are selected with six operators; pools know two more.
fn node_operator(reader: &mut Reader, field: &str, text: &str) -> Option<Operator> {
    let operator = text.parse().ok();
    let known = operator.filter(|operator| !matches!(operator, Operator::Gte | Operator::Lte));
    if known.is_none() {
        let known = "In, NotIn, Exists, DoesNotExist, Gt, Lt";
        reader.refuse(field, format_args!("{text:?} is not one of {known}"));
    }
    known
}
