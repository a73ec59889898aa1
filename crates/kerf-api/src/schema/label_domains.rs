//! Which labels a person may put on nodes or require, as admission rules.
//!
//! Kerf and its clouds own some label domains. A key inside an owned domain is admitted only when it
//! is one of the labels that domain really produces. One set of CRDs serves every cloud, so the AWS
//! and the kwok domains are both guarded, always.

use kerf_model::labels::{aws, kwok, well_known};
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
    let mut rules =
        vec![core_domain(Keys::OfMap, &[well_known::CAPACITY_TYPE, well_known::NODE_POOL])];
    rules.extend(forbidden(Keys::OfMap, &[well_known::NODE_POOL, well_known::HOSTNAME]));
    rules.extend(provider_domains(Keys::OfMap, &aws_labels()));
    Value::Array(rules)
}

/// Rules for a requirement key of a NodePool: as a claim's, and the pool may not name itself.
pub(crate) fn pool_requirement_key_rules() -> Value {
    let mut rules = requirement_key_rules(&aws_labels());
    rules.extend(forbidden(Keys::Single, &[well_known::NODE_POOL]));
    Value::Array(rules)
}

/// Rules for a requirement key of a NodeClaim.
pub(crate) fn claim_requirement_key_rules() -> Value {
    Value::Array(requirement_key_rules(&aws_labels()))
}

/// Rules for a requirement key of a NodeOverlay, which sees instance types but not yet instances.
pub(crate) fn overlay_requirement_key_rules() -> Value {
    Value::Array(requirement_key_rules(&aws_labels_of_types()))
}

fn requirement_key_rules(aws_labels: &[&str]) -> Vec<Value> {
    let mut rules =
        vec![core_domain(Keys::Single, &[well_known::CAPACITY_TYPE, well_known::NODE_POOL])];
    rules.extend(forbidden(Keys::Single, &[well_known::HOSTNAME]));
    rules.extend(provider_domains(Keys::Single, aws_labels));
    rules
}

/// Every label of the AWS domain that a node may carry.
fn aws_labels() -> Vec<&'static str> {
    let own = aws::WELL_KNOWN.into_iter().filter(|label| label.starts_with(aws::DOMAIN));
    own.chain([aws::NODE_CLASS]).collect()
}

/// Those that are known of an instance type before an instance of it is launched.
fn aws_labels_of_types() -> Vec<&'static str> {
    const OF_MACHINES: [&str; 6] = [
        aws::INSTANCE_TENANCY,
        aws::CAPACITY_RESERVATION_ID,
        aws::CAPACITY_RESERVATION_TYPE,
        aws::CAPACITY_RESERVATION_INTERRUPTIBLE,
        aws::PLACEMENT_GROUP_ID,
        aws::PLACEMENT_GROUP_PARTITION,
    ];
    aws_labels().into_iter().filter(|label| !OF_MACHINES.contains(label)).collect()
}

fn core_domain(keys: Keys, allowed: &[&str]) -> Value {
    guarded_domain(keys, "karpenter.sh", allowed)
}

fn provider_domains(keys: Keys, aws_labels: &[&str]) -> [Value; 2] {
    let kwok_labels = [kwok::WELL_KNOWN.as_slice(), &[kwok::NODE_CLASS]].concat();
    [
        guarded_domain(keys, aws::DOMAIN, aws_labels),
        guarded_domain(keys, kwok::DOMAIN, &kwok_labels),
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
