//! Which labels a person may put on nodes or require, as admission rules.
//!
//! Kerf and its clouds own some label domains. A key inside an owned domain is admitted only when it
//! is one of the labels that domain really produces. One set of CRDs serves every cloud, so the AWS
//! and the kwok domains are both guarded, always.

use super::labels_stub as labels;
use serde_json::Value;

use super::rules::{cel_list, rule};

/// The variable a rule reads: the key itself, or each key of a map.
#[derive(Clone, Copy)]
pub(crate) enum Keys {
    /// `self` is one key.
    Single,
    /// `self` is a map; every key is checked.
    OfMap,
}

/// Rules for the keys of NodePool template labels.
pub(crate) fn template_label_rules() -> Value {
    let mut rules = vec![core_domain(Keys::OfMap, &[labels::CAPACITY_TYPE, labels::NODEPOOL])];
    rules.extend(forbidden(Keys::OfMap, &[labels::NODEPOOL, labels::HOSTNAME]));
    rules.extend(provider_domains(Keys::OfMap, labels::aws::REQUIREMENT_LABELS));
    Value::Array(rules)
}

/// Rules for a requirement key of a NodePool: as a claim's, and the pool may not name itself.
pub(crate) fn pool_requirement_key_rules() -> Value {
    let mut rules = requirement_key_rules(labels::aws::REQUIREMENT_LABELS);
    rules.extend(forbidden(Keys::Single, &[labels::NODEPOOL]));
    Value::Array(rules)
}

/// Rules for a requirement key of a NodeClaim.
pub(crate) fn claim_requirement_key_rules() -> Value {
    Value::Array(requirement_key_rules(labels::aws::REQUIREMENT_LABELS))
}

/// Rules for a requirement key of a NodeOverlay, which sees instance types but not yet instances.
pub(crate) fn overlay_requirement_key_rules() -> Value {
    Value::Array(requirement_key_rules(labels::aws::OVERLAY_LABELS))
}

fn requirement_key_rules(aws_labels: &[&str]) -> Vec<Value> {
    let mut rules = vec![core_domain(Keys::Single, &[labels::CAPACITY_TYPE, labels::NODEPOOL])];
    rules.extend(forbidden(Keys::Single, &[labels::HOSTNAME]));
    rules.extend(provider_domains(Keys::Single, aws_labels));
    rules
}

fn core_domain(keys: Keys, allowed: &[&str]) -> Value {
    guarded_domain(keys, "karpenter.sh", allowed)
}

fn provider_domains(keys: Keys, aws_labels: &[&str]) -> [Value; 2] {
    [
        guarded_domain(keys, "karpenter.k8s.aws", aws_labels),
        guarded_domain(keys, "karpenter.kwok.sh", labels::kwok::REQUIREMENT_LABELS),
    ]
}

fn guarded_domain(keys: Keys, domain: &str, allowed: &[&str]) -> Value {
    let allowed = cel_list(allowed.iter().copied());
    let test = |key: &str| {
        format!("{key} in {allowed} || !{key}.find(\"^([^/]+)\").endsWith(\"{domain}\")")
    };
    rule(&over(keys, test), &format!("label domain \"{domain}\" is restricted"))
}

fn forbidden<'a>(keys: Keys, labels: &'a [&'a str]) -> impl Iterator<Item = Value> + 'a {
    labels.iter().map(move |label| {
        rule(
            &over(keys, |key| format!("{key} != \"{label}\"")),
            &format!("label \"{label}\" is restricted"),
        )
    })
}

fn over(keys: Keys, test: impl Fn(&str) -> String) -> String {
    match keys {
        Keys::Single => test("self"),
        Keys::OfMap => format!("self.all(x, {})", test("x")),
    }
}
