//! `minLength`, `maxLength`, `pattern` and `format` of strings.

use crate::advice;
use crate::field_path::FieldPath;
use crate::schema::{Schema, formats};
use crate::violation::{Rule, RuleViolation};

pub(super) fn check(schema: &Schema, text: &str, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    out.extend(first_string_problem(schema, text, path));
    out.extend(format_problem(schema, text, path));
}

/// The server stops at the first of these three, so a text too long is not also matched.
fn first_string_problem(schema: &Schema, text: &str, path: &FieldPath) -> Option<RuleViolation> {
    let length = text.chars().count() as u64;
    if let Some(max) = schema.bounds.max_length.filter(|max| length > *max) {
        let message = format!("this is {length} characters long; at most {max} are allowed");
        return Some(RuleViolation::new(path, Rule::new("maxLength", max), message).blocking());
    }
    if let Some(min) = schema.bounds.min_length.filter(|min| length < *min) {
        let message = format!("this is {length} characters long; at least {min} are needed");
        return Some(RuleViolation::new(path, Rule::new("minLength", min), message));
    }
    let pattern = schema.pattern.as_ref().filter(|pattern| !pattern.accepts(text))?;
    let blanks = if text.trim() != text { " (there are blanks around it)" } else { "" };
    let message = format!("{text:?} does not have the form asked for{blanks}");
    let accepts =
        |candidate: &str| pattern.accepts(candidate) && !text.is_empty() && !candidate.is_empty();
    let instead = advice::respelled(text, accepts)
        .or_else(|| advice::example_for(&pattern.text, |example| pattern.accepts(example)));
    Some(RuleViolation::new(path, Rule::new("pattern", &pattern.text), message).instead(instead))
}

fn format_problem(schema: &Schema, text: &str, path: &FieldPath) -> Option<RuleViolation> {
    let format = schema.format.as_deref()?;
    let numeric = schema.type_names().iter().any(|name| matches!(*name, "integer" | "number"));
    if numeric && !schema.int_or_string {
        return None;
    }
    let example = formats::accepts(format, text).err()?;
    let message = format!("{text:?} is not of the format {format}");
    let instead = (!example.is_empty()).then(|| format!("{example} (an example)"));
    Some(RuleViolation::new(path, Rule::new("format", format), message).instead(instead).blocking())
}
