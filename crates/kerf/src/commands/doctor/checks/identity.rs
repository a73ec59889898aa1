//! Who the controller is to AWS.

use serde_json::Value;

use crate::commands::doctor::facts::{Account, Facts};
use crate::commands::doctor::finding::Finding;

/// Where a service account names its role.
pub(crate) const ROLE_ARN: &str = "eks.amazonaws.com/role-arn";
/// What tokens for AWS are made out to.
const AUDIENCE: &str = "sts.amazonaws.com";

pub(super) fn service_account(facts: &Facts) -> Vec<Finding> {
    let Some(account) = facts.service_account() else { return Vec::new() };
    let accounts = facts.all("serviceaccounts");
    if accounts.iter().any(|one| one["metadata"]["name"] == account) {
        return Vec::new();
    }
    let namespace = &facts.namespace;
    let evidence = format!("the controller's pods use {namespace}/{account}, which is not there");
    let fix = format!("kubectl -n {namespace} create serviceaccount {account}");
    vec![Finding::failure("service-account", evidence, fix)]
}

/// IRSA. Without the annotation the role comes by Pod Identity.
pub(super) fn irsa(facts: &Facts) -> Vec<Finding> {
    let Some(account) = &facts.account else { return Vec::new() };
    let Some((arn, role)) = &account.controller_role else { return Vec::new() };
    let role = match role {
        Err(why) => return vec![Finding::unknown("irsa", why)],
        Ok(None) => {
            let evidence = format!("the service account names {arn}, which is not there");
            let fix = format!(
                "kubectl -n {} annotate serviceaccount {} --overwrite {ROLE_ARN}=ARN-OF-THE-ROLE",
                facts.namespace,
                facts.service_account().unwrap_or("karpenter"),
            );
            return vec![Finding::failure("irsa", evidence, fix)];
        }
        Ok(Some(role)) => role,
    };
    let Ok(Some(cluster)) = &account.cluster else { return Vec::new() };
    let issuer = cluster.issuer.trim_start_matches("https://");
    let subject = format!(
        "system:serviceaccount:{}:{}",
        facts.namespace,
        facts.service_account().unwrap_or("karpenter")
    );
    let expected = [("issuer", issuer), ("subject", subject.as_str()), ("audience", AUDIENCE)];
    let lacking: Vec<String> = expected
        .iter()
        .filter(|(_, text)| !trusts(&role.trust, text))
        .map(|(what, text)| format!("{what} {text}"))
        .collect();
    match lacking.is_empty() {
        true => Vec::new(),
        false => {
            let evidence =
                format!("the trust policy of {arn} does not name {}", lacking.join(", "));
            let name = arn.rsplit('/').next().unwrap_or(arn);
            let fix = format!(
                "aws iam update-assume-role-policy --role-name {name} --policy-document \
                 file://trust.json (docs/install.md#irsa)"
            );
            vec![Finding::failure("irsa", evidence, fix)]
        }
    }
}

/// Tokens of an issuer that IAM does not know are worth nothing.
pub(super) fn oidc_provider(facts: &Facts) -> Vec<Finding> {
    let Some(Account { has_oidc_provider, cluster, cluster_name, .. }) = &facts.account else {
        return Vec::new();
    };
    match has_oidc_provider {
        None | Some(Ok(true)) => Vec::new(),
        Some(Err(why)) => vec![Finding::unknown("oidc-provider", why)],
        Some(Ok(false)) => {
            let issuer = cluster.as_ref().ok().and_then(Option::as_ref).map(|it| it.issuer.clone());
            let issuer = issuer.unwrap_or_default();
            let evidence = format!("IAM has no OIDC provider for {issuer}");
            let fix = format!(
                "eksctl utils associate-iam-oidc-provider --cluster {cluster_name} --approve"
            );
            vec![Finding::failure("oidc-provider", evidence, fix)]
        }
    }
}

/// Pod Identity, where the service account names no role.
pub(super) fn pod_identity(facts: &Facts) -> Vec<Finding> {
    let Some(Account { pod_identity, cluster_name, .. }) = &facts.account else {
        return Vec::new();
    };
    let identity = match pod_identity {
        None => return Vec::new(),
        Some(Err(why)) => return vec![Finding::unknown("pod-identity", why)],
        Some(Ok(identity)) => identity,
    };
    let account = facts.service_account().unwrap_or("karpenter");
    let namespace = &facts.namespace;
    if identity.association.is_none() {
        let evidence = format!(
            "service account {namespace}/{account} names no role, and no Pod Identity association \
             gives it one"
        );
        let fix = format!(
            "aws eks create-pod-identity-association --cluster-name {cluster_name} --namespace \
             {namespace} --service-account {account} --role-arn ARN-OF-THE-ROLE"
        );
        return vec![Finding::failure("pod-identity", evidence, fix)];
    }
    match identity.agent.as_deref() {
        Some("ACTIVE") => Vec::new(),
        agent => {
            let status = agent.unwrap_or("not installed");
            let evidence = format!("the add-on eks-pod-identity-agent is {status}");
            let fix = format!(
                "aws eks create-addon --cluster-name {cluster_name} --addon-name \
                 eks-pod-identity-agent"
            );
            vec![Finding::failure("pod-identity", evidence, fix)]
        }
    }
}

/// Whether a statement that allows something names a text, in a principal or a condition.
fn trusts(policy: &str, text: &str) -> bool {
    let Ok(policy) = serde_json::from_str::<Value>(policy) else { return false };
    let statements = policy["Statement"].as_array().into_iter().flatten();
    let mut allowing = statements.filter(|one| one["Effect"] == "Allow");
    allowing.any(|one| {
        // An issuer stands at the end of its provider's ARN, and before the colon of a key.
        let is_issuer = one["Principal"]["Federated"].as_str().is_some_and(|it| it.ends_with(text));
        let mut values = Vec::new();
        texts(&one["Condition"], &mut values);
        is_issuer || values.iter().any(|pattern| is_like(pattern, text))
    })
}

/// Every text in a value.
fn texts<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(all) => all.iter().for_each(|one| texts(one, into)),
        Value::Object(all) => all.values().for_each(|one| texts(one, into)),
        _ => {}
    }
}

/// Whether a text is what a pattern with stars says.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

pub(super) fn cluster(facts: &Facts) -> Vec<Finding> {
    let Some(Account { cluster_name, cluster, .. }) = &facts.account else { return Vec::new() };
    match cluster {
        Err(why) => vec![Finding::unknown("eks-cluster", why)],
        Ok(Some(_)) => Vec::new(),
        Ok(None) => {
            let evidence = format!("EKS has no cluster {cluster_name} in this account and region");
            let fix = "aws eks list-clusters; then set settings.clusterName, or AWS_REGION";
            vec![Finding::failure("eks-cluster", evidence, fix)]
        }
    }
}
