//! What is to be in the cluster: the chart's objects, without Helm.
//!
//! `deploy/manifests/controller.yaml` is what the chart gives, held to it by a test. Names are
//! filled in here, and a test compares the result with what Helm makes of the same settings.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::default_pool;
use super::settings::Settings;
use crate::commands::doctor::ROLE_ARN;

const MANIFEST: &str = include_str!("../../../../../deploy/manifests/controller.yaml");
/// What the manifest calls the cluster and its queue, and the namespace.
const CLUSTER: &str = "CLUSTER_NAME_HERE";
const NAMESPACE: &str = "karpenter";
const QUEUE_VARIABLE: &str = "INTERRUPTION_QUEUE";
/// Kinds that only legacy pools need, and those of simulated nodes.
const LEGACY_KINDS: [&str; 2] = ["AWSNodeTemplate", "Provisioner"];
const SIMULATED_KIND: &str = "KWOKNodeClass";

/// What differs from one installation to the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filling<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) cluster: &'a str,
    pub(crate) queue: Option<&'a str>,
    pub(crate) image: Option<&'a str>,
    /// The role that the service account names, for IRSA.
    pub(crate) role_arn: Option<&'a str>,
}

/// The definitions of custom resources.
pub(crate) fn definitions(is_legacy: bool) -> Result<Vec<Value>> {
    let wanted =
        |kind: &str| kind != SIMULATED_KIND && (is_legacy || !LEGACY_KINDS.contains(&kind));
    let all = kerf_api::crds_of(wanted);
    all.iter().map(|one| serde_json::to_value(one).context("a definition is plain data")).collect()
}

/// The controller: its namespace, rights, account, service and Deployment.
pub(crate) fn controller(filling: &Filling<'_>) -> Result<Vec<Value>> {
    let documents = MANIFEST.split("\n---\n");
    let read =
        |text: &str| serde_saphyr::from_str::<Value>(text).map_err(|why| anyhow::anyhow!("{why}"));
    let mut objects: Vec<Value> = documents.map(read).collect::<Result<_>>()?;
    // The labels of a namespace that is not Kerf's are nobody's to change.
    objects.retain(|one| one["kind"] != "Namespace" || filling.namespace != "kube-system");
    objects.iter_mut().for_each(|object| fill(object, filling));
    Ok(objects)
}

/// The pool and its class, where requirements are given.
pub(crate) fn pool(settings: &Settings) -> Vec<Value> {
    match (settings.requirements.is_empty(), settings.is_legacy) {
        (true, _) => Vec::new(),
        (_, true) => vec![default_pool::provisioner(settings)],
        (_, false) => default_pool::current(settings),
    }
}

fn fill(object: &mut Value, filling: &Filling<'_>) {
    let namespace = json!(filling.namespace);
    if object["kind"] == "Namespace" {
        object["metadata"]["name"] = namespace.clone();
    }
    if object["metadata"]["namespace"] == NAMESPACE {
        object["metadata"]["namespace"] = namespace.clone();
    }
    // Asking for a field by index would make it.
    for subject in object.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        subject["namespace"] = namespace.clone();
    }
    if let (true, Some(arn)) = (object["kind"] == "ServiceAccount", filling.role_arn) {
        object["metadata"]["annotations"] = json!({ROLE_ARN: arn});
    }
    if object["kind"] == "Deployment" {
        fill_container(&mut object["spec"]["template"]["spec"]["containers"][0], filling);
    }
}

fn fill_container(container: &mut Value, filling: &Filling<'_>) {
    if let Some(image) = filling.image {
        container["image"] = json!(image);
    }
    let Some(variables) = container["env"].as_array_mut() else { return };
    if filling.queue.is_none() {
        variables.retain(|one| one["name"] != QUEUE_VARIABLE);
    }
    for variable in variables {
        if variable["value"] == CLUSTER {
            let is_queue = variable["name"] == QUEUE_VARIABLE;
            let queue = filling.queue.filter(|_| is_queue);
            variable["value"] = json!(queue.unwrap_or(filling.cluster));
        }
    }
}
