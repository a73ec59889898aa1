//! `metadata`: the fields an API server reads into its own type, and its rules for them.

use serde_json::{Map, Value};

use crate::advice;
use crate::field_path::FieldPath;
use crate::names;
use crate::schema::check::{type_of, with_article};
use crate::violation::{Rule, RuleViolation};

/// Most bytes that keys and values of annotations may have together: 256 KiB.
const ANNOTATIONS_BYTES_MAX: usize = 256 * 1024;

/// The form a metadata field must have to be read at all.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Text,
    Whole,
    Time,
    Flag,
    TextMap,
    TextList,
    Owners,
    Any,
}

const FIELDS: [(&str, Form); 15] = [
    ("name", Form::Text),
    ("generateName", Form::Text),
    ("namespace", Form::Text),
    ("selfLink", Form::Text),
    ("uid", Form::Text),
    ("resourceVersion", Form::Text),
    ("generation", Form::Whole),
    ("creationTimestamp", Form::Time),
    ("deletionTimestamp", Form::Time),
    ("deletionGracePeriodSeconds", Form::Whole),
    ("labels", Form::TextMap),
    ("annotations", Form::TextMap),
    ("ownerReferences", Form::Owners),
    ("finalizers", Form::TextList),
    ("managedFields", Form::Any),
];

const OWNER_FIELDS: [(&str, Form); 6] = [
    ("apiVersion", Form::Text),
    ("kind", Form::Text),
    ("name", Form::Text),
    ("uid", Form::Text),
    ("controller", Form::Flag),
    ("blockOwnerDeletion", Form::Flag),
];

/// Everything an API server has against the metadata of a new object.
pub(crate) fn check(object: &Value, namespaced: bool) -> Vec<RuleViolation> {
    let path = FieldPath::root().field("metadata");
    let empty = Map::new();
    let fields = match object.get("metadata") {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(fields)) => fields,
        Some(other) => return vec![wrong_form(&path, other, "a mapping")],
    };
    let mut problems = Vec::new();
    check_forms(fields, &FIELDS, &path, &mut problems);
    check_name(object, fields, &path, &mut problems);
    check_namespace(fields, namespaced, &path, &mut problems);
    check_version(fields, &path, &mut problems);
    check_labels(fields, &path, &mut problems);
    check_annotations(fields, &path, &mut problems);
    check_finalizers(fields, &path, &mut problems);
    check_owners(fields, &path, &mut problems);
    problems
}

fn check_forms(
    fields: &Map<String, Value>,
    known: &[(&str, Form)],
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    for (name, value) in fields {
        let here = path.field(name);
        match known.iter().find(|(known, _)| known == name) {
            Some((_, form)) => check_form(*form, value, &here, out),
            None => {
                let near = advice::nearest(name, known.iter().map(|(name, _)| *name));
                let message = format!("unknown field \"{here}\"");
                let problem =
                    RuleViolation::new(&here, Rule::named("unknown field"), message).at_key();
                out.push(problem.instead(near.map(str::to_owned)));
            }
        }
    }
}

/// A null reads as not set, whatever the form.
fn check_form(form: Form, value: &Value, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    match (form, value) {
        (_, Value::Null) | (Form::Any, _) => {}
        (Form::Text, Value::String(_)) | (Form::Flag, Value::Bool(_)) => {}
        (Form::Whole, Value::Number(number)) if number.is_i64() => {}
        (Form::Time, Value::String(text)) if crate::schema::is_date_time(text) => {}
        (Form::TextMap, Value::Object(entries)) => {
            for (key, value) in entries {
                check_form(Form::Text, value, &path.key(key), out);
            }
        }
        (Form::TextList, Value::Array(items)) => {
            for (place, item) in items.iter().enumerate() {
                check_form(Form::Text, item, &path.index(place), out);
            }
        }
        (Form::Owners, Value::Array(owners)) => {
            for (place, owner) in owners.iter().enumerate() {
                match owner {
                    Value::Object(fields) => {
                        check_forms(fields, &OWNER_FIELDS, &path.index(place), out);
                    }
                    other => out.push(wrong_form(&path.index(place), other, "a mapping")),
                }
            }
        }
        (form, other) => out.push(wrong_form(path, other, wanted(form))),
    }
}

fn wanted(form: Form) -> &'static str {
    match form {
        Form::Text => "a string",
        Form::Whole => "a whole number",
        Form::Time => "a time such as 2026-01-31T23:59:59Z",
        Form::Flag => "true or false",
        Form::TextMap => "a mapping of strings to strings",
        Form::TextList => "a list of strings",
        Form::Owners => "a list of mappings",
        Form::Any => "anything",
    }
}

fn wrong_form(path: &FieldPath, value: &Value, wanted: &str) -> RuleViolation {
    let found = with_article(type_of(value));
    let message = match value {
        Value::Array(_) | Value::Object(_) => format!("this must be {wanted}, not {found}"),
        scalar => format!("{scalar} is {found}; this must be {wanted}"),
    };
    let instead = match wanted {
        "a string" => advice::retyped(value, &["string"]),
        "a mapping" => advice::retyped(value, &["object"]),
        _ => None,
    };
    let rule = Rule::new("type", wanted.trim_start_matches("a "));
    RuleViolation::new(path, rule, message).instead(instead).blocking()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn check_name(
    object: &Value,
    fields: &Map<String, Value>,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    let (name, prefix) = (text(fields, "name"), text(fields, "generateName"));
    let wrongly_typed = fields.get("name").is_some_and(|name| !name.is_string() && !name.is_null());
    if !prefix.is_empty()
        && let Err(reason) = names::subdomain_prefix(prefix)
    {
        out.push(bad_name(&path.field("generateName"), prefix, reason));
    }
    if name.is_empty() && prefix.is_empty() && !wrongly_typed {
        let misplaced = [object.get("name"), object.pointer("/spec/name")];
        let instead = misplaced.into_iter().flatten().find_map(Value::as_str);
        let message = "an object needs metadata.name (or metadata.generateName)";
        let problem = RuleViolation::new(&path.field("name"), Rule::named("required"), message);
        out.push(problem.instead(instead.map(|name| format!("metadata.name: {name}"))).blocking());
    } else if !name.is_empty()
        && let Err(reason) = names::subdomain(name)
    {
        out.push(bad_name(&path.field("name"), name, reason));
    }
}

fn bad_name(path: &FieldPath, name: &str, reason: String) -> RuleViolation {
    let instead = advice::respelled(name, |candidate| names::subdomain(candidate).is_ok());
    let message = format!("{name:?} is not a valid name: {reason}");
    RuleViolation::new(path, Rule::named("DNS-1123 subdomain"), message).instead(instead)
}

/// A namespace on a cluster-scoped object is dropped by the server, not refused.
fn check_namespace(
    fields: &Map<String, Value>,
    namespaced: bool,
    path: &FieldPath,
    out: &mut Vec<RuleViolation>,
) {
    let namespace = text(fields, "namespace");
    if namespaced
        && !namespace.is_empty()
        && let Err(reason) = names::label(namespace)
    {
        let message = format!("{namespace:?} is not a valid namespace: {reason}");
        let instead = advice::respelled(namespace, |candidate| names::label(candidate).is_ok());
        let rule = Rule::named("DNS-1123 label");
        out.push(RuleViolation::new(&path.field("namespace"), rule, message).instead(instead));
    }
}

/// A stored version on a new object is refused by the store.
fn check_version(fields: &Map<String, Value>, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let version = text(fields, "resourceVersion");
    if version.parse::<u64>().is_ok_and(|version| version != 0) {
        let message = "a new object must not carry a resourceVersion (this looks exported)";
        let problem =
            RuleViolation::new(&path.field("resourceVersion"), Rule::named("create"), message);
        out.push(problem.at_key().instead("remove the line".to_owned()));
    }
    let negative = fields.get("generation").and_then(Value::as_i64).is_some_and(|g| g < 0);
    if negative {
        let message = "the generation must not be negative";
        out.push(RuleViolation::new(&path.field("generation"), Rule::new("minimum", 0), message));
    }
}

fn check_labels(fields: &Map<String, Value>, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let path = path.field("labels");
    for (key, value) in fields.get("labels").and_then(Value::as_object).into_iter().flatten() {
        if let Err(reason) = names::qualified(key) {
            out.push(bad_key(&path.key(key), "label", key, reason));
        }
        let Some(text) = value.as_str() else { continue };
        if let Err(reason) = names::label_value(text) {
            let message = format!("{text:?} is not a valid label value: {reason}");
            let accepts = |candidate: &str| names::label_value(candidate).is_ok();
            let instead = advice::respelled(text, accepts);
            let rule = Rule::named("label value");
            out.push(RuleViolation::new(&path.key(key), rule, message).instead(instead));
        }
    }
}

fn bad_key(path: &FieldPath, noun: &str, key: &str, reason: String) -> RuleViolation {
    let message = format!("{key:?} is not a valid {noun} key: {reason}");
    let instead = advice::respelled(key, |candidate| names::qualified(candidate).is_ok());
    RuleViolation::new(path, Rule::named("qualified name"), message).at_key().instead(instead)
}

fn check_annotations(fields: &Map<String, Value>, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let path = path.field("annotations");
    let Some(entries) = fields.get("annotations").and_then(Value::as_object) else { return };
    for key in entries.keys() {
        if let Err(reason) = names::qualified(&key.to_lowercase()) {
            out.push(bad_key(&path.key(key), "annotation", key, reason));
        }
    }
    let size = |(key, value): (&String, &Value)| key.len() + value.as_str().map_or(0, str::len);
    let bytes: usize = entries.iter().map(size).sum();
    if bytes > ANNOTATIONS_BYTES_MAX {
        let message = format!("the annotations take {bytes} bytes together");
        let rule = Rule::new("maxLength", ANNOTATIONS_BYTES_MAX);
        out.push(RuleViolation::new(&path, rule, message).blocking());
    }
}

fn check_finalizers(fields: &Map<String, Value>, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let path = path.field("finalizers");
    let finalizers = fields.get("finalizers").and_then(Value::as_array);
    for (place, finalizer) in finalizers.into_iter().flatten().enumerate() {
        let Some(finalizer) = finalizer.as_str() else { continue };
        if let Err(reason) = names::qualified(finalizer) {
            let message = format!("{finalizer:?} is not a valid finalizer: {reason}");
            out.push(RuleViolation::new(
                &path.index(place),
                Rule::named("qualified name"),
                message,
            ));
        }
    }
}

fn check_owners(fields: &Map<String, Value>, path: &FieldPath, out: &mut Vec<RuleViolation>) {
    let path = path.field("ownerReferences");
    let owners = fields.get("ownerReferences").and_then(Value::as_array);
    for (place, owner) in owners.into_iter().flatten().enumerate() {
        for name in ["apiVersion", "kind", "name", "uid"] {
            if owner.get(name).and_then(Value::as_str).unwrap_or_default().is_empty() {
                let message = format!("an owner reference needs {name:?}");
                let path = path.index(place).field(name);
                out.push(RuleViolation::new(&path, Rule::named("required"), message));
            }
        }
    }
}
