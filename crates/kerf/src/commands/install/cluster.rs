//! Objects of the cluster: what applying them would change, and applying them.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::Client;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams,
};
use serde_json::Value;

/// Whose fields they are.
const MANAGER: &str = "kerf-install";
/// How often what was applied is looked at until it is there.
const POLL: Duration = Duration::from_millis(500);
/// How long a definition takes until its kind is served.
const SERVED_AT_MOST: u32 = 120;
/// Paths that are named of an object that would change.
const PATHS_MAX: usize = 3;
/// What the API server writes by itself.
const OF_SERVER: [&str; 5] =
    ["managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"];

/// What applying an object would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    None,
    New,
    /// The first paths that would change.
    Changed(Vec<String>),
}

/// `Kind name`, with its namespace where it has one.
pub(crate) fn title(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let kind = object["kind"].as_str().unwrap_or_default();
    match text("namespace") {
        "" => format!("{kind} {}", text("name")),
        namespace => format!("{kind} {namespace}/{}", text("name")),
    }
}

/// Asks the API server what applying an object would change.
pub(crate) async fn difference(client: &Client, object: &Value) -> Result<Difference> {
    let (api, name) = place(client, object)?;
    let stored = match api.get_opt(name).await {
        Ok(stored) => stored,
        Err(kube::Error::Api(status)) if status.code == 404 => None,
        Err(error) => return Err(error).with_context(|| format!("reading {}", title(object))),
    };
    let Some(stored) = stored else { return Ok(Difference::New) };
    let params = PatchParams { dry_run: true, ..PatchParams::apply(MANAGER).force() };
    let applied = api.patch(name, &params, &Patch::Apply(object)).await;
    let applied = applied.with_context(|| format!("trying to apply {}", title(object)))?;
    let (mut paths, stored, applied) = (Vec::new(), settled(&stored)?, settled(&applied)?);
    changed("", &stored, &applied, &mut paths);
    paths.truncate(PATHS_MAX);
    Ok(if paths.is_empty() { Difference::None } else { Difference::Changed(paths) })
}

/// Applies an object. A kind that was defined a moment ago is waited for.
pub(crate) async fn apply(client: &Client, object: &Value) -> Result<()> {
    let (api, name) = place(client, object)?;
    for _ in 0..SERVED_AT_MOST {
        let params = PatchParams::apply(MANAGER).force();
        match api.patch(name, &params, &Patch::Apply(object)).await {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => tokio::time::sleep(POLL).await,
            Err(error) => return Err(error).with_context(|| format!("applying {}", title(object))),
        }
    }
    bail!("{}: its kind is not served, though its definition was applied", title(object))
}

/// Whether an object is there.
pub(crate) async fn is_there(client: &Client, object: &Value) -> Result<bool> {
    let (api, name) = place(client, object)?;
    match api.get_metadata_opt(name).await {
        Ok(stored) => Ok(stored.is_some()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(error).with_context(|| format!("reading {}", title(object))),
    }
}

/// Deletes an object; one that is not there is fine.
pub(crate) async fn delete(client: &Client, object: &Value) -> Result<()> {
    let (api, name) = place(client, object)?;
    match api.delete(name, &DeleteParams::background()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        answer => answer.map(drop).with_context(|| format!("deleting {}", title(object))),
    }
}

/// Waits until every replica of a Deployment is of this version and available.
pub(crate) async fn wait_rollout(client: &Client, object: &Value, at_most: Duration) -> Result<()> {
    let (api, name) = place(client, object)?;
    let wanted = object["spec"]["replicas"].as_u64().unwrap_or(1);
    let (mut waited, mut available) = (Duration::ZERO, 0);
    while waited < at_most {
        let stored = serde_json::to_value(api.get(name).await?)?;
        let status = |field: &str| stored["status"][field].as_u64().unwrap_or(0);
        let is_seen = stored["metadata"]["generation"] == stored["status"]["observedGeneration"];
        available = status("availableReplicas");
        if is_seen && status("updatedReplicas") == wanted && available == wanted {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
        waited += POLL;
    }
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    bail!(
        "{available} of {wanted} replicas are available after {} s: kubectl -n {namespace} describe \
         pods -l karpenter=controller",
        at_most.as_secs()
    )
}

fn place<'a>(client: &Client, object: &'a Value) -> Result<(Api<DynamicObject>, &'a str)> {
    let text = |field: &str| object[field].as_str().context("an object has a kind and a version");
    let (group, version) = match text("apiVersion")?.split_once('/') {
        Some(parts) => parts,
        None => ("", text("apiVersion")?),
    };
    let kind = GroupVersionKind::gvk(group, version, text("kind")?);
    let resource = ApiResource::from_gvk(&kind);
    let api = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    Ok((api, object["metadata"]["name"].as_str().context("an object has a name")?))
}

/// An object without what the API server and controllers write.
fn settled(object: &DynamicObject) -> Result<Value> {
    let mut value = serde_json::to_value(object)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = value["metadata"].as_object_mut() {
        OF_SERVER.iter().for_each(|field| drop(metadata.remove(*field)));
    }
    Ok(value)
}

/// The paths at which two values differ.
fn changed(path: &str, one: &Value, other: &Value, into: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<&String> =
                one.keys().chain(other.keys()).collect();
            for key in keys {
                let part = |all: &serde_json::Map<String, Value>| {
                    all.get(key).cloned().unwrap_or_default()
                };
                changed(&format!("{path}.{key}"), &part(one), &part(other), into);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                changed(&format!("{path}[{index}]"), one, other, into);
            }
        }
        _ if one != other => into.push(path.trim_start_matches('.').to_owned()),
        _ => {}
    }
}
