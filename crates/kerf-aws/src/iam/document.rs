//! The list as a policy document.

use serde_json::{Map, Value, json};

use super::{Condition, Policy, STATEMENTS, Statement};

/// What placeholders stand for: the names of an account, or the expressions of a template language
/// that become them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names<'a> {
    /// The partition, such as `aws`.
    pub partition: &'a str,
    /// The region.
    pub region: &'a str,
    /// The account's number.
    pub account: &'a str,
    /// The cluster.
    pub cluster: &'a str,
    /// The role of the nodes.
    pub node_role: &'a str,
    /// The interruption queue.
    pub queue: &'a str,
}

/// A policy as IAM takes it.
#[must_use]
pub fn document(policy: Policy, names: &Names<'_>) -> Value {
    let statements = STATEMENTS.iter().filter(|it| it.policy == policy);
    let statements: Vec<Value> = statements.map(|it| statement(it, names)).collect();
    json!({ "Version": "2012-10-17", "Statement": statements })
}

fn statement(it: &Statement, names: &Names<'_>) -> Value {
    let permissions: Vec<&str> = it.permissions.iter().map(|it| it.name()).collect();
    let resources: Vec<String> = it.resources.iter().map(|text| names.fill(text)).collect();
    let mut statement = json!({
        "Sid": it.sid,
        "Effect": "Allow",
        "Action": permissions,
        "Resource": one_or_all(resources),
    });
    if !it.conditions.is_empty() {
        statement["Condition"] = conditions(it.conditions, names);
    }
    statement
}

/// Conditions by operator, as IAM groups them.
fn conditions(all: &[Condition], names: &Names<'_>) -> Value {
    let mut by_operator = Map::new();
    for Condition { operator, key, values } in all {
        let values = values.iter().map(|text| names.fill(text)).collect();
        let keys = by_operator.entry((*operator).to_owned()).or_insert_with(|| json!({}));
        keys[names.fill(key)] = one_or_all(values);
    }
    Value::Object(by_operator)
}

/// A single text is written without a list around it.
fn one_or_all(texts: Vec<String>) -> Value {
    match texts.as_slice() {
        [one] => json!(one),
        _ => json!(texts),
    }
}

impl Names<'_> {
    fn fill(&self, text: &str) -> String {
        let names = [
            ("{partition}", self.partition),
            ("{region}", self.region),
            ("{account}", self.account),
            ("{cluster}", self.cluster),
            ("{node_role}", self.node_role),
            ("{queue}", self.queue),
        ];
        names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }
}
