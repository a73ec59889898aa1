//! Amazon Linux 2023: a NodeConfig that nodeadm reads.

use kerf_model::taint::Taint;
use serde_json::{Map, Value, json};

use super::mime::{self, NODE_CONFIG, Part, SHELL_SCRIPT};
use super::{UserData, UserDataError, kubelet_flags, yaml};

/// The class's own parts, and after them Kerf's NodeConfig: where several say something about one
/// setting, nodeadm takes the last.
pub(super) fn render(data: &UserData<'_>) -> Result<String, UserDataError> {
    let mut parts = match data.own() {
        Some(own) if mime::is_mime(own) => mime::parts(own)?,
        Some(own) if is_node_config(own) => vec![Part::new(NODE_CONFIG, own)],
        Some(own) => vec![Part::new(SHELL_SCRIPT, own)],
        None => Vec::new(),
    };
    parts.push(Part::new(NODE_CONFIG, &yaml::text(&node_config(data)?)));
    mime::document(&parts)
}

/// Whether a text is a YAML mapping. One that names its interpreter is a script, whatever its lines
/// look like.
fn is_node_config(text: &str) -> bool {
    let read = || serde_saphyr::from_str::<Value>(text);
    !text.starts_with("#!") && read().is_ok_and(|value| value.is_object())
}

fn node_config(data: &UserData<'_>) -> Result<Value, UserDataError> {
    let cluster = data.cluster;
    let cidr = cluster.service_cidr.as_deref().ok_or(UserDataError::NoServiceCidr)?;
    let storage = match data.is_striped() {
        true => json!({ "strategy": "RAID0" }),
        false => json!({}),
    };
    let mut kubelet = json!({ "config": config(data) });
    if let Some(labels) = kubelet_flags::node_labels(data.labels) {
        kubelet["flags"] = json!([labels]);
    }
    let mut described = json!({
        "name": cluster.name,
        "apiServerEndpoint": cluster.endpoint,
        "cidr": cidr,
    });
    if !cluster.ca_bundle.is_empty() {
        described["certificateAuthority"] = json!(cluster.ca_bundle);
    }
    Ok(json!({
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "metadata": {},
        "spec": {
            "cluster": described,
            "containerd": {},
            "instance": { "localStorage": storage },
            "kubelet": kubelet,
        },
    }))
}

/// The kubelet's configuration: every setting of the class as it stands there, and the taints.
fn config(data: &UserData<'_>) -> Map<String, Value> {
    let mut config = match serde_json::to_value(data.kubelet) {
        Ok(Value::Object(config)) => config,
        _ => Map::new(),
    };
    let is_said = |value: &Value| match value {
        Value::Null => false,
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    config.retain(|_, value| is_said(value));
    if !data.taints.is_empty() {
        let taints: Vec<Value> = data.taints.iter().map(taint).collect();
        config.insert("registerWithTaints".to_owned(), Value::Array(taints));
    }
    config
}

fn taint(taint: &Taint) -> Value {
    let mut described = json!({ "key": taint.key, "effect": taint.effect.as_str() });
    if !taint.value.is_empty() {
        described["value"] = json!(taint.value);
    }
    described
}
