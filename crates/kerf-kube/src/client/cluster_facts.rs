//! What the API server tells of its cluster that a provider's instances must know.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::Service;
use kube::{Api, Client};
use tracing::warn;

/// Where the cluster's DNS is found in EKS and most other clusters.
const DNS_NAMESPACE: &str = "kube-system";
const DNS_SERVICE: &str = "kube-dns";

/// A cluster, as its API server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterFacts {
    /// The server's version, such as `v1.36.3`.
    pub version: String,
    /// The address of the cluster's DNS, if it has one.
    pub dns_ip: Option<IpAddr>,
}

/// Asks the API server.
///
/// # Errors
/// The server does not tell its version.
pub async fn cluster_facts(client: &Client) -> kube::Result<ClusterFacts> {
    let version = client.apiserver_version().await?.git_version;
    Ok(ClusterFacts { version, dns_ip: dns_ip(client).await })
}

/// A cluster may have no DNS, or one of another name: nodes are then told of none.
async fn dns_ip(client: &Client) -> Option<IpAddr> {
    let services: Api<Service> = Api::namespaced(client.clone(), DNS_NAMESPACE);
    match services.get_opt(DNS_SERVICE).await {
        Ok(service) => service?.spec?.cluster_ip?.parse().ok(),
        Err(error) => {
            warn!(%error, "the Service {DNS_NAMESPACE}/{DNS_SERVICE} cannot be read");
            None
        }
    }
}
