//! Which kind an object claims to be: one of ours, one that is none of our business, or a misspelt
//! one of ours.

use serde_json::Value;

use crate::advice;
use crate::catalogue::{Catalogue, Kind, Version};
use crate::field_path::FieldPath;
use crate::violation::{Rule, RuleViolation};

/// Kinds of earlier releases and what took their place.
const RENAMED: [(&str, &str); 3] =
    [("Provisioner", "NodePool"), ("AWSNodeTemplate", "EC2NodeClass"), ("Machine", "NodeClaim")];

/// What an object is.
pub(crate) enum Identity<'a> {
    /// A kind and version of the catalogue.
    Ours(&'a Kind, &'a Version),
    /// Not a kind of the catalogue; the kind to count it under.
    Foreign(String),
    /// Meant to be one of ours, but an API server would not find the kind.
    Mistaken(RuleViolation),
}

/// Looks an object up by its `apiVersion` and `kind`.
pub(crate) fn identify<'a>(object: &Value, catalogue: &'a Catalogue) -> Identity<'a> {
    let Some(fields) = object.as_object() else {
        let message = "a manifest must be a mapping with apiVersion, kind and metadata";
        let problem = RuleViolation::new(&FieldPath::root(), Rule::new("type", "object"), message);
        return Identity::Mistaken(problem.blocking());
    };
    let api_version = match text_field(object, "apiVersion") {
        Ok(text) => text,
        Err(problem) => return Identity::Mistaken(problem),
    };
    let kind = match text_field(object, "kind") {
        Ok(text) => text,
        Err(problem) => return Identity::Mistaken(problem),
    };
    match (api_version, kind) {
        (Some(api_version), Some(kind)) => by_name(api_version, kind, catalogue),
        (None, Some(kind)) => match catalogue.kinds.iter().find(|known| known.name == kind) {
            Some(known) => Identity::Mistaken(missing("apiVersion", api_version_of(known))),
            None => Identity::Foreign(kind.to_owned()),
        },
        (Some(api_version), None) if is_ours(group_of(api_version), catalogue) => {
            Identity::Mistaken(missing("kind", None))
        }
        (None, None) if fields.contains_key("spec") && fields.contains_key("metadata") => {
            Identity::Mistaken(missing("apiVersion", None))
        }
        _ => Identity::Foreign("no kind".to_owned()),
    }
}

fn text_field<'a>(object: &'a Value, name: &str) -> Result<Option<&'a str>, RuleViolation> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let message = format!("{other} is no string; {name} must be one");
            let path = FieldPath::root().field(name);
            let instead = advice::retyped(other, &["string"]);
            Err(RuleViolation::new(&path, Rule::new("type", "string"), message).instead(instead))
        }
    }
}

fn missing(name: &str, instead: Option<String>) -> RuleViolation {
    let message = format!("a manifest needs {name:?}");
    let path = FieldPath::root().field(name);
    let instead = instead.map(|value| format!("{name}: {value}"));
    RuleViolation::new(&path, Rule::named("required"), message).instead(instead).blocking()
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn is_ours(group: &str, catalogue: &Catalogue) -> bool {
    catalogue.kinds.iter().any(|kind| kind.group == group)
}

fn api_version_of(kind: &Kind) -> Option<String> {
    kind.served().next().map(|version| format!("{}/{}", kind.group, version.name))
}

fn by_name<'a>(api_version: &str, kind: &str, catalogue: &'a Catalogue) -> Identity<'a> {
    let group = group_of(api_version);
    if !is_ours(group, catalogue) {
        return match meant_group(api_version, kind, catalogue) {
            Some(problem) => Identity::Mistaken(problem),
            None => Identity::Foreign(kind.to_owned()),
        };
    }
    let in_group = || catalogue.kinds.iter().filter(|known| known.group == group);
    let Some(known) = in_group().find(|known| known.name == kind) else {
        return Identity::Mistaken(unknown_kind(api_version, kind, catalogue));
    };
    let name = api_version.split_once('/').map_or("", |(_, version)| version);
    match known.served().find(|version| version.name == name) {
        Some(version) => Identity::Ours(known, version),
        None => Identity::Mistaken(unserved(api_version, known)),
    }
}

/// A kind of ours under a group spelt nearly right, or without a version.
fn meant_group(api_version: &str, kind: &str, catalogue: &Catalogue) -> Option<RuleViolation> {
    let known = catalogue.kinds.iter().find(|known| known.name == kind)?;
    let written = api_version.split('/').next().unwrap_or(api_version);
    advice::nearest(written, std::iter::once(known.group.as_str()))?;
    let message = format!("there is no {kind} in {api_version:?}");
    let path = FieldPath::root().field("apiVersion");
    let problem = RuleViolation::new(&path, Rule::named("apiVersion"), message).blocking();
    Some(problem.instead(api_version_of(known)))
}

fn unknown_kind(api_version: &str, kind: &str, catalogue: &Catalogue) -> RuleViolation {
    let group = group_of(api_version);
    let names = || catalogue.kinds.iter().map(|known| known.name.as_str());
    let replacement = RENAMED
        .into_iter()
        .find(|(old, _)| *old == kind)
        .and_then(|(_, new)| catalogue.kinds.iter().find(|known| known.name == new))
        .and_then(|known| Some(format!("{}, apiVersion: {}", known.name, api_version_of(known)?)));
    let elsewhere = catalogue.kinds.iter().find(|known| known.name == kind);
    let path = FieldPath::root();
    if let Some(elsewhere) = elsewhere {
        let message = format!("there is no kind {kind:?} in the group {group}");
        let path = path.field("apiVersion");
        let problem = RuleViolation::new(&path, Rule::named("apiVersion"), message).blocking();
        return problem.instead(api_version_of(elsewhere));
    }
    let near = advice::nearest(kind, names()).map(str::to_owned);
    let message = format!("there is no kind {kind:?} in the group {group}");
    let problem = RuleViolation::new(&path.field("kind"), Rule::named("kind"), message).blocking();
    problem.instead(replacement.or(near))
}

fn unserved(api_version: &str, known: &Kind) -> RuleViolation {
    let served: Vec<&str> = known.served().map(|version| version.name.as_str()).collect();
    let message =
        format!("{} is not served in {api_version}; only in {}", known.name, served.join(", "));
    let path = FieldPath::root().field("apiVersion");
    let problem = RuleViolation::new(&path, Rule::named("apiVersion"), message).blocking();
    problem.instead(api_version_of(known))
}
