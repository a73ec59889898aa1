//! What is there before anything is installed.

use anyhow::{Context, Result, bail};
use kerf_aws::{
    AccessEntry, Association, ClusterAccess, Inspection, Installation, InstalledSubnet,
    OidcProvider, RoleFacts, StackFacts, TaggedGroup,
};

use super::flags::IdentityChoice;
use super::settings::{Identity, SERVICE_ACCOUNT, Settings};
use crate::commands::doctor::Facts as InCluster;

/// The add-on that Pod Identity needs.
const AGENT: &str = "eks-pod-identity-agent";
const SPOT_ROLE: &str = "AWSServiceRoleForEC2Spot";

/// What is known of cluster and account.
pub(super) struct Facts {
    /// Where the kubeconfig leads.
    pub(super) server: String,
    pub(super) in_cluster: InCluster,
    pub(super) cluster: ClusterAccess,
    pub(super) stack: Option<StackFacts>,
    pub(super) node_role: Option<RoleFacts>,
    pub(super) has_queue: bool,
    pub(super) has_spot_role: bool,
    pub(super) subnets: Vec<InstalledSubnet>,
    pub(super) groups: Vec<TaggedGroup>,
    pub(super) entry: Option<AccessEntry>,
    pub(super) identity: Identity,
    pub(super) association: Option<Association>,
    pub(super) oidc: Option<OidcProvider>,
}

impl Facts {
    /// The partition and the account of the cluster.
    pub(super) fn account(&self) -> (&str, &str) {
        let mut parts = self.cluster.arn.split(':').skip(1);
        let partition = parts.next().unwrap_or("aws");
        (partition, parts.nth(2).unwrap_or_default())
    }

    /// The ARN of a role of this account.
    pub(super) fn role_arn(&self, path_and_name: &str) -> String {
        let (partition, account) = self.account();
        format!("arn:{partition}:iam::{account}:role/{path_and_name}")
    }

    /// Whether a resource belongs to the stack.
    pub(super) fn owns(&self, logical_id: &str) -> bool {
        let resources = self.stack.iter().flat_map(|stack| &stack.resources);
        resources.into_iter().any(|one| one.logical_id == logical_id && !one.physical_id.is_empty())
    }

    /// A role of nodes that exists and is not the stack's, with its path.
    pub(super) fn existing_role(&self) -> Option<&str> {
        let role = self.node_role.as_ref().filter(|_| !self.owns("KarpenterNodeRole"))?;
        role.arn.split_once(":role/").map(|(_, name)| name)
    }
}

/// Asks AWS; the cluster has been asked.
pub(super) async fn gather(
    settings: &Settings,
    server: String,
    in_cluster: InCluster,
    (inspection, installation): (&Inspection, &Installation),
) -> Result<Facts> {
    let cluster = inspection.cluster(&settings.cluster).await?;
    let Some(cluster) = cluster else {
        bail!(
            "EKS has no cluster {} in this account and region: aws eks list-clusters",
            settings.cluster
        )
    };
    let name = &settings.cluster;
    let identity = match settings.identity {
        IdentityChoice::Irsa => Identity::Irsa,
        IdentityChoice::PodIdentity => Identity::PodIdentity,
        IdentityChoice::Auto => match installation.addon(name, AGENT).await?.as_deref() {
            Some("ACTIVE") => Identity::PodIdentity,
            _ => Identity::Irsa,
        },
    };
    let mut facts = Facts {
        server,
        in_cluster,
        stack: installation.stack(&settings.stack()).await?,
        node_role: inspection.role(&settings.node_role).await?,
        has_queue: inspection.queue(name).await?.is_some(),
        has_spot_role: inspection.role(SPOT_ROLE).await?.is_some(),
        subnets: installation.subnets(&cluster.vpc_id).await?,
        groups: installation.security_groups(&cluster.vpc_id).await?,
        entry: None,
        identity,
        association: None,
        oidc: None,
        cluster,
    };
    if let Some(role) = &facts.node_role {
        facts.entry = inspection.access_entry(name, &role.arn).await?;
    }
    match identity {
        Identity::PodIdentity => {
            let of = installation.association(name, &settings.namespace, SERVICE_ACCOUNT);
            facts.association = of.await?;
        }
        Identity::Irsa => {
            let issuer = facts.cluster.issuer.strip_prefix("https://");
            let issuer =
                issuer.context("the cluster has no OpenID Connect issuer, which IRSA needs")?;
            let (partition, account) = facts.account();
            let arn = format!("arn:{partition}:iam::{account}:oidc-provider/{issuer}");
            facts.oidc = installation.oidc_provider(&arn).await?;
        }
    }
    Ok(facts)
}
