//! Objects that name others: a node class that is named and not there, where the files have classes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::advice;
use crate::field_path::FieldPath;
use crate::report::Finding;
use crate::violation::{Rule, RuleViolation};

/// Where our kinds name a node class.
const REFERENCES: [(&str, &str); 2] =
    [("NodePool", "spec.template.spec.nodeClassRef"), ("NodeClaim", "spec.nodeClassRef")];

/// What was defined and named so far.
#[derive(Default)]
pub(crate) struct References {
    /// Names by kind.
    defined: BTreeMap<String, BTreeSet<String>>,
    named: Vec<Named>,
}

struct Named {
    kind: String,
    name: String,
    /// The finding it becomes if nothing has the name.
    finding: Finding,
}

impl References {
    /// Takes an object down. `finding` gives a problem its place in the file.
    pub(crate) fn note(&mut self, object: &Value, finding: impl Fn(RuleViolation) -> Finding) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let Some(kind) = text("/kind") else { return };
        if let Some(name) = text("/metadata/name") {
            self.defined.entry(kind.to_owned()).or_default().insert(name.to_owned());
        }
        for (_, field) in REFERENCES.into_iter().filter(|(namer, _)| *namer == kind) {
            let at = format!("/{}", field.replace('.', "/"));
            let (Some(kind), Some(name)) =
                (text(&format!("{at}/kind")), text(&format!("{at}/name")))
            else {
                continue;
            };
            let path = FieldPath::parse(&format!("{field}.name"));
            let problem = RuleViolation::new(&path, Rule::named("reference"), "").warning();
            let (kind, name) = (kind.to_owned(), name.to_owned());
            self.named.push(Named { kind, name, finding: finding(problem) });
        }
    }

    /// What is named and not there. Files without any object of a kind are not all there is.
    pub(crate) fn dangling(self) -> Vec<Finding> {
        let Self { defined, named } = self;
        let dangling = named.into_iter().filter_map(|Named { kind, name, mut finding }| {
            let known = defined.get(&kind).filter(|known| !known.contains(&name))?;
            let near = advice::nearest(&name, known.iter().map(String::as_str));
            let only = (known.len() == 1).then(|| known.first()).flatten().map(String::as_str);
            let listed: Vec<&str> = known.iter().map(String::as_str).take(LISTED_MAX).collect();
            finding.message =
                format!("no {kind} here has the name {name:?}; there is {}", listed.join(", "));
            finding.instead = near.or(only).map(str::to_owned);
            Some(finding)
        });
        dangling.collect()
    }
}

/// Names listed in a message.
const LISTED_MAX: usize = 5;
