//! Requirement entries.

use kerf_model::labels::LabelRules;
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::field_error::FieldError;
use crate::schema::requirement::Requirement;

/// Notes everything wrong with one entry.
pub(super) fn validate_requirement(
    requirement: &Requirement,
    path: &str,
    rules: &LabelRules,
    problems: &mut Vec<FieldError>,
) {
    let operator: Operator = match requirement.operator.parse() {
        Ok(operator) => operator,
        Err(error) => {
            problems.push(FieldError::new(format!("{path}.operator"), error));
            return;
        }
    };
    let entry = RequirementEntry {
        key: requirement.key.clone(),
        operator,
        values: requirement.values.clone().unwrap_or_default(),
        min_values: requirement.min_values.and_then(|number| u32::try_from(number).ok()),
    };
    let review = entry.check(rules);
    problems.extend(review.problems.iter().map(|problem| FieldError::new(path, problem)));
}
