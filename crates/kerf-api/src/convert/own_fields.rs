//! Fields that only Kerf's own kinds have.

use kerf_model::duration::NillableDuration;
use kerf_model::quantity::Quantity;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::resources::ResourceList;

use crate::reader::{Reader, all};
use crate::schema::quantity as api;
use crate::schema::requirement::Requirement;

impl Reader {
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
}
