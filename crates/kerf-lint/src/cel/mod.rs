//! `x-kubernetes-validations`: CEL rules as an API server evaluates them when an object is created.
//!
//! `kube-cel` gives the Kubernetes functions and the interpreter. The walk over the schema and the
//! conversion of values are done here, because the server differs from that crate's own walk: a
//! rule is never run on a null, only declared fields of an object are visible, whole numbers in a
//! `number` field are floating point, field names are escaped by the server's own rules, and
//! `optionalOldSelf` sees an empty optional rather than null.

mod convert;
mod escape;
mod functions;
mod rule;

pub(crate) use rule::CelRule;

use kube_cel::cel::{Context, ExecutionError, Value as CelValue};
use serde_json::Value;

use crate::field_path::FieldPath;
use crate::schema::{Additional, Schema};
use crate::violation::{Rule, RuleViolation};

/// Evaluates the rules of schemas. Making one registers every function, so it is made once.
pub(crate) struct Evaluator {
    context: Context<'static>,
}

/// What the rules of one schema have against one object.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub problems: Vec<RuleViolation>,
    /// Rules that use a part of CEL that cannot be evaluated here.
    pub unevaluated: Vec<String>,
}

impl Evaluator {
    pub(crate) fn new() -> Self {
        Self { context: functions::context() }
    }

    /// Evaluates every rule of the schema against the object.
    pub(crate) fn evaluate(&self, schema: &Schema, object: &Value) -> Outcome {
        let mut outcome = Outcome::default();
        self.walk(schema, schema, object, &FieldPath::root(), true, &mut outcome);
        outcome
    }

    /// `rules` is the node whose rules run; `node` is the node that describes the value. They
    /// differ inside `allOf`, whose parts add rules to a node but do not describe it.
    fn walk(
        &self,
        rules: &Schema,
        node: &Schema,
        value: &Value,
        path: &FieldPath,
        whole: bool,
        outcome: &mut Outcome,
    ) {
        if value.is_null() {
            return;
        }
        self.run_rules(rules, node, value, path, whole, outcome);
        for part in &rules.all_of {
            self.walk(part, node, value, path, whole, outcome);
        }
        match value {
            Value::Array(items) => {
                let (Some(rules), Some(node)) = (&rules.items, &node.items) else { return };
                for (place, item) in items.iter().enumerate() {
                    let path = path.index(place);
                    self.walk(rules, node, item, &path, node.embedded_resource, outcome);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.walk_field(rules, node, (name, value), path, outcome);
                }
            }
            _ => {}
        }
    }

    fn walk_field(
        &self,
        rules: &Schema,
        node: &Schema,
        (name, value): (&str, &Value),
        path: &FieldPath,
        outcome: &mut Outcome,
    ) {
        if let (Some(rules), Some(node)) = (rules.properties.get(name), node.properties.get(name)) {
            let whole = node.embedded_resource;
            return self.walk(rules, node, value, &path.field(name), whole, outcome);
        }
        if let (Additional::Schema(rules), Additional::Schema(node)) =
            (&rules.additional, &node.additional)
        {
            self.walk(rules, node, value, &path.key(name), node.embedded_resource, outcome);
        }
    }

    fn run_rules(
        &self,
        rules: &Schema,
        node: &Schema,
        value: &Value,
        path: &FieldPath,
        whole: bool,
        outcome: &mut Outcome,
    ) {
        if rules.rules.is_empty() {
            return;
        }
        let mut scope = self.context.new_inner_scope();
        scope.add_variable_from_value("self", convert::to_cel(value, node, whole, &self.context));
        for rule in &rules.rules {
            if rule.needs_old_value() {
                continue;
            }
            if rule.optional_old_self {
                scope.add_variable_from_value("oldSelf", functions::no_value(&self.context));
            }
            self.run_rule(rule, &scope, value, path, outcome);
        }
    }

    fn run_rule(
        &self,
        rule: &CelRule,
        scope: &Context<'_>,
        value: &Value,
        path: &FieldPath,
        outcome: &mut Outcome,
    ) {
        let program = match rule.program() {
            Ok(program) => program,
            Err(_) => return outcome.unevaluated.push(rule.text.clone()),
        };
        let message = match program.execute(scope) {
            Ok(CelValue::Bool(true)) => return,
            Ok(CelValue::Bool(false)) => rule.message(scope),
            Err(ExecutionError::UndeclaredReference(_)) => {
                return outcome.unevaluated.push(rule.text.clone());
            }
            Ok(_) => format!("the rule gives no yes or no: {}", rule.text),
            Err(error) => match &rule.fixed_message {
                Some(message) => format!("{message} (the rule fails with: {error})"),
                None => format!("the rule cannot be evaluated on this value: {error}"),
            },
        };
        let place = path.join(&rule.field_path);
        let message = named_value(&message, value, rule);
        outcome.problems.push(RuleViolation::new(&place, Rule::new("cel", &rule.text), message));
    }
}

/// The rule's message, with the value before it when the value is a short text or a number.
fn named_value(message: &str, value: &Value, rule: &CelRule) -> String {
    let scalar = value.is_string() || value.is_number() || value.is_boolean();
    if scalar && rule.field_path.steps().is_empty() {
        return format!("{value}: {message}");
    }
    message.to_owned()
}
