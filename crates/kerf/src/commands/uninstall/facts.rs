//! What is there to be taken away.

use anyhow::Result;
use kerf_aws::{Association, Inspection, Installation, StackFacts};
use kube::Client;
use serde_json::Value;

use super::Uninstall;
use crate::commands::doctor::Facts as InCluster;
use crate::commands::install::{Filling, SERVICE_ACCOUNT, cluster, objects, stack_name};

/// What is known of cluster and account.
pub(super) struct Facts {
    /// Where the kubeconfig leads.
    pub(super) server: String,
    pub(super) in_cluster: InCluster,
    /// The objects of the controller that are there, those first that are to go first.
    pub(super) objects: Vec<Value>,
    /// What is in the account, unless it is to stay.
    pub(super) account: Option<Account>,
}

/// What is in the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// Where EKS says that the cluster is; empty if it knows none of this name.
    pub(super) endpoint: String,
    pub(super) stack: Option<StackFacts>,
    pub(super) association: Option<Association>,
    /// The role of nodes that has an access entry and goes with the stack.
    pub(super) node_role_arn: Option<String>,
    pub(super) launch_templates: Vec<String>,
    pub(super) profiles: Vec<String>,
}

/// Asks the API server what else there is, and AWS.
pub(super) async fn gather(
    asked: &Uninstall,
    server: String,
    in_cluster: InCluster,
    client: &Client,
    (inspection, installation): &(Inspection, Installation),
) -> Result<Facts> {
    let filling = Filling { namespace: &in_cluster.namespace, ..Filling::default() };
    let mut found = Vec::new();
    for object in objects::controller(&filling)?.into_iter().chain([lease(&in_cluster.namespace)]) {
        // What else is in a namespace is not Kerf's.
        if object["kind"] != "Namespace" && cluster::is_there(client, &object).await? {
            found.insert(0, object);
        }
    }
    let account = match asked.keep_account {
        true => None,
        false => Some(account(asked, &in_cluster.namespace, inspection, installation).await?),
    };
    Ok(Facts { server, in_cluster, objects: found, account })
}

/// What the controller itself makes.
fn lease(namespace: &str) -> Value {
    serde_json::json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "karpenter-leader-election", "namespace": namespace},
    })
}

async fn account(
    asked: &Uninstall,
    namespace: &str,
    inspection: &Inspection,
    installation: &Installation,
) -> Result<Account> {
    let cluster = &asked.cluster;
    let known = inspection.cluster(cluster).await?;
    let mut found = Account {
        stack: installation.stack(&stack_name(cluster)).await?,
        launch_templates: installation.launch_templates(cluster).await?,
        profiles: installation.profiles(cluster).await?,
        ..Account::default()
    };
    let Some(known) = known else { return Ok(found) };
    found.endpoint = known.endpoint;
    found.association = installation.association(cluster, namespace, SERVICE_ACCOUNT).await?;
    let resources = found.stack.iter().flat_map(|stack| &stack.resources);
    let role = resources.into_iter().find(|one| one.logical_id == "KarpenterNodeRole");
    if let Some(role) = role
        && let Some(role) = inspection.role(&role.physical_id).await?
        && inspection.access_entry(cluster, &role.arn).await?.is_some()
    {
        found.node_role_arn = Some(role.arn);
    }
    Ok(found)
}
