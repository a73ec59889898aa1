//! Strict field validation: a field the schema does not name is refused, and taken out before the
//! object is checked further.

use serde_json::{Map, Value};

use crate::advice;
use crate::field_path::FieldPath;
use crate::schema::{Additional, Schema};
use crate::violation::{Rule, RuleViolation};

/// Fields every object has, whatever its schema says.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Takes unknown fields out of the object and reports each.
pub(crate) fn prune(root: &Schema, object: &mut Value) -> Vec<RuleViolation> {
    let mut problems = Vec::new();
    let mut walk = Walk { root, problems: &mut problems };
    walk.value(object, Some(root), &FieldPath::root(), true);
    problems
}

struct Walk<'a> {
    root: &'a Schema,
    problems: &'a mut Vec<RuleViolation>,
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Value, schema: Option<&Schema>, path: &FieldPath, whole: bool) {
        match value {
            Value::Object(fields) => self.object(fields, schema, path, whole),
            Value::Array(items) => {
                let items_keep = schema.is_some_and(|schema| schema.preserve_unknown);
                let inner = schema.and_then(|schema| schema.items.as_deref());
                // A list of kept things without a schema for its items is kept as it is.
                if items_keep && inner.is_none() {
                    return;
                }
                for (place, item) in items.iter_mut().enumerate() {
                    self.value(item, inner, &path.index(place), false);
                }
            }
            _ => {}
        }
    }

    fn object(
        &mut self,
        fields: &mut Map<String, Value>,
        schema: Option<&Schema>,
        path: &FieldPath,
        whole: bool,
    ) {
        let is_object = whole || schema.is_some_and(|schema| schema.embedded_resource);
        let mut unknown = Vec::new();
        for (name, value) in fields.iter_mut() {
            if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
                continue;
            }
            let property = schema.and_then(|schema| schema.properties.get(name));
            match (property, schema.map(|schema| &schema.additional)) {
                (Some(property), _) => {
                    self.value(value, Some(property), &path.field(name), false);
                }
                (None, Some(Additional::Schema(inner))) => {
                    self.value(value, Some(inner), &path.key(name), false);
                }
                (None, _) if schema.is_some_and(|schema| schema.preserve_unknown) => {}
                (None, Some(Additional::Flag(_))) => {
                    self.value(value, None, &path.key(name), false);
                }
                (None, _) => unknown.push(name.clone()),
            }
        }
        // Fields inside a value of the wrong type are dropped too, but the type is the finding.
        let wrong_type =
            schema.is_some_and(|s| s.type_name.as_deref().is_some_and(|name| name != "object"));
        for name in unknown {
            if !wrong_type {
                self.problems.push(self.unknown_field(&name, fields.get(&name), schema, path));
            }
            fields.remove(&name);
        }
    }

    fn unknown_field(
        &self,
        name: &str,
        value: Option<&Value>,
        schema: Option<&Schema>,
        path: &FieldPath,
    ) -> RuleViolation {
        let here = path.field(name);
        let instead = self.meant(name, value, schema, path);
        RuleViolation::new(&here, Rule::named("unknown field"), format!("unknown field \"{here}\""))
            .at_key()
            .instead(instead)
    }

    /// The field the author may have meant: one spelt much like it, or one of this name elsewhere.
    fn meant(
        &self,
        name: &str,
        value: Option<&Value>,
        schema: Option<&Schema>,
        path: &FieldPath,
    ) -> Option<String> {
        if let ("name", Some(Value::String(text))) = (name, value) {
            return Some(format!("metadata.name: {text} (the name belongs under metadata)"));
        }
        let siblings = schema.into_iter().flat_map(|schema| schema.properties.keys());
        if let Some(near) = advice::nearest(name, siblings.map(String::as_str)) {
            return Some(near.to_owned());
        }
        if matches!(name, "labels" | "annotations" | "namespace" | "finalizers") {
            return Some(format!("metadata.{name} ({name} belong under metadata)"));
        }
        let places = self.root.places_of(name);
        let place = places.iter().find(|place| !place.starts_with("status"))?;
        (*place != path.field(name).to_string())
            .then(|| format!("{place} (the field {name:?} belongs there)"))
    }
}
