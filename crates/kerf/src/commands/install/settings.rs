//! What is to be installed, with every name decided.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use kerf_model::hash::Fnv1a;

use super::flags::{IdentityChoice, Install, Interruption};
use super::requirements::{self, Requirements};

/// The most characters that the name of a role has.
const ROLE_NAME_MAX: usize = 64;
/// The most that a cluster's name has for a policy to be called after it.
const CLUSTER_NAME_MAX: usize = 85;
/// The service account of the controller, as the chart calls it.
pub(crate) const SERVICE_ACCOUNT: &str = "karpenter";

/// How the controller gets its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Irsa,
    PodIdentity,
}

/// What is to be installed.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) cluster: String,
    pub(crate) namespace: String,
    pub(crate) identity: IdentityChoice,
    pub(crate) interruption: Interruption,
    pub(crate) node_role: String,
    pub(crate) controller_role: String,
    pub(crate) permissions_boundary: String,
    /// Without its first slash: empty, or as in `team/`.
    pub(crate) iam_path: String,
    pub(crate) image: Option<String>,
    pub(crate) requirements: Requirements,
    pub(crate) is_legacy: bool,
    pub(crate) subnets: Vec<String>,
    pub(crate) is_forced: bool,
}

impl Settings {
    /// Checks what was asked for, and fills in the names.
    pub(crate) fn of(asked: &Install) -> Result<Self> {
        let cluster = checked_cluster(&asked.cluster)?;
        let node_role =
            named(&asked.node_role, format!("KarpenterNodeRole-{cluster}"), "--node-role")?;
        let controller_role =
            named(&asked.controller_role, format!("{cluster}-karpenter"), "--controller-role")?;
        let requirements = requirements::read(&asked.requirement, asked.requirements.as_deref())?;
        if asked.legacy && requirements.is_empty() {
            bail!("--legacy says how the pool is made, and there is none: give a --requirement");
        }
        let namespace = asked.namespace.clone();
        if !is_name(&namespace, '-', 63) {
            bail!("--namespace {namespace:?} is no name of a namespace");
        }
        Ok(Self {
            namespace,
            identity: asked.identity,
            interruption: asked.interruption,
            node_role,
            controller_role,
            permissions_boundary: checked_arn(asked.permissions_boundary.as_deref())?,
            iam_path: checked_path(&asked.iam_path)?,
            image: asked.image.clone(),
            requirements,
            is_legacy: asked.legacy,
            subnets: asked.subnets.clone(),
            is_forced: asked.force,
            cluster,
        })
    }

    /// The stack of everything in the account.
    pub(crate) fn stack(&self) -> String {
        stack_name(&self.cluster)
    }

    /// The interruption queue, if there is to be one.
    pub(crate) fn queue(&self) -> Option<&str> {
        (self.interruption != Interruption::None).then_some(self.cluster.as_str())
    }

    /// The instance profile that legacy pools name.
    pub(crate) fn instance_profile(&self) -> String {
        format!("KarpenterNodeInstanceProfile-{}", self.cluster)
    }

    /// Parameters of the stack. A role of nodes that exists is named with its path.
    pub(crate) fn parameters(
        &self,
        identity: Identity,
        issuer: &str,
        existing_role: Option<&str>,
    ) -> BTreeMap<String, String> {
        let is_irsa = identity == Identity::Irsa;
        let default_role = self.node_role == format!("KarpenterNodeRole-{}", self.cluster);
        let (path, node_role) = match existing_role {
            Some(role) => role.split_at(role.rfind('/').map_or(0, |slash| slash + 1)),
            None if default_role => ("", ""),
            None => ("", self.node_role.as_str()),
        };
        let issuer = if is_irsa { issuer.trim_start_matches("https://") } else { "" };
        let text = |it: bool| it.to_string();
        [
            ("ClusterName", self.cluster.clone()),
            ("CreateInstanceProfile", text(self.is_legacy)),
            ("CreateNodeRole", text(existing_role.is_none())),
            ("NodeRoleName", node_role.to_owned()),
            ("NodeRolePath", path.to_owned()),
            ("ControllerRoleName", self.controller_role.clone()),
            ("Namespace", self.namespace.clone()),
            ("ServiceAccount", SERVICE_ACCOUNT.to_owned()),
            ("OidcIssuer", issuer.to_owned()),
            ("PodIdentity", text(!is_irsa)),
            ("Interruption", self.interruption.name().to_owned()),
            ("PermissionsBoundary", self.permissions_boundary.clone()),
            ("IamPath", self.iam_path.clone()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }
}

/// The stack of a cluster.
pub(crate) fn stack_name(cluster: &str) -> String {
    format!("Karpenter-{cluster}")
}

fn checked_cluster(name: &str) -> Result<String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    let begins = name.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
    if !begins || !name.chars().all(is_plain) {
        bail!("{name:?} is no name of an EKS cluster: letters, digits, hyphens and underscores");
    }
    if name.len() > CLUSTER_NAME_MAX {
        bail!(
            "the cluster's name has {} characters, and policies called after it may have \
             {CLUSTER_NAME_MAX} of it: use the policies in deploy/policies with names of your own",
            name.len()
        );
    }
    Ok(name.to_owned())
}

/// The role's name that was given, or the usual one where it is short enough.
fn named(given: &Option<String>, usual: String, flag: &str) -> Result<String> {
    let name = given.clone().unwrap_or(usual);
    let name = name.rsplit('/').next().unwrap_or_default().to_owned();
    if name.is_empty() {
        bail!("{flag} needs the name of a role");
    }
    if name.len() > ROLE_NAME_MAX {
        bail!(
            "the role {name} would have {} characters, and IAM allows {ROLE_NAME_MAX}: \
             give {flag} {}",
            name.len(),
            shortened(&name)
        );
    }
    Ok(name)
}

/// A name of the most characters a role may have, which differs where the long ones differ.
fn shortened(name: &str) -> String {
    let mut hash = Fnv1a::default();
    hash.write_field(name.as_bytes());
    let end = format!("-{:08x}", hash.finish() as u32);
    let kept: String = name.chars().take(ROLE_NAME_MAX - end.len()).collect();
    format!("{}{end}", kept.trim_end_matches('-'))
}

fn checked_arn(arn: Option<&str>) -> Result<String> {
    match arn {
        Some(arn) if !arn.starts_with("arn:") || !arn.contains(":policy/") => {
            bail!(
                "--permissions-boundary {arn:?} is no ARN of a policy, such as arn:aws:iam::111122223333:policy/NAME"
            )
        }
        arn => Ok(arn.unwrap_or_default().to_owned()),
    }
}

fn checked_path(path: &str) -> Result<String> {
    let inner = path.strip_prefix('/').context("--iam-path begins with a slash, as in /team/")?;
    if !inner.is_empty() && !inner.ends_with('/') {
        bail!("--iam-path ends with a slash, as in {path}/");
    }
    if inner.contains("//") {
        bail!("--iam-path {path} has a part without a name");
    }
    Ok(inner.to_owned())
}

fn is_name(name: &str, also: char, length_max: usize) -> bool {
    let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == also;
    !name.is_empty() && name.len() <= length_max && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_shortened_name_is_as_long_as_allowed_and_tells_long_names_apart() {
        let long = "a-role-with-a-name-that-nobody-wants-to-type-and-that-goes-on-and-on";
        let (one, other) = (shortened(&format!("{long}-1")), shortened(&format!("{long}-2")));
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
        assert_eq!(one, shortened(&format!("{long}-1")), "the same each time");
    }
}
