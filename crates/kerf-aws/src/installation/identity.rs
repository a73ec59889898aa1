//! Who nodes and the controller are: access entries, Pod Identity, OIDC providers, roles.

use super::Installation;
use crate::{CallError, Result};

/// How IAM says that there is no such thing, and that there is one already.
const NO_SUCH_ENTITY: &str = "NoSuchEntity";
const SPOT: &str = "spot.amazonaws.com";
/// What tokens for AWS are made out to.
const AUDIENCE: &str = "sts.amazonaws.com";

/// Which role pods of a service account have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    /// Its id.
    pub id: String,
    /// The role's ARN.
    pub role_arn: String,
}

/// An issuer of tokens that IAM believes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OidcProvider {
    /// Whom its tokens may be made out to.
    pub audiences: Vec<String>,
}

impl Installation {
    /// Lets nodes of a role join a cluster.
    pub async fn create_access_entry(&self, cluster: &str, role_arn: &str) -> Result<()> {
        let call = self.eks.create_access_entry().cluster_name(cluster).principal_arn(role_arn);
        let answer = call.r#type("EC2_LINUX").send().await;
        answer.map_err(|error| CallError::new("eks:CreateAccessEntry", role_arn, error))?;
        Ok(())
    }

    /// Takes an access entry away; whether there was one.
    pub async fn delete_access_entry(&self, cluster: &str, role_arn: &str) -> Result<bool> {
        let call = self.eks.delete_access_entry().cluster_name(cluster).principal_arn(role_arn);
        let answer = CallError::or_none("eks:DeleteAccessEntry", role_arn, call.send().await)?;
        Ok(answer.is_some())
    }

    /// The role of a service account by Pod Identity, if it has one.
    pub async fn association(
        &self,
        cluster: &str,
        namespace: &str,
        account: &str,
    ) -> Result<Option<Association>> {
        const LIST: &str = "eks:ListPodIdentityAssociations";
        const DESCRIBE: &str = "eks:DescribePodIdentityAssociation";
        let call = self.eks.list_pod_identity_associations().cluster_name(cluster);
        let call = call.namespace(namespace).service_account(account);
        let Some(listed) = CallError::or_none(LIST, cluster, call.send().await)? else {
            return Ok(None);
        };
        let Some(id) = listed.associations().first().and_then(|one| one.association_id()) else {
            return Ok(None);
        };
        let call = self.eks.describe_pod_identity_association().cluster_name(cluster);
        let answer = call.association_id(id).send().await;
        let answer = CallError::or_none(DESCRIBE, id, answer)?;
        let association = answer.as_ref().and_then(|answer| answer.association());
        Ok(association.map(|one| Association {
            id: id.to_owned(),
            role_arn: one.role_arn().unwrap_or_default().to_owned(),
        }))
    }

    /// Gives pods of a service account a role.
    pub async fn create_association(
        &self,
        cluster: &str,
        namespace: &str,
        account: &str,
        role_arn: &str,
    ) -> Result<()> {
        const ACTION: &str = "eks:CreatePodIdentityAssociation";
        let call = self.eks.create_pod_identity_association().cluster_name(cluster);
        let call = call.namespace(namespace).service_account(account).role_arn(role_arn);
        call.send().await.map_err(|error| CallError::new(ACTION, cluster, error))?;
        Ok(())
    }

    /// Gives it another.
    pub async fn update_association(&self, cluster: &str, id: &str, role_arn: &str) -> Result<()> {
        const ACTION: &str = "eks:UpdatePodIdentityAssociation";
        let call = self.eks.update_pod_identity_association().cluster_name(cluster);
        let answer = call.association_id(id).role_arn(role_arn).send().await;
        answer.map_err(|error| CallError::new(ACTION, id, error))?;
        Ok(())
    }

    /// Takes it away.
    pub async fn delete_association(&self, cluster: &str, id: &str) -> Result<()> {
        const ACTION: &str = "eks:DeletePodIdentityAssociation";
        let call = self.eks.delete_pod_identity_association().cluster_name(cluster);
        let answer = call.association_id(id).send().await;
        CallError::or_none(ACTION, id, answer)?;
        Ok(())
    }

    /// The status of an add-on, such as `ACTIVE`, if the cluster has it.
    pub async fn addon(&self, cluster: &str, name: &str) -> Result<Option<String>> {
        let call = self.eks.describe_addon().cluster_name(cluster).addon_name(name);
        let answer = CallError::or_none("eks:DescribeAddon", name, call.send().await)?;
        let addon = answer.as_ref().and_then(|answer| answer.addon());
        let status = addon.and_then(|addon| addon.status());
        Ok(status.map(|status| status.as_str().to_owned()))
    }

    /// The provider of this ARN, if IAM has it.
    pub async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>> {
        const ACTION: &str = "iam:GetOpenIDConnectProvider";
        let call = self.iam.get_open_id_connect_provider().open_id_connect_provider_arn(arn);
        match call.send().await.map_err(|error| CallError::new(ACTION, arn, error)) {
            Err(error) if error.code() == Some(NO_SUCH_ENTITY) => Ok(None),
            Err(error) => Err(error),
            Ok(answer) => Ok(Some(OidcProvider { audiences: answer.client_id_list().to_vec() })),
        }
    }

    /// Has IAM believe tokens of a cluster's issuer. IAM finds out the thumbprint by itself.
    pub async fn create_oidc_provider(&self, url: &str) -> Result<()> {
        const ACTION: &str = "iam:CreateOpenIDConnectProvider";
        let call = self.iam.create_open_id_connect_provider().url(url).client_id_list(AUDIENCE);
        call.send().await.map_err(|error| CallError::new(ACTION, url, error))?;
        Ok(())
    }

    /// Makes the role by which EC2 buys spot instances.
    pub async fn create_spot_role(&self) -> Result<()> {
        const ACTION: &str = "iam:CreateServiceLinkedRole";
        let answer = self.iam.create_service_linked_role().aws_service_name(SPOT).send().await;
        match answer.map_err(|error| CallError::new(ACTION, SPOT, error)) {
            Err(CallError::Refused { why, .. }) if why.contains("has been taken") => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}
