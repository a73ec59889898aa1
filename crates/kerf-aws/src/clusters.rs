//! Clusters, as EKS describes them.

use aws_config::SdkConfig;
use aws_sdk_eks::Client;

use crate::{CallError, Result};

/// What is asked of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterDescription {
    /// Its ARN.
    pub arn: String,
    /// The network its subnets belong to.
    pub vpc_id: Option<String>,
}

/// Descriptions of clusters.
#[derive(Clone, Debug)]
pub struct Clusters {
    client: Client,
}

impl Clusters {
    pub(crate) fn new(config: &SdkConfig) -> Self {
        Self { client: Client::new(config) }
    }

    /// The cluster of this name, if there is one.
    pub async fn describe(&self, name: &str) -> Result<Option<ClusterDescription>> {
        let answer = self.client.describe_cluster().name(name).send().await;
        let answer = CallError::or_none("eks:DescribeCluster", name, answer)?;
        let description = |cluster: &aws_sdk_eks::types::Cluster| {
            let network = cluster.resources_vpc_config();
            Some(ClusterDescription {
                arn: cluster.arn()?.to_owned(),
                vpc_id: network.and_then(|network| network.vpc_id()).map(str::to_owned),
            })
        };
        Ok(answer.as_ref().and_then(|answer| answer.cluster()).and_then(description))
    }
}
