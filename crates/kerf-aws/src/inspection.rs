//! What an installation consists of in an account, read and never changed: for `kerf doctor`.

mod permissions;
mod rules;

use aws_config::SdkConfig;
use aws_sdk_sqs::types::QueueAttributeName;

pub use rules::RuleFacts;

use crate::{CallError, Result};

/// Pages of a hundred policies that are read of a role, which has twenty at most.
const PAGES_MAX: usize = 2;
/// How IAM says that there is no such thing.
const NO_SUCH_ENTITY: &str = "NoSuchEntity";

/// A role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleFacts {
    /// Its ARN.
    pub arn: String,
    /// Who may take it: a policy in JSON.
    pub trust: String,
    /// The names of the managed policies it has.
    pub policies: Vec<String>,
}

/// A cluster, as far as nodes and identities depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterAccess {
    /// Its ARN.
    pub arn: String,
    /// Where its API server is.
    pub endpoint: String,
    /// The network it is in.
    pub vpc_id: String,
    /// The subnets it was made with.
    pub subnet_ids: Vec<String>,
    /// The security group that EKS made for it.
    pub security_group_id: String,
    /// `API`, `API_AND_CONFIG_MAP` or `CONFIG_MAP`; empty where EKS does not tell.
    pub authentication_mode: String,
    /// The address of its OpenID Connect issuer; empty where it has none.
    pub issuer: String,
}

/// Who may join a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEntry {
    /// Such as `EC2_LINUX`.
    pub kind: String,
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFacts {
    /// Its ARN.
    pub arn: String,
    /// How long messages stay.
    pub retention_seconds: u64,
    /// Who may do what with it: a policy in JSON; empty if there is none.
    pub policy: String,
    /// Whether messages are encrypted where they are stored.
    pub is_encrypted: bool,
}

/// Reads what is installed.
#[derive(Clone, Debug)]
pub struct Inspection {
    iam: aws_sdk_iam::Client,
    eks: aws_sdk_eks::Client,
    sqs: aws_sdk_sqs::Client,
    events: aws_sdk_eventbridge::Client,
}

impl Inspection {
    pub(crate) fn new(config: &SdkConfig) -> Self {
        Self {
            iam: aws_sdk_iam::Client::new(config),
            eks: aws_sdk_eks::Client::new(config),
            sqs: aws_sdk_sqs::Client::new(config),
            events: aws_sdk_eventbridge::Client::new(config),
        }
    }

    /// The role of this name, if there is one.
    pub async fn role(&self, name: &str) -> Result<Option<RoleFacts>> {
        let answer = self.iam.get_role().role_name(name).send().await;
        let answer = match answer.map_err(|error| CallError::new("iam:GetRole", name, error)) {
            Err(error) if error.code() == Some(NO_SUCH_ENTITY) => return Ok(None),
            answer => answer?,
        };
        let Some(role) = answer.role() else { return Ok(None) };
        let trust = unescaped(role.assume_role_policy_document().unwrap_or_default());
        let policies = self.attached(name).await?.into_iter().map(|(name, _)| name).collect();
        Ok(Some(RoleFacts { arn: role.arn().to_owned(), trust, policies }))
    }

    /// Managed policies of a role: names and ARNs.
    async fn attached(&self, role: &str) -> Result<Vec<(String, String)>> {
        const ACTION: &str = "iam:ListAttachedRolePolicies";
        let (mut names, mut marker) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.iam.list_attached_role_policies().role_name(role);
            let answer = call.set_marker(marker).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, role, error))?;
            names.extend(page.attached_policies().iter().filter_map(|policy| {
                Some((policy.policy_name()?.to_owned(), policy.policy_arn()?.to_owned()))
            }));
            marker = page.marker().map(str::to_owned);
            if marker.is_none() {
                break;
            }
        }
        Ok(names)
    }

    /// The names of the roles of an instance profile, if there is one.
    pub async fn profile_roles(&self, name: &str) -> Result<Option<Vec<String>>> {
        const ACTION: &str = "iam:GetInstanceProfile";
        let answer = self.iam.get_instance_profile().instance_profile_name(name).send().await;
        match answer.map_err(|error| CallError::new(ACTION, name, error)) {
            Err(error) if error.code() == Some(NO_SUCH_ENTITY) => Ok(None),
            Err(error) => Err(error),
            Ok(answer) => {
                let roles = answer.instance_profile().map(|profile| profile.roles());
                let roles = roles.unwrap_or_default().iter();
                Ok(Some(roles.map(|role| role.role_name().to_owned()).collect()))
            }
        }
    }

    /// How a cluster lets others in, if there is one.
    pub async fn cluster(&self, name: &str) -> Result<Option<ClusterAccess>> {
        let answer = self.eks.describe_cluster().name(name).send().await;
        let answer = CallError::or_none("eks:DescribeCluster", name, answer)?;
        let Some(cluster) = answer.as_ref().and_then(|answer| answer.cluster()) else {
            return Ok(None);
        };
        let mode = cluster.access_config().and_then(|access| access.authentication_mode());
        let oidc = cluster.identity().and_then(|identity| identity.oidc());
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let network = cluster.resources_vpc_config();
        Ok(Some(ClusterAccess {
            arn: text(cluster.arn()),
            endpoint: text(cluster.endpoint()),
            vpc_id: text(network.and_then(|it| it.vpc_id())),
            subnet_ids: network.map(|it| it.subnet_ids().to_vec()).unwrap_or_default(),
            security_group_id: text(network.and_then(|it| it.cluster_security_group_id())),
            authentication_mode: mode.map(|mode| mode.as_str().to_owned()).unwrap_or_default(),
            issuer: oidc.and_then(|oidc| oidc.issuer()).unwrap_or_default().to_owned(),
        }))
    }

    /// The access entry of a role in a cluster, if there is one.
    pub async fn access_entry(&self, cluster: &str, role: &str) -> Result<Option<AccessEntry>> {
        let call = self.eks.describe_access_entry().cluster_name(cluster).principal_arn(role);
        let answer = CallError::or_none("eks:DescribeAccessEntry", role, call.send().await)?;
        let entry = answer.as_ref().and_then(|answer| answer.access_entry());
        Ok(entry.map(|entry| AccessEntry { kind: entry.r#type().unwrap_or_default().to_owned() }))
    }

    /// The queue of this name, if there is one.
    pub async fn queue(&self, name: &str) -> Result<Option<QueueFacts>> {
        let answer = self.sqs.get_queue_url().queue_name(name).send().await;
        let url = match answer.map_err(|error| CallError::new("sqs:GetQueueUrl", name, error)) {
            Err(CallError::NoSuchQueue { .. }) => return Ok(None),
            answer => answer?.queue_url().unwrap_or_default().to_owned(),
        };
        let call = self.sqs.get_queue_attributes().queue_url(url);
        let answer = call.attribute_names(QueueAttributeName::All).send().await;
        let answer =
            answer.map_err(|error| CallError::new("sqs:GetQueueAttributes", name, error))?;
        let text = |name: QueueAttributeName| {
            let value = answer.attributes().and_then(|all| all.get(&name));
            value.cloned().unwrap_or_default()
        };
        let managed = text(QueueAttributeName::SqsManagedSseEnabled) == "true";
        Ok(Some(QueueFacts {
            arn: text(QueueAttributeName::QueueArn),
            retention_seconds: text(QueueAttributeName::MessageRetentionPeriod)
                .parse()
                .unwrap_or_default(),
            policy: text(QueueAttributeName::Policy),
            is_encrypted: managed || !text(QueueAttributeName::KmsMasterKeyId).is_empty(),
        }))
    }
}

/// IAM writes policies with `%22` for quotes.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn what_iam_escapes_is_read_and_what_is_plain_stays() {
        assert_eq!(unescaped("%7B%22a%22%3A1%7D"), "{\"a\":1}");
        assert_eq!(unescaped("{\"a\": \"50%\"}"), "{\"a\": \"50%\"}");
        assert_eq!(unescaped("%"), "%");
    }
}
