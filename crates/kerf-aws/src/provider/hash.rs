//! The hash of what a node class says about its instances. Those launched with another have
//! drifted.
//!
//! What a selector finds is left out: it may change from day to day, and instances that are not
//! among it any more are found in another way. So is everything at its zero value, so that a field
//! that is added, or written out, changes nothing.

use kerf_api::ec2_node_class::EC2NodeClassSpec;
use kerf_model::hash::Fnv1a;
use serde_json::{Map, Value};

use super::Cluster;

/// The version of the hash function. Claims with a hash of another version are given one of this,
/// and do not drift by it: to be raised with every change below.
pub(crate) const VERSION: &str = "kerf-v1";

/// Fields that do not count, or count in another form.
const LEFT_OUT: [&str; 7] = [
    "amiFamily",
    "amiSelectorTerms",
    "capacityReservationSelectorTerms",
    "ipPrefixCount",
    "kubelet",
    "securityGroupSelectorTerms",
    "subnetSelectorTerms",
];

/// Fields that say something at their zero value: to leave them out leaves it to EC2.
const SAYS_NO: [&str; 3] = ["associatePublicIPAddress", "deleteOnTermination", "encrypted"];

/// The hash of a class in a cluster, a decimal number.
pub(crate) fn of(spec: &EC2NodeClassSpec, cluster: &Cluster) -> String {
    let mut fields = match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    fields.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    let family = spec.resolved_ami_family().map(|family| family.name());
    let mut hash = Fnv1a::default();
    hash.write_field(canonical(&Value::Object(fields)).as_bytes());
    hash.write_field(family.unwrap_or_default().as_bytes());
    hash.write_field(cluster.ca_bundle.as_bytes());
    hash.write_field(kubelet(spec).as_bytes());
    hash.finish().to_string()
}

/// The kubelet's settings as they are written, zeros included: a zero is a setting there.
fn kubelet(spec: &EC2NodeClassSpec) -> String {
    let kubelet = spec.kubelet.as_ref().and_then(|kubelet| serde_json::to_value(kubelet).ok());
    match kubelet {
        Some(Value::Object(settings)) if !settings.is_empty() => sorted(&Value::Object(settings)),
        _ => "null".to_owned(),
    }
}

/// A value in the one form that all equal values have: zero values left out, lists as sets.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let counts = |name: &str, value: &Value| match value {
                Value::Bool(false) => SAYS_NO.contains(&name),
                _ => !is_zero(value),
            };
            let fields = fields.iter().filter(|(name, value)| counts(name, value));
            let text = |name: &str, value: &Value| match name {
                // A tag without a value is a tag.
                "tags" => sorted(value),
                _ => canonical(value),
            };
            object(fields.map(|(name, value)| (name, text(name, value))).collect())
        }
        Value::Array(items) => {
            let mut items: Vec<String> = items.iter().map(canonical).collect();
            items.sort();
            items.dedup();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

/// A value with its keys in order.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            object(fields.iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(sorted).collect();
            format!("[{}]", items.join(","))
        }
        scalar => scalar.to_string(),
    }
}

fn object(mut fields: Vec<(&String, String)>) -> String {
    fields.sort();
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Whether a value says nothing. An object does if all of its fields do.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => canonical(&Value::Object(fields.clone())) == "{}",
    }
}

#[cfg(test)]
mod tests;
