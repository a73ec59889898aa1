//! The controller in the cluster.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::commands::doctor::facts::{Facts, label, name};
use crate::commands::doctor::finding::{Finding, Severity};

/// Marks nodes that a controller made.
const NODE_POOL: &str = "karpenter.sh/nodepool";
const ZONE: &str = "topology.kubernetes.io/zone";
const LEASE: &str = "karpenter-leader-election";
const INSTALL: &str = "helm upgrade --install karpenter deploy/charts/karpenter \
                       --namespace karpenter --create-namespace --set settings.clusterName=CLUSTER";

pub(super) fn installed(facts: &Facts) -> Vec<Finding> {
    let all: Vec<&Value> = facts.controllers().collect();
    match all.as_slice() {
        [_] => Vec::new(),
        [] => {
            let evidence = "no deployment runs `kerf controller` or Karpenter".to_owned();
            vec![Finding::failure("controller", evidence, INSTALL)]
        }
        several => {
            let names: Vec<String> = several.iter().map(|one| name(one)).collect();
            let evidence = format!("{} run at once", names.join(" and "));
            let fix = "uninstall one of them: helm list -A -f karpenter";
            vec![Finding::failure("controller", evidence, fix)]
        }
    }
}

pub(super) fn replicas(facts: &Facts) -> Vec<Finding> {
    let Some(deployment) = facts.controller() else { return Vec::new() };
    let ready = deployment["status"]["readyReplicas"].as_u64().unwrap_or(0);
    let (namespace, own) = names(deployment);
    let evidence = format!("deployment {} has {ready} ready", name(deployment));
    match ready {
        0 => {
            let fix = format!("kubectl -n {namespace} describe pods -l karpenter=controller");
            vec![Finding::failure("replicas", evidence, fix)]
        }
        1 => {
            let fix = format!("kubectl -n {namespace} scale deployment {own} --replicas=2");
            vec![Finding::warning("replicas", evidence, fix)]
        }
        _ => Vec::new(),
    }
}

pub(crate) fn placement(facts: &Facts) -> Vec<Finding> {
    let Some(deployment) = facts.controller() else { return Vec::new() };
    let mut findings = Vec::new();
    let mut zones = BTreeSet::new();
    let mut count = 0;
    for pod in pods_of(facts, deployment) {
        let node = &pod["spec"]["nodeName"];
        let Some(node) = facts.all("nodes").iter().find(|one| one["metadata"]["name"] == *node)
        else {
            continue;
        };
        count += 1;
        zones.extend(label(node, ZONE));
        if let Some(pool) = label(node, NODE_POOL) {
            let evidence = format!("pod {} runs on node {} of pool {pool}", name(pod), name(node));
            let fix = "give the controller nodes of a managed node group, or Fargate, and delete \
                       the pod; affinity of the chart keeps it there";
            findings.push(Finding::failure("placement", evidence, fix));
        }
    }
    if count > 1 && zones.len() == 1 {
        let evidence = format!("all {count} pods run in {}", zones.into_iter().collect::<String>());
        let fix = "give the controller nodes in a second zone";
        findings.push(Finding::warning("placement", evidence, fix));
    }
    findings
}

/// The pods that a deployment selects.
fn pods_of<'a>(facts: &'a Facts, deployment: &'a Value) -> impl Iterator<Item = &'a Value> {
    let wanted = deployment["spec"]["selector"]["matchLabels"].as_object();
    let namespace = &deployment["metadata"]["namespace"];
    let is_its = move |pod: &&Value| {
        let has = |(key, value): (&String, &Value)| pod["metadata"]["labels"][key] == *value;
        let is_here = pod["metadata"]["namespace"] == *namespace;
        is_here && wanted.is_some_and(|wanted| wanted.iter().all(has))
    };
    facts.all("pods").iter().filter(is_its)
}

/// Why nobody leads, if nobody does.
pub(crate) fn no_leader(facts: &Facts) -> Option<String> {
    let found = installed(facts).into_iter().chain(replicas(facts)).chain(lease(facts));
    found.filter(|one| one.severity == Severity::Failure).map(|one| one.evidence).next()
}

pub(super) fn lease(facts: &Facts) -> Vec<Finding> {
    let Some(deployment) = facts.controller() else { return Vec::new() };
    let (namespace, _) = names(deployment);
    let fix = format!("kubectl -n {namespace} logs -l karpenter=controller --tail=100");
    let fails = |evidence: String| vec![Finding::failure("lease", evidence, fix.clone())];
    let lease = facts.all("leases").iter().find(|one| one["metadata"]["name"] == LEASE);
    let Some(lease) = lease else { return fails(format!("there is no lease {namespace}/{LEASE}")) };
    let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
    if holder.is_empty() {
        return fails(format!("nobody holds the lease {namespace}/{LEASE}"));
    }
    let lasts = lease["spec"]["leaseDurationSeconds"].as_i64().unwrap_or(15);
    let renewed = lease["spec"]["renewTime"].as_str().and_then(|it| it.parse::<Timestamp>().ok());
    let age = renewed.map(|renewed| facts.now_seconds - renewed.as_second());
    match age {
        Some(age) if age <= 2 * lasts => Vec::new(),
        Some(age) => fails(format!("{holder} holds the lease and has not renewed it for {age} s")),
        None => fails(format!("{holder} holds the lease and has never renewed it")),
    }
}

/// Namespace and name.
fn names(object: &Value) -> (&str, &str) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    (text("namespace"), text("name"))
}
