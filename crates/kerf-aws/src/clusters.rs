//! Clusters, as EKS describes them.

use aws_sdk_eks::Client;

use crate::call_metrics::CallMetrics;
use crate::{CallError, Result, Session};

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
    metrics: CallMetrics,
}

impl Clusters {
    pub(crate) fn new(session: &Session) -> Self {
        Self { client: Client::new(session.sdk_config()), metrics: session.metrics().clone() }
    }

    /// The cluster of this name, if there is one.
    pub async fn describe(&self, name: &str) -> Result<Option<ClusterDescription>> {
        let call = self.client.describe_cluster().name(name).send();
        let answer = self.metrics.count("EKS", "DescribeCluster", call).await;
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
