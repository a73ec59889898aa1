//! What every part of the provider needs to call AWS for its cluster.

use std::sync::Arc;

use kerf_runtime::metrics::Registry;
use tokio::sync::OnceCell;

use super::discovery::service_cidr;
use super::zone_ids::ZoneIds;
use super::{AwsSettings, Calls, Cluster, ClusterVersion};
use crate::{AwsAction, CallError, Result, Session};

/// The cluster, the settings, and the way to AWS. Copies share everything.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) cluster: Arc<Cluster>,
    /// The version of the cluster, which may be upgraded.
    pub(crate) version: Arc<ClusterVersion>,
    pub(crate) settings: Arc<AwsSettings>,
    pub(crate) calls: Calls,
    pub(crate) clients: Clients,
    /// Where the parts count what happened.
    pub(crate) registry: Registry,
    /// The ids of zones, as subnets tell them.
    pub(crate) zone_ids: ZoneIds,
    /// The cluster with the addresses of its Services, once somebody needed them.
    with_service_cidr: Arc<OnceCell<Arc<Cluster>>>,
}

/// A client for each service. A call is made with it by [`Calls::make`] only.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) iam: aws_sdk_iam::Client,
    pub(crate) ssm: aws_sdk_ssm::Client,
    pub(crate) eks: aws_sdk_eks::Client,
    pub(crate) pricing: aws_sdk_pricing::Client,
}

impl Context {
    /// Of a cluster, by a session's identity.
    pub(crate) fn new(
        session: &Session,
        cluster: Cluster,
        settings: AwsSettings,
        registry: Registry,
    ) -> Self {
        let pricing = pricing_region(&cluster.region);
        Self {
            clients: Clients {
                ec2: aws_sdk_ec2::Client::new(session.sdk_config()),
                iam: aws_sdk_iam::Client::new(session.sdk_config()),
                ssm: aws_sdk_ssm::Client::new(session.sdk_config()),
                eks: aws_sdk_eks::Client::new(session.sdk_config()),
                pricing: aws_sdk_pricing::Client::new(session.in_region(pricing).sdk_config()),
            },
            calls: Calls::new(session.metrics().clone()),
            version: Arc::new(ClusterVersion::new(cluster.version)),
            cluster: Arc::new(cluster),
            settings: Arc::new(settings),
            registry,
            zone_ids: ZoneIds::default(),
            with_service_cidr: Arc::default(),
        }
    }

    /// The cluster with the addresses of its Services, without which AL2023 cannot join. EKS is
    /// asked for them when they are first needed and were not known from the start.
    ///
    /// # Errors
    /// EKS gave no answer, or has none.
    pub(crate) async fn cluster_with_service_cidr(&self) -> Result<Arc<Cluster>> {
        if self.cluster.service_cidr.is_some() {
            return Ok(self.cluster.clone());
        }
        let asked = self.with_service_cidr.get_or_try_init(|| self.ask_for_service_cidr()).await?;
        Ok(asked.clone())
    }

    async fn ask_for_service_cidr(&self) -> Result<Arc<Cluster>> {
        let (action, name) = (AwsAction::DescribeCluster, &self.cluster.name);
        let resource = format!("cluster/{name}");
        let call = self.clients.eks.describe_cluster().name(name).send();
        let answer = self.calls.make(action, &resource, call).await?;
        let service_cidr = answer.cluster().and_then(service_cidr);
        if service_cidr.is_none() {
            let why = "the answer has no addresses of Services";
            return Err(CallError::refused(action.permission(), &resource, why));
        }
        Ok(Arc::new(Cluster { service_cidr, ..(*self.cluster).clone() }))
    }
}

/// The region that answers for prices: the service has an endpoint in a few only.
fn pricing_region(region: &str) -> &'static str {
    match region.split('-').next() {
        Some("ap") => "ap-south-1",
        Some("cn") => "cn-northwest-1",
        Some("eu") => "eu-central-1",
        _ => "us-east-1",
    }
}
