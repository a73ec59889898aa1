//! The steps to what is asked for, from what is there.

use std::collections::BTreeMap;

use kerf_aws::iam;
use serde_json::Value;

use super::cluster::{Difference, title};
use super::default_pool::DISCOVERY;
use super::facts::Facts;
use super::settings::{Identity, SERVICE_ACCOUNT, Settings};

/// One step. What is right already is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stack {
        name: String,
        is_new: bool,
        parameters: BTreeMap<String, String>,
    },
    OidcProvider {
        url: String,
    },
    SpotRole,
    /// Subnets and the cluster's security group.
    Tags {
        ids: Vec<String>,
    },
    AccessEntry {
        role_arn: String,
    },
    /// With the id of one that names another role.
    Association {
        role_arn: String,
        id: Option<String>,
    },
    Object {
        object: Value,
        difference: Difference,
    },
}

impl Step {
    /// For people.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Stack { name, is_new: true, .. } => {
                format!("create  stack {name}: roles, policies, queue, rules")
            }
            Self::Stack { name, .. } => {
                format!("update  stack {name}: its template or its parameters differ")
            }
            Self::OidcProvider { url } => format!("create  OIDC provider {url}"),
            Self::SpotRole => "create  service-linked role AWSServiceRoleForEC2Spot".to_owned(),
            Self::Tags { ids } => format!("tag     {} with {DISCOVERY}", ids.join(", ")),
            Self::AccessEntry { role_arn } => format!("create  access entry of {role_arn}"),
            Self::Association { role_arn, id: None } => {
                format!("create  Pod Identity association of {SERVICE_ACCOUNT} with {role_arn}")
            }
            Self::Association { role_arn, .. } => {
                format!("update  Pod Identity association of {SERVICE_ACCOUNT}, to {role_arn}")
            }
            Self::Object { object, difference: Difference::Changed(paths) } => {
                format!("update  {}: {}", title(object), paths.join(", "))
            }
            Self::Object { object, .. } => format!("create  {}", title(object)),
        }
    }
}

/// What is to be done in the account. Nodes are let in by aws-auth where the cluster knows no other
/// way, which is left to people and said.
pub(super) fn account(settings: &Settings, facts: &Facts) -> Vec<Step> {
    let mut steps = Vec::new();
    let parameters =
        settings.parameters(facts.identity, &facts.cluster.issuer, facts.existing_role());
    let is_same = facts.stack.as_ref().is_some_and(|stack| {
        stack.parameters == parameters && stack.template.trim() == iam::classic_stack().trim()
    });
    if facts.identity == Identity::Irsa && facts.oidc.is_none() {
        steps.push(Step::OidcProvider { url: facts.cluster.issuer.clone() });
    }
    if !is_same {
        let (name, is_new) = (settings.stack(), facts.stack.is_none());
        steps.push(Step::Stack { name, is_new, parameters });
    }
    if !facts.has_spot_role {
        steps.push(Step::SpotRole);
    }
    let ids = untagged(settings, facts);
    if !ids.is_empty() {
        steps.push(Step::Tags { ids });
    }
    if facts.entry.is_none() && knows_entries(facts) {
        steps.push(Step::AccessEntry { role_arn: node_role_arn(settings, facts) });
    }
    let role_arn = controller_role_arn(settings, facts);
    let is_associated = facts.association.as_ref().is_some_and(|it| it.role_arn == role_arn);
    if facts.identity == Identity::PodIdentity && !is_associated {
        let id = facts.association.as_ref().map(|it| it.id.clone());
        steps.push(Step::Association { role_arn, id });
    }
    steps
}

/// Whether nodes are let in by access entries.
pub(super) fn knows_entries(facts: &Facts) -> bool {
    facts.cluster.authentication_mode != "CONFIG_MAP"
}

pub(super) fn controller_role_arn(settings: &Settings, facts: &Facts) -> String {
    facts.role_arn(&format!("{}{}", settings.iam_path, settings.controller_role))
}

pub(super) fn node_role_arn(settings: &Settings, facts: &Facts) -> String {
    match &facts.node_role {
        Some(role) => role.arn.clone(),
        None => facts.role_arn(&format!("{}{}", settings.iam_path, settings.node_role)),
    }
}

/// Subnets and the cluster's security group that lack the tag. Whoever has tagged subnets keeps to
/// them; else the private ones are taken, or all where none is private.
fn untagged(settings: &Settings, facts: &Facts) -> Vec<String> {
    let has = |tags: &[(String, String)]| {
        tags.iter().any(|(key, value)| key == DISCOVERY && *value == settings.cluster)
    };
    let mut ids: Vec<String> = Vec::new();
    let is_of_cluster =
        |id: &String| facts.cluster.subnet_ids.is_empty() || facts.cluster.subnet_ids.contains(id);
    if !settings.subnets.is_empty() {
        let chosen = facts.subnets.iter().filter(|one| settings.subnets.contains(&one.id));
        ids.extend(chosen.filter(|one| !has(&one.tags)).map(|one| one.id.clone()));
    } else if !facts.subnets.iter().any(|one| has(&one.tags)) {
        let own: Vec<_> = facts.subnets.iter().filter(|one| is_of_cluster(&one.id)).collect();
        let has_private = own.iter().any(|one| !one.is_public);
        let chosen = own.into_iter().filter(|one| !has_private || !one.is_public);
        ids.extend(chosen.map(|one| one.id.clone()));
    }
    if !facts.groups.iter().any(|group| has(&group.tags)) {
        let group = &facts.cluster.security_group_id;
        ids.extend((!group.is_empty()).then(|| group.clone()));
    }
    ids
}
