//! What every part of the provider needs to call AWS for its cluster.

use std::sync::Arc;

use kerf_runtime::metrics::Registry;

use super::{AwsSettings, Calls, Cluster};
use crate::Session;

/// The cluster, the settings, and the way to AWS. Copies share everything.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) settings: Arc<AwsSettings>,
    pub(crate) calls: Calls,
    pub(crate) clients: Clients,
    /// Where the parts count what happened.
    pub(crate) registry: Registry,
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
            calls: Calls::new(registry.clone()),
            cluster: Arc::new(cluster),
            settings: Arc::new(settings),
            registry,
        }
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
