//! Requirement keys and values with blanks around them. They name a label nothing has, and are
//! hard to see.

use serde_json::Value;

use crate::field_path::FieldPath;
use crate::violation::{Rule, RuleViolation};

/// Reports blanks around strings in `requirements`, where nothing else is said of them.
pub(crate) fn check(object: &Value, problems: &mut Vec<RuleViolation>) {
    walk(object, &FieldPath::root(), false, problems);
}

fn walk(value: &Value, path: &FieldPath, in_requirements: bool, problems: &mut Vec<RuleViolation>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let inside = in_requirements || name == "requirements";
                walk(value, &path.field(name), inside, problems);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(item, &path.index(place), in_requirements, problems);
            }
        }
        Value::String(text) if in_requirements && text.trim() != text => {
            let known = problems.iter().any(|problem| problem.path == *path);
            let message = format!("there are blanks around {text:?}; nothing will match it");
            let problem = RuleViolation::new(path, Rule::named("blanks"), message);
            problems.extend((!known).then(|| problem.instead(text.trim().to_owned())));
        }
        _ => {}
    }
}
