//! What would do harm, each with what to do about it.

use std::fmt;

use kube::config::Config;

use super::facts::Facts;
use super::settings::Settings;
use crate::commands::doctor::{other_autoscalers, unsupported_version};

const NODE_POOL: &str = "karpenter.sh/nodepool";

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) what: String,
    pub(crate) to_do: String,
    /// Whether `--force` goes on.
    pub(crate) can_be_forced: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {}\n  to do: {}", self.what, self.to_do)?;
        let or = if self.can_be_forced { "\n  or go on with --force" } else { "" };
        f.write_str(or)
    }
}

/// Everything that speaks against it.
pub(super) fn refusals(settings: &Settings, facts: &Facts) -> Vec<Refusal> {
    let all = [
        wrong_cluster(&settings.cluster, &facts.server, &facts.cluster.endpoint),
        stack(settings, facts),
        queue(settings, facts),
        second_controller(facts),
        no_node(facts),
        autoscaler(facts),
        version(facts),
        wrong_entry(settings, facts),
    ];
    let refuses = |one: &Refusal| !(one.can_be_forced && settings.is_forced);
    all.into_iter().flatten().filter(refuses).collect()
}

pub(crate) fn refusal(
    what: String,
    to_do: impl Into<String>,
    can_be_forced: bool,
) -> Option<Refusal> {
    Some(Refusal { what, to_do: to_do.into(), can_be_forced })
}

/// The kubeconfig leads to one cluster, and the name belongs to another.
pub(crate) fn wrong_cluster(cluster: &str, server: &str, endpoint: &str) -> Option<Refusal> {
    let host = |url: &str| url.trim_end_matches('/').to_ascii_lowercase();
    let (server, endpoint) = (host(server), host(endpoint));
    if server == endpoint {
        return None;
    }
    let what = format!("your kubeconfig leads to {server}, and {cluster} is at {endpoint}");
    refusal(what, format!("aws eks update-kubeconfig --name {cluster}"), true)
}

/// A stack that somebody else, or nobody, is working on.
fn stack(settings: &Settings, facts: &Facts) -> Option<Refusal> {
    let (name, stack) = (settings.stack(), facts.stack.as_ref()?);
    let status = stack.status.as_str();
    if status.ends_with("_IN_PROGRESS") {
        let what = format!("the stack {name} is being changed: {status}");
        return refusal(what, "wait until it is done, and run this again", false);
    }
    let failed = stack.resources.iter().find(|one| one.status.ends_with("_FAILED"));
    let why = failed.map(|one| format!(": {} {}", one.logical_id, one.reason)).unwrap_or_default();
    match status {
        "CREATE_COMPLETE" | "UPDATE_COMPLETE" | "UPDATE_ROLLBACK_COMPLETE" | "IMPORT_COMPLETE" => {
            None
        }
        "UPDATE_ROLLBACK_FAILED" => refusal(
            format!("the stack {name} could not be rolled back{why}"),
            format!("aws cloudformation continue-update-rollback --stack-name {name}"),
            false,
        ),
        _ => refusal(
            format!("the stack {name} is half made ({status}){why}"),
            format!(
                "aws cloudformation delete-stack --stack-name {name} && aws cloudformation wait \
                 stack-delete-complete --stack-name {name}, and run this again"
            ),
            false,
        ),
    }
}

fn queue(settings: &Settings, facts: &Facts) -> Option<Refusal> {
    let queue = settings.queue().filter(|_| facts.has_queue)?;
    if facts.owns("KarpenterInterruptionQueue") {
        return None;
    }
    let what =
        format!("the queue {queue} is there, and the stack {} did not make it", settings.stack());
    let to_do = "--interruption none leaves it alone; or delete it, if nobody reads it";
    refusal(what, to_do, false)
}

fn second_controller(facts: &Facts) -> Option<Refusal> {
    let is_others = |one: &&serde_json::Value| {
        let managers = one["metadata"]["managedFields"].as_array();
        !managers.into_iter().flatten().any(|it| it["manager"] == "kerf-install")
    };
    let other = facts.in_cluster.controllers().find(is_others)?;
    let text = |field: &str| other["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let what =
        format!("deployment {namespace}/{name} runs Karpenter, or Kerf installed in another way");
    let to_do = format!(
        "upgrade it as it was installed (docs/migrate-from-karpenter.md), or: helm uninstall {name} \
         --namespace {namespace}"
    );
    refusal(what, to_do, true)
}

/// The controller must not run on nodes that it may take away.
fn no_node(facts: &Facts) -> Option<Refusal> {
    let nodes = facts.in_cluster.all("nodes");
    let is_own = |one: &&serde_json::Value| one["metadata"]["labels"][NODE_POOL].is_null();
    if nodes.iter().any(|one| is_own(&one)) {
        return None;
    }
    let what = "the controller would have no node to run on but those it manages".to_owned();
    let to_do = "make a managed node group of two nodes in two zones; on Fargate, --force";
    refusal(what, to_do, true)
}

fn autoscaler(facts: &Facts) -> Option<Refusal> {
    let found = other_autoscalers(&facts.in_cluster).into_iter().next()?;
    refusal(found.evidence, found.fix, true)
}

fn version(facts: &Facts) -> Option<Refusal> {
    let found = unsupported_version(&facts.in_cluster).into_iter().next()?;
    refusal(found.evidence, found.fix, true)
}

/// Nodes whose entry is of another type never join.
fn wrong_entry(settings: &Settings, facts: &Facts) -> Option<Refusal> {
    let entry = facts.entry.as_ref().filter(|entry| !entry.kind.starts_with("EC2_"))?;
    let what = format!("the access entry of {} is of type {}", settings.node_role, entry.kind);
    let to_do = format!(
        "aws eks delete-access-entry --cluster-name {} --principal-arn {}",
        settings.cluster,
        facts.node_role.as_ref().map(|role| role.arn.as_str()).unwrap_or_default()
    );
    refusal(what, to_do, false)
}

/// Where a kubeconfig leads.
pub(crate) fn server(config: &Config) -> String {
    config.cluster_url.to_string()
}
