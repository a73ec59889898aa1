//! The cluster itself.

use serde_json::Value;

use crate::commands::doctor::facts::{Facts, Unread, name};
use crate::commands::doctor::finding::Finding;

/// Minor versions of Kubernetes that Kerf is meant for.
const MINORS: std::ops::RangeInclusive<u32> = 29..=36;
const APPLY: &str = "kerf crds | kubectl apply --server-side --force-conflicts -f -";

pub(crate) fn server(facts: &Facts) -> Vec<Finding> {
    let version = match &facts.version {
        Ok(version) => version,
        Err(why) => {
            let fix = "set KUBECONFIG, or run: aws eks update-kubeconfig --name CLUSTER";
            return vec![Finding::failure("api-server", format!("no answer: {why}"), fix)];
        }
    };
    let minor = version.split('.').nth(1).and_then(|minor| minor.parse().ok());
    if minor.is_some_and(|minor: u32| MINORS.contains(&minor)) {
        return Vec::new();
    }
    let evidence =
        format!("version {version} is not one of 1.{} to 1.{}", MINORS.start(), MINORS.end());
    vec![Finding::warning("api-server", evidence, "use a version in between")]
}

pub(super) fn definitions(facts: &Facts) -> Vec<Finding> {
    let is_absent = |kind: &&str| facts.lists.get(*kind) == Some(&Err(Unread::Absent));
    let kinds = ["nodepools", "nodeclaims", "ec2nodeclasses"];
    let absent: Vec<&str> = kinds.into_iter().filter(is_absent).collect();
    match absent.is_empty() {
        true => Vec::new(),
        false => {
            vec![Finding::failure(
                "definitions",
                format!("not served: {}", absent.join(", ")),
                APPLY,
            )]
        }
    }
}

/// Definitions that are there and differ from this program's.
pub(super) fn schemas(facts: &Facts) -> Vec<Finding> {
    let stored = facts.all("customresourcedefinitions");
    let differs = |own: &Value| {
        let name = &own["metadata"]["name"];
        let stored = stored.iter().find(|one| one["metadata"]["name"] == *name)?;
        (!is_same(schema(stored), schema(own)))
            .then(|| name.as_str().unwrap_or_default().to_owned())
    };
    let own = kerf_api::crds();
    let own = own.iter().filter_map(|one| serde_json::to_value(one).ok());
    let differing: Vec<String> = own.filter_map(|own| differs(&own)).collect();
    match differing.is_empty() {
        true => Vec::new(),
        false => {
            let evidence = format!("of another version: {}", differing.join(", "));
            vec![Finding::warning("schemas", evidence, APPLY)]
        }
    }
}

/// What of a definition decides which objects are accepted.
fn schema(definition: &Value) -> Vec<(&Value, &Value)> {
    let versions = definition["spec"]["versions"].as_array();
    versions.into_iter().flatten().map(|one| (&one["name"], &one["schema"])).collect()
}

fn is_same(stored: Vec<(&Value, &Value)>, own: Vec<(&Value, &Value)>) -> bool {
    let is_pair = |(one, other): (&(&Value, &Value), &(&Value, &Value))| {
        one.0 == other.0 && is_equal(one.1, other.1)
    };
    stored.len() == own.len() && stored.iter().zip(&own).all(is_pair)
}

/// Whether two values mean the same: the API server writes 0 for 0.0.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_equal = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|it| is_equal(value, it))
            };
            one.len() == other.len() && one.iter().all(has_equal)
        }
        _ => one == other,
    }
}

/// What keeps Kerf's objects from being served as they are, each with what to do.
pub(crate) fn in_the_way(facts: &Facts) -> Vec<String> {
    let found = definitions(facts).into_iter().chain(schemas(facts)).chain(webhooks(facts));
    found.map(|one| format!("{}: {}", one.evidence, one.fix)).collect()
}

pub(super) fn webhooks(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for kind in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
        let is_karpenters = |hook: &Value| {
            let name = hook["name"].as_str().unwrap_or_default();
            name.ends_with("karpenter.sh") || name.ends_with("karpenter.k8s.aws")
        };
        for one in facts.all(kind) {
            if one["webhooks"].as_array().into_iter().flatten().any(is_karpenters) {
                let name = name(one);
                let evidence = format!("{name} asks a webhook of Karpenter, which Kerf has not");
                findings.push(Finding::failure(
                    "webhooks",
                    evidence,
                    format!("kubectl delete {kind} {name}"),
                ));
            }
        }
    }
    for one in facts.all("customresourcedefinitions") {
        let is_of_karpenter =
            one["spec"]["group"].as_str().is_some_and(|it| it.contains("karpenter"));
        if is_of_karpenter && one["spec"]["conversion"]["strategy"] == "Webhook" {
            let evidence = format!("{} is converted by a webhook, which Kerf has not", name(one));
            findings.push(Finding::failure("webhooks", evidence, APPLY));
        }
    }
    findings
}

pub(crate) fn autoscaler(facts: &Facts) -> Vec<Finding> {
    let runs = |one: &&Value| {
        name(one).contains("cluster-autoscaler") && one["spec"]["replicas"].as_u64() != Some(0)
    };
    let running = facts.all("deployments").iter().filter(runs);
    running
        .map(|one| {
            let evidence = format!("deployment {} may scale the same nodes", name(one));
            let namespace = one["metadata"]["namespace"].as_str().unwrap_or("kube-system");
            let name = one["metadata"]["name"].as_str().unwrap_or_default();
            let fix = format!("kubectl -n {namespace} scale deployment {name} --replicas=0");
            Finding::warning("autoscaler", evidence, fix)
        })
        .collect()
}
