//! What is known of a cluster and its account, as plain values. Checks read nothing else.

use std::collections::BTreeMap;

use kerf_aws::{AccessEntry, Association, ClusterAccess, QueueFacts, RoleFacts, RuleFacts};
use serde_json::Value;

/// What was asked for, or why it could not be told.
pub(crate) type Answer<T> = Result<T, String>;

/// Why objects of a kind are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The API server serves no such kind.
    Absent,
    /// It did not tell.
    Failed(String),
}

/// Everything that checks look at.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Seconds since 1970.
    pub(crate) now_seconds: i64,
    /// The namespace of the controller.
    pub(crate) namespace: String,
    /// The API server's version, such as `v1.36.3`.
    pub(crate) version: Answer<String>,
    /// Objects by the plural of their kind.
    pub(crate) lists: BTreeMap<&'static str, Result<Vec<Value>, Unread>>,
    /// The account, unless nobody asked for it.
    pub(crate) account: Option<Account>,
}

/// What is known of the account.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) cluster_name: String,
    pub(crate) cluster: Answer<Option<ClusterAccess>>,
    pub(crate) node_roles: Vec<NodeRole>,
    /// Whether spot instances may be bought at all.
    pub(crate) has_spot_role: Answer<bool>,
    /// The queue the controller reads, if it reads one.
    pub(crate) queue: Option<(String, Answer<Option<QueueFacts>>)>,
    /// The rules that fill it, where EventBridge may.
    pub(crate) rules: Answer<Vec<RuleFacts>>,
    /// The role that the service account names, by its ARN.
    pub(crate) controller_role: Option<(String, Answer<Option<RoleFacts>>)>,
    /// Whether IAM believes the cluster's issuer, where the service account names a role.
    pub(crate) has_oidc_provider: Option<Answer<bool>>,
    /// The role by Pod Identity, and the status of its agent, where the account names none.
    pub(crate) pod_identity: Option<Answer<PodIdentity>>,
    /// The policies of the controller's role, where it is known.
    pub(crate) controller_policies: Option<Answer<Vec<String>>>,
}

/// How the controller gets its role by Pod Identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PodIdentity {
    pub(crate) association: Option<Association>,
    /// Such as `ACTIVE`; none where the cluster has no such add-on.
    pub(crate) agent: Option<String>,
}

/// A role of nodes.
#[derive(Clone, Debug)]
pub(crate) struct NodeRole {
    pub(crate) name: String,
    pub(crate) role: Answer<Option<RoleFacts>>,
    pub(crate) entry: Answer<Option<AccessEntry>>,
}

impl Facts {
    /// All objects of a kind that are known.
    pub(crate) fn all(&self, plural: &str) -> &[Value] {
        match self.lists.get(plural) {
            Some(Ok(objects)) => objects,
            _ => &[],
        }
    }

    /// Deployments that run a controller of this API, Kerf's or Karpenter's.
    pub(crate) fn controllers(&self) -> impl Iterator<Item = &Value> {
        self.all("deployments").iter().filter(|one| is_controller(one))
    }

    /// The first of them, in the order the API server lists them.
    pub(crate) fn controller(&self) -> Option<&Value> {
        self.controllers().next()
    }

    /// A variable of the controller.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let container = &self.controller()?["spec"]["template"]["spec"]["containers"][0];
        let variables = container["env"].as_array()?;
        let variable = variables.iter().find(|one| one["name"] == name)?;
        variable["value"].as_str().filter(|value| !value.is_empty())
    }

    /// The account that the controller's pods have.
    pub(crate) fn service_account(&self) -> Option<&str> {
        self.controller()?["spec"]["template"]["spec"]["serviceAccountName"].as_str()
    }
}

/// Whether a Deployment runs `kerf controller`, or Karpenter.
fn is_controller(deployment: &Value) -> bool {
    let is_karpenter = |container: &Value| {
        container["image"].as_str().is_some_and(|image| image.contains("karpenter/controller"))
    };
    runs_kerf(deployment) || containers(deployment).any(is_karpenter)
}

/// Whether a Deployment runs `kerf controller`.
pub(crate) fn runs_kerf(deployment: &Value) -> bool {
    containers(deployment).any(|container| {
        let words = container["command"].as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        let is_kerf = words.first().is_some_and(|first| first.ends_with("kerf"));
        is_kerf && words.get(1) == Some(&"controller")
    })
}

fn containers(deployment: &Value) -> impl Iterator<Item = &Value> {
    deployment["spec"]["template"]["spec"]["containers"].as_array().into_iter().flatten()
}

/// `namespace/name`, or the name alone.
pub(crate) fn name(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    match text("namespace") {
        "" => text("name").to_owned(),
        namespace => format!("{namespace}/{}", text("name")),
    }
}

/// A label of an object.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"][key].as_str()
}

/// Conditions that are not `True`, as `Type: message`.
pub(crate) fn unmet(object: &Value) -> Vec<String> {
    let conditions = object["status"]["conditions"].as_array();
    let unmet = conditions.into_iter().flatten().filter(|one| one["status"] != "True");
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    unmet.map(|one| format!("{}: {}", text(one, "type"), text(one, "message"))).collect()
}

/// Whether an object says that it is ready.
pub(crate) fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// A role's name without the path, or the ARN, before it.
pub(crate) fn role_name(role: &str) -> &str {
    role.rsplit('/').next().unwrap_or(role)
}
