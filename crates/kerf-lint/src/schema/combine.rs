//! `allOf`, `anyOf`, `oneOf` and `not`.

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::schema::Schema;
use crate::schema::check::check as check_against;
use crate::violation::{Rule, RuleViolation};

pub(super) fn check(
    schema: &Schema,
    value: &Value,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    any_of(schema, value, path, out);
    one_of(schema, value, path, out);
    for part in &schema.all_of {
        check_against(part, value, path, out);
    }
    if let Some(refused) = &schema.not
        && problems_of(refused, value, path).is_empty()
    {
        let message = "this has the very form the schema rules out";
        out.push(RuleViolation::new(path, Rule::named("not"), message));
    }
}

fn any_of(schema: &Schema, value: &Value, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let tried: Vec<_> = schema.any_of.iter().map(|part| problems_of(part, value, path)).collect();
    if tried.is_empty() || tried.iter().any(Vec::is_empty) {
        return;
    }
    let message = format!("this fits none of the {} forms allowed", tried.len());
    out.push(RuleViolation::new(path, Rule::named("anyOf"), message));
    out.extend(nearest_miss(tried));
}

fn one_of(schema: &Schema, value: &Value, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let tried: Vec<_> = schema.one_of.iter().map(|part| problems_of(part, value, path)).collect();
    let fitting = tried.iter().filter(|problems| problems.is_empty()).count();
    if tried.is_empty() || fitting == 1 {
        return;
    }
    let message = match fitting {
        0 => format!("this fits none of the {} forms allowed", tried.len()),
        _ => format!("this fits {fitting} of the forms at once; exactly one is allowed"),
    };
    out.push(RuleViolation::new(path, Rule::named("oneOf"), message));
    if fitting == 0 {
        out.extend(nearest_miss(tried));
    }
}

fn problems_of(part: &Schema, value: &Value, path: &FieldPath) -> Vec<RuleViolation> {
    let mut problems = Vec::new();
    check_against(part, value, path, &mut problems);
    problems
}

/// The problems of the form that fits best, which is the one the author most likely meant.
fn nearest_miss(tried: Vec<Vec<RuleViolation>>) -> Vec<RuleViolation> {
    tried.into_iter().min_by_key(Vec::len).unwrap_or_default()
}
