//! The verdict on one object, step by step as an API server reaches it when the object is created.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use crate::blanks;
use crate::catalogue::{Catalogue, CatalogueError, Kind, Version};
use crate::field_path::FieldPath;
use crate::identity::{Identity, identify};
use crate::metadata;
use crate::schema::{check, fill, list_type, unknown};
use crate::violation::{Rule, RuleViolation};

/// What an API server would say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Why it would refuse the object; empty when it would store it.
    pub problems: Vec<RuleViolation>,
    /// Whether it would leave CEL rules unevaluated until the problems are gone.
    pub rules_unchecked: bool,
    /// Rules that use a part of CEL that cannot be evaluated here.
    pub rules_unevaluated: Vec<String>,
}

/// The verdict on one object of the kind a CRD defines.
///
/// For many objects make a [`Catalogue`] once and call [`Catalogue::verdict`].
pub fn verdict(object: &Value, crd: &CustomResourceDefinition) -> Result<Verdict, CatalogueError> {
    let catalogue = Catalogue::new(std::slice::from_ref(crd))?;
    let foreign = || {
        let message = "the object is not of the kind the CRD defines";
        RuleViolation::new(&FieldPath::root().field("kind"), Rule::named("kind"), message)
    };
    Ok(catalogue
        .verdict(object)
        .unwrap_or_else(|| Verdict { problems: vec![foreign()], ..Verdict::default() }))
}

impl Catalogue {
    /// The verdict on an object, or nothing if its kind is not in the catalogue.
    pub fn verdict(&self, object: &Value) -> Option<Verdict> {
        match identify(object, self) {
            Identity::Foreign(_) => None,
            Identity::Mistaken(problem) => {
                Some(Verdict { problems: vec![problem], ..Verdict::default() })
            }
            Identity::Ours(kind, version) => Some(self.judge(object, kind, version)),
        }
    }

    /// The object as an API server stores it: meaningless nulls gone, defaults filled in. Nothing
    /// if its kind is not in the catalogue.
    pub fn with_defaults(&self, object: &Value) -> Option<Value> {
        let Identity::Ours(_, version) = identify(object, self) else { return None };
        let mut stored = object.clone();
        fill::fill(&version.schema, &mut stored);
        Some(stored)
    }

    pub(crate) fn judge(&self, object: &Value, kind: &Kind, version: &Version) -> Verdict {
        let mut stored = object.clone();
        // Strict decoding: unknown fields are refused, and gone before anything else looks.
        let mut problems = unknown::prune(&version.schema, &mut stored);
        fill::fill(&version.schema, &mut stored);
        if let (true, Some(fields)) = (version.status_subresource, stored.as_object_mut()) {
            fields.remove("status");
        }
        problems.extend(metadata::check(object, kind.namespaced));
        check::check(&version.schema, &stored, &FieldPath::root(), &mut problems);
        problems.extend(replicas_problem(version, &stored));
        list_type::check(&version.schema, &stored, &FieldPath::root(), &mut problems);
        let mut verdict = Verdict { problems, ..Verdict::default() };
        let blocked = verdict.problems.iter().any(|problem| problem.blocks_rules);
        verdict.rules_unchecked = blocked && version.schema.has_rules();
        if !blocked {
            let outcome = self.evaluator.evaluate(&version.schema, &stored);
            verdict.problems.extend(outcome.problems);
            verdict.rules_unevaluated = outcome.unevaluated;
            verdict.problems.extend(self.semantic_problems(&stored, &verdict.problems));
        }
        blanks::check(object, &mut verdict.problems);
        verdict.problems.extend(self.hints(&stored, &verdict.problems));
        tidy(&mut verdict.problems);
        verdict
    }

    /// What a controller would add, where nothing is said of the field yet.
    fn semantic_problems(&self, stored: &Value, known: &[RuleViolation]) -> Vec<RuleViolation> {
        let findings = self.checks.iter().flat_map(|check| check(stored));
        let problems = findings.map(|finding| {
            let path = FieldPath::parse(&finding.field);
            let rule = Rule::new("controller", finding.rule);
            RuleViolation::new(&path, rule, finding.message).instead(finding.instead)
        });
        problems.filter(|problem| !is_known(&problem.path, known)).collect()
    }

    /// What is most likely a mistake although everybody takes it.
    fn hints(&self, stored: &Value, known: &[RuleViolation]) -> Vec<RuleViolation> {
        let findings = self.hints.iter().flat_map(|check| check(stored));
        let problems = findings.map(|finding| {
            let path = FieldPath::parse(&finding.field);
            let rule = Rule::new("unknown value", finding.rule);
            RuleViolation::new(&path, rule, finding.message).instead(finding.instead).warning()
        });
        problems.filter(|problem| !is_known(&problem.path, known)).collect()
    }
}

/// Whether something is said of the field.
fn is_known(path: &FieldPath, known: &[RuleViolation]) -> bool {
    let path = path.to_string();
    known.iter().any(|problem| {
        let said = problem.path.to_string();
        // A controller speaks of a requirement as a whole.
        let is_inside = problem.rule.keyword == "controller"
            && path.strip_prefix(&said).is_some_and(|rest| rest.starts_with('.'));
        said == path || is_inside
    })
}

/// A value of the wrong type breaks other rules by that alone; one finding says it all.
fn tidy(problems: &mut Vec<RuleViolation>) {
    let mut mistyped: Vec<FieldPath> = Vec::new();
    problems.retain(|problem| {
        let echo = mistyped.contains(&problem.path)
            && matches!(problem.rule.keyword, "type" | "anyOf" | "oneOf" | "scale");
        if problem.rule.keyword == "type" && !echo {
            mistyped.push(problem.path.clone());
        }
        !echo
    });
}

/// The scale subresource reads replicas as a whole number from zero to the largest of 32 bits.
fn replicas_problem(version: &Version, object: &Value) -> Option<RuleViolation> {
    let path = FieldPath::parse(version.replicas_path.as_deref()?);
    let pointer = format!("/{}", version.replicas_path.as_deref()?.replace('.', "/"));
    let replicas = object.pointer(&pointer)?;
    let fits = replicas.as_i64().is_some_and(|count| (0..=i64::from(i32::MAX)).contains(&count));
    let message = format!("{replicas} is not a number of replicas from 0 to {}", i32::MAX);
    (!fits).then(|| RuleViolation::new(&path, Rule::named("scale"), message))
}
