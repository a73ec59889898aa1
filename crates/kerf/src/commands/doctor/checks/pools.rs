//! Classes, pools, and pods that wait.

use std::collections::{BTreeMap, BTreeSet};

use kerf_model::quantity::Quantity;
use serde_json::Value;

use crate::commands::doctor::facts::{Facts, Unread, is_ready, name, unmet};
use crate::commands::doctor::finding::Finding;

/// Groups of pods that are named.
const GROUPS_MAX: usize = 20;

pub(super) fn classes(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for class in facts.all("ec2nodeclasses") {
        let name = name(class);
        let fix = format!(
            "kubectl describe ec2nodeclass {name} (docs/aws.md#conditions-of-an-ec2nodeclass)"
        );
        if !is_ready(class) {
            let evidence = format!("EC2NodeClass {name} is not ready: {}", unmet(class).join("; "));
            findings.push(Finding::failure("node-classes", evidence, fix));
            continue;
        }
        let subnets = class["status"]["subnets"].as_array();
        let zones: BTreeSet<&str> =
            subnets.into_iter().flatten().filter_map(|subnet| subnet["zone"].as_str()).collect();
        if zones.len() == 1 {
            let zone = zones.into_iter().collect::<String>();
            let evidence = format!("EC2NodeClass {name} selects subnets of {zone} alone");
            let fix = "tag a subnet of another zone as its selector asks";
            findings.push(Finding::warning("node-classes", evidence, fix));
        }
    }
    findings
}

pub(super) fn pools(facts: &Facts) -> Vec<Finding> {
    let pools = facts.all("nodepools");
    let legacy = facts.all("provisioners");
    let mut findings = Vec::new();
    if !legacy.is_empty() {
        let names: Vec<String> = legacy.iter().map(name).collect();
        let evidence = format!("Provisioner {} has no effect", names.join(", "));
        let fix = "kubectl get provisioners,awsnodetemplates -o yaml | kerf convert -f - | kubectl \
                   apply -f -";
        findings.push(Finding::warning("pools", evidence, fix));
    }
    let is_known = facts.lists.get("nodepools").is_some_and(Result::is_ok);
    if pools.is_empty() && legacy.is_empty() && is_known {
        let evidence = "there is no NodePool, so no node is ever launched".to_owned();
        findings.push(Finding::warning("pools", evidence, "kubectl apply -f (docs/aws.md)"));
    }
    let classes = facts.all("ec2nodeclasses");
    for pool in pools.iter().filter(|pool| !is_ready(pool)) {
        let class = &pool["spec"]["template"]["spec"]["nodeClassRef"]["name"];
        // What is wrong with its class is said there.
        if classes.iter().any(|one| one["metadata"]["name"] == *class && !is_ready(one)) {
            continue;
        }
        let name = name(pool);
        let evidence = format!("NodePool {name} is not ready: {}", unmet(pool).join("; "));
        let fix = format!("kubectl describe nodepool {name}");
        findings.push(Finding::failure("pools", evidence, fix));
    }
    findings
}

pub(super) fn limits(facts: &Facts) -> Vec<Finding> {
    facts
        .all("nodepools")
        .iter()
        .flat_map(|pool| [at_limit(pool), never_disrupted(pool)])
        .flatten()
        .collect()
}

fn at_limit(pool: &Value) -> Option<Finding> {
    let quantity = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Quantity::parse(&text).ok()
    };
    let limits = pool["spec"]["limits"].as_object()?;
    let reached = limits.iter().find(|(resource, limit)| {
        let used = &pool["status"]["resources"][resource.as_str()];
        let (used, limit) = (quantity(used), quantity(limit));
        used.zip(limit).is_some_and(|(used, limit)| used >= limit)
    });
    let (resource, limit) = reached?;
    let name = name(pool);
    let used = &pool["status"]["resources"][resource.as_str()];
    let evidence = format!("NodePool {name} uses {used} of {resource}, and its limit is {limit}");
    let fix = format!("kubectl edit nodepool {name}: raise spec.limits.{resource}, or take it out");
    Some(Finding::warning("limits", evidence, fix))
}

/// A budget of nothing for every reason and at all times.
fn never_disrupted(pool: &Value) -> Option<Finding> {
    let budgets = pool["spec"]["disruption"]["budgets"].as_array()?;
    let blocks = |one: &Value| {
        let nothing = one["nodes"] == "0" || one["nodes"] == "0%";
        nothing && one["schedule"].is_null() && one["reasons"].is_null()
    };
    budgets.iter().any(blocks).then(|| {
        let name = name(pool);
        let evidence = format!("a budget of NodePool {name} forbids all disruption, drift too");
        let fix = format!("kubectl edit nodepool {name}: give the budget a schedule or reasons");
        Finding::warning("limits", evidence, fix)
    })
}

/// Pods that no node takes, by what made them.
pub(super) fn pending(facts: &Facts) -> Vec<Finding> {
    if let Some(Err(Unread::Failed(why))) = facts.lists.get("pods") {
        return vec![Finding::unknown("pending-pods", why)];
    }
    let mut groups: BTreeMap<(String, String), u32> = BTreeMap::new();
    for pod in facts.all("pods").iter().filter(|pod| pod["spec"]["nodeName"].is_null()) {
        let conditions = pod["status"]["conditions"].as_array();
        let refused = conditions
            .into_iter()
            .flatten()
            .find(|one| one["type"] == "PodScheduled" && one["reason"] == "Unschedulable");
        let Some(refused) = refused else { continue };
        let owner = pod["metadata"]["ownerReferences"][0]["name"].as_str();
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        let group = owner.map_or_else(|| name(pod), |owner| format!("{namespace}/{owner}"));
        let why = refused["message"].as_str().unwrap_or_default().to_owned();
        *groups.entry((group, why)).or_default() += 1;
    }
    let finding = |((group, why), count): ((String, String), u32)| {
        let evidence = format!("{count} of {group}: {why}");
        let fix = "kubectl describe pod: events of the controller say why no node is launched";
        Finding::warning("pending-pods", evidence, fix)
    };
    groups.into_iter().take(GROUPS_MAX).map(finding).collect()
}
