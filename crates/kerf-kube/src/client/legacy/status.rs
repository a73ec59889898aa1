//! What is written about legacy objects, in the words of their time.

use jiff::Timestamp;
use kerf_api::legacy::aws_node_template::AWSNodeTemplateStatus;
use kerf_api::legacy::provisioner::{LegacyCondition, ProvisionerStatus};
use kerf_api::legacy::{AWSNodeTemplate, Provisioner};
use kerf_engine::condition::{Condition, Conditions, READY, Status};
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::{NodeClass, NodeClassStatus, Pool, PoolStatus};
use kerf_engine::time::Time;
use kerf_model::resources::NODES;
use kerf_runtime::clock;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use super::LegacyObjects;
use crate::client::observe::meta::{api_resources, api_time, resources};

/// Whether a Provisioner works, as it was called.
const ACTIVE: &str = "Active";

/// Writes the status of the Provisioner that a pool stands for, and notes it.
pub(crate) async fn write_pool_status(
    client: &Client,
    objects: &LegacyObjects,
    pool: &Pool,
    status: &PoolStatus,
) -> kube::Result<Outcome> {
    let api = Api::<Provisioner>::all(client.clone());
    let mut body = json!({
        "conditions": conditions(&status.conditions),
        "resources": api_resources(&status.resources),
    });
    if status.nodes != pool.status.nodes {
        body["lastScaleTime"] = json!(clock::now().strftime("%FT%TZ").to_string());
    }
    patch_status(&api, &pool.meta.name, &pool.meta.uid, body).await?;
    let stored = objects.set_pool_status(&pool.meta.uid, status);
    Ok(stored.map_or(Outcome::NotFound, |pool| Outcome::Stored(Box::new(Object::Pool(pool)))))
}

/// Notes the status of a class, and writes what an AWSNodeTemplate has a place for.
pub(crate) async fn write_class_status(
    client: &Client,
    objects: &LegacyObjects,
    class: &NodeClass,
    status: &NodeClassStatus,
) -> kube::Result<Outcome> {
    let found: Option<AWSNodeTemplateStatus> =
        serde_json::from_value((*status.resolved).clone()).ok();
    if let Some(found) = found.filter(|_| objects.has_template(&class.key.name)) {
        let api = Api::<AWSNodeTemplate>::all(client.clone());
        let body = json!({ "amis": found.amis, "securityGroups": found.security_groups,
            "subnets": found.subnets });
        patch_status(&api, &class.key.name, &class.meta.uid, body).await?;
    }
    let stored = objects.set_class_status(&class.key, status);
    Ok(stored.map_or(Outcome::NotFound, |it| Outcome::Stored(Box::new(Object::NodeClass(it)))))
}

/// Nobody else writes the status, so no version is asked for: only that it is the same object.
async fn patch_status<K>(api: &Api<K>, name: &str, uid: &str, status: Value) -> kube::Result<()>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let body = json!({ "metadata": { "uid": uid }, "status": status });
    api.patch_status(name, &PatchParams::default(), &Patch::Merge(body)).await.map(drop)
}

/// What a Provisioner says about itself, in the engine's terms.
pub(super) fn of_provisioner(status: &ProvisionerStatus) -> PoolStatus {
    let resources = resources(status.resources.as_ref());
    let nodes = resources.quantity(NODES).value();
    let stored = status.conditions.iter().flatten().filter(|it| it.type_ != ACTIVE);
    PoolStatus {
        nodes: u64::try_from(nodes).unwrap_or_default(),
        resources,
        node_class_observed_generation: None,
        conditions: Conditions(stored.map(condition).collect()),
    }
}

fn condition(stored: &LegacyCondition) -> Condition {
    let changed = stored.last_transition_time.as_deref().unwrap_or_default();
    let changed: Timestamp = changed.parse().unwrap_or_default();
    Condition {
        kind: stored.type_.clone(),
        status: match stored.status.as_str() {
            "True" => Status::True,
            "False" => Status::False,
            _ => Status::Unknown,
        },
        reason: stored.reason.clone().unwrap_or_default(),
        message: stored.message.clone().unwrap_or_default(),
        changed_at: Time::from_millis(changed.as_millisecond()),
        // Not written then; the condition is judged anew.
        observed_generation: 0,
    }
}

/// Whether it is active comes first, then what that follows from.
fn conditions(conditions: &Conditions) -> Vec<LegacyCondition> {
    let active = conditions
        .get(READY)
        .map(|ready| LegacyCondition { type_: ACTIVE.to_owned(), ..legacy_condition(ready) });
    active.into_iter().chain(conditions.0.iter().map(legacy_condition)).collect()
}

fn legacy_condition(condition: &Condition) -> LegacyCondition {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    LegacyCondition {
        last_transition_time: Some(api_time(condition.changed_at).0.to_string()),
        message: given(&condition.message),
        reason: given(&condition.reason),
        severity: None,
        status: match condition.status {
            Status::True => "True",
            Status::False => "False",
            Status::Unknown => "Unknown",
        }
        .to_owned(),
        type_: condition.kind.clone(),
    }
}
