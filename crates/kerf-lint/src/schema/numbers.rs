//! Ranges, `minimum`, `maximum` and `multipleOf`.
//!
//! The server holds bounds as floating point and truncates them to compare with whole numbers;
//! the same is done here so that the verdict is the same at the edges.

use serde_json::Number;

use crate::field_path::FieldPath;
use crate::schema::Schema;
use crate::violation::{Rule, RuleViolation};

/// Largest whole number a JSON number holds without loss: 2^53 - 1.
const JSON_WHOLE_MAX: f64 = 9_007_199_254_740_991.0;
/// How far from whole the server still calls whole.
const WHOLE_TOLERANCE: f64 = 1e-9;

pub(super) fn check(
    schema: &Schema,
    number: &Number,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    out.extend(range_problem(schema, number, path));
    out.extend(multiple_problem(schema, number, path));
    out.extend(minimum_problem(schema, number, path));
    out.extend(maximum_problem(schema, number, path));
}

/// Whether the server takes a floating-point value for a whole number.
pub(super) fn is_whole(value: Option<f64>) -> bool {
    let Some(value) = value.filter(|v| v.is_finite() && v.abs() <= JSON_WHOLE_MAX) else {
        return false;
    };
    let distance = (value - value.trunc()).abs();
    distance == 0.0 || distance / (value.abs() + value.trunc().abs()) < WHOLE_TOLERANCE
}

fn range_problem(schema: &Schema, number: &Number, path: &FieldPath) -> Option<RuleViolation> {
    if schema.int_or_string || schema.type_name.as_deref() != Some("integer") {
        return None;
    }
    let format = schema.format.as_deref().unwrap_or("int64");
    let whole = match number.as_i64() {
        Some(whole) => Some(whole),
        None => number.as_f64().filter(|v| v.fract() == 0.0 && v.abs() < 9.2e18).map(|v| v as i64),
    };
    let fits = whole.is_some_and(|whole| format != "int32" || i32::try_from(whole).is_ok());
    if fits {
        return None;
    }
    let (low, high) = match format {
        "int32" => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let message = format!("{number} is outside {low} to {high}");
    Some(RuleViolation::new(path, Rule::new("format", format), message))
}

fn multiple_problem(schema: &Schema, number: &Number, path: &FieldPath) -> Option<RuleViolation> {
    let factor = schema.bounds.multiple_of?;
    let fits = match number.as_i64() {
        Some(whole) => match factor.trunc() as i64 {
            factor if factor > 0 => whole % factor == 0,
            _ => false,
        },
        None => {
            let value = number.as_f64()?;
            let times = if factor < 1.0 { 1.0 / factor * value } else { value / factor };
            is_whole(Some(times))
        }
    };
    let message = format!("{number} is not a multiple of {factor}");
    (!fits).then(|| RuleViolation::new(path, Rule::new("multipleOf", factor), message))
}

fn minimum_problem(schema: &Schema, number: &Number, path: &FieldPath) -> Option<RuleViolation> {
    let bound = schema.bounds.minimum?;
    let exclusive = schema.bounds.exclusive_minimum;
    let fits = match number.as_i64() {
        Some(whole) if exclusive => whole > bound as i64,
        Some(whole) => whole >= bound as i64,
        None if exclusive => number.as_f64()? > bound,
        None => number.as_f64()? >= bound,
    };
    let needed = if exclusive { "must be more than" } else { "must be at least" };
    let message = format!("{number} is too small; it {needed} {bound}");
    let problem = RuleViolation::new(path, Rule::new("minimum", bound), message);
    (!fits).then(|| problem.instead((!exclusive).then(|| bound.to_string())))
}

fn maximum_problem(schema: &Schema, number: &Number, path: &FieldPath) -> Option<RuleViolation> {
    let bound = schema.bounds.maximum?;
    let exclusive = schema.bounds.exclusive_maximum;
    let fits = match number.as_i64() {
        Some(whole) if exclusive => whole < bound as i64,
        Some(whole) => whole <= bound as i64,
        None if exclusive => number.as_f64()? < bound,
        None => number.as_f64()? <= bound,
    };
    let needed = if exclusive { "must be less than" } else { "must be at most" };
    let message = format!("{number} is too large; it {needed} {bound}");
    let problem = RuleViolation::new(path, Rule::new("maximum", bound), message);
    (!fits).then(|| problem.instead((!exclusive).then(|| bound.to_string())))
}
