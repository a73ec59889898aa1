//! Finding out about the cluster at the start: what flags and the API server say, and the rest from
//! EKS.

use std::net::IpAddr;

use aws_sdk_eks::types::Cluster as EksCluster;
use thiserror::Error;
use tracing::warn;

use super::{Calls, Cluster, KubernetesVersion};
use crate::aws_action::AwsAction;
use crate::{CallError, Session};

/// Versions of Kubernetes that are known to work.
const MINORS_KNOWN: std::ops::RangeInclusive<u32> = 26..=36;

/// What is known of the cluster before AWS is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownCluster {
    /// Its name.
    pub name: String,
    /// The address of its API server, where it is given.
    pub endpoint: Option<String>,
    /// The certificate authority of its API server in base64, where it is known.
    pub ca_bundle: Option<String>,
    /// The version as the API server tells it; none where EKS is to tell.
    pub version: Option<String>,
    /// The address of its DNS.
    pub dns_ip: Option<IpAddr>,
}

/// Why the cluster cannot be found out about. Each says what to set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiscoveryError {
    /// Nobody says which region.
    #[error("no AWS region was found: set AWS_REGION")]
    NoRegion,
    /// EKS did not answer, and it was needed.
    #[error(
        "the cluster's {lacking} is not known: {why}; grant eks:DescribeCluster, or pass {flag}"
    )]
    Undescribed {
        /// What is lacking.
        lacking: &'static str,
        /// The flag that tells it.
        flag: &'static str,
        /// What happened.
        why: String,
    },
    /// A version that cannot be read.
    #[error("the version {text:?} of the cluster is not of the form 1.36")]
    Version {
        /// As it was told.
        text: String,
    },
}

/// Finds out what is not known yet.
///
/// # Errors
/// Something that nodes cannot do without is known to nobody.
pub async fn discover(session: &Session, known: KnownCluster) -> Result<Cluster, DiscoveryError> {
    let region = session.region().ok_or(DiscoveryError::NoRegion)?.to_owned();
    let eks = aws_sdk_eks::Client::new(session.sdk_config());
    let describe = eks.describe_cluster().name(&known.name).send();
    let calls = Calls::new(session.metrics().clone());
    let answer = calls.make(AwsAction::DescribeCluster, &known.name, describe).await;
    let described = answer.map(|answer| answer.cluster);
    if let Err(error) = &described {
        warn!(%error, "the cluster is not described by EKS: its Services' addresses are not known");
    }
    cluster(region, known, described)
}

/// Puts together what flags, API server and EKS say, in this order.
fn cluster(
    region: String,
    known: KnownCluster,
    described: Result<Option<EksCluster>, CallError>,
) -> Result<Cluster, DiscoveryError> {
    let why = match &described {
        Ok(_) => format!("EKS does not tell it of the cluster {}", known.name),
        Err(error) => error.to_string(),
    };
    let described = described.ok().flatten();
    let of_eks = described.as_ref();
    let needed = |value: Option<String>, lacking, flag| {
        let given = value.filter(|value| !value.is_empty());
        given.ok_or_else(|| DiscoveryError::Undescribed { lacking, flag, why: why.clone() })
    };
    let endpoint = known.endpoint.or_else(|| of_eks?.endpoint().map(str::to_owned));
    let authority = || of_eks?.certificate_authority()?.data().map(str::to_owned);
    let version = known.version.or_else(|| of_eks?.version().map(str::to_owned));
    let version = needed(version, "version", "--eks-control-plane=false")?;
    let cluster = Cluster {
        endpoint: needed(endpoint, "endpoint", "--cluster-endpoint")?,
        ca_bundle: needed(
            known.ca_bundle.or_else(authority),
            "certificate authority",
            "--cluster-ca-bundle",
        )?,
        version: KubernetesVersion::parse(&version)
            .ok_or(DiscoveryError::Version { text: version })?,
        service_cidr: of_eks.and_then(service_cidr),
        dns_ip: known.dns_ip,
        name: known.name,
        region,
    };
    let KubernetesVersion { major, minor } = cluster.version;
    if major != 1 || !MINORS_KNOWN.contains(&minor) {
        warn!(version = %cluster.version, "this version of Kubernetes was not tried with Kerf");
    }
    Ok(cluster)
}

/// The addresses of its Services.
pub(super) fn service_cidr(cluster: &EksCluster) -> Option<String> {
    let network = cluster.kubernetes_network_config()?;
    network.service_ipv4_cidr().or(network.service_ipv6_cidr()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use aws_sdk_eks::types::{Certificate, KubernetesNetworkConfigResponse as Network};

    use super::*;

    fn described() -> EksCluster {
        EksCluster::builder()
            .endpoint("https://eks")
            .certificate_authority(Certificate::builder().data("ZWtz").build())
            .version("1.34")
            .kubernetes_network_config(Network::builder().service_ipv6_cidr("fd00::/108").build())
            .build()
    }

    fn known() -> KnownCluster {
        KnownCluster { name: "tidepool".to_owned(), ..KnownCluster::default() }
    }

    fn denied() -> CallError {
        CallError::Denied { action: "eks:DescribeCluster", resource: "tidepool".to_owned() }
    }

    #[test]
    fn what_is_given_wins_over_what_eks_says() {
        let given = |text: &str| Some(text.to_owned());
        let known = KnownCluster {
            endpoint: given("https://flag"),
            ca_bundle: given("ZmxhZw=="),
            version: given("v1.36.3"),
            ..known()
        };
        let found = cluster("eu-west-1".to_owned(), known, Ok(Some(described()))).unwrap();
        assert_eq!((&*found.endpoint, &*found.ca_bundle), ("https://flag", "ZmxhZw=="));
        assert_eq!(found.version, KubernetesVersion { major: 1, minor: 36 });
        assert_eq!(found.service_cidr.as_deref(), Some("fd00::/108"), "EKS alone can tell");
    }

    #[test]
    fn eks_tells_the_rest() {
        let found = cluster("eu-west-1".to_owned(), known(), Ok(Some(described()))).unwrap();
        assert_eq!((&*found.endpoint, &*found.ca_bundle), ("https://eks", "ZWtz"));
        assert_eq!(found.version.to_string(), "1.34");
    }

    #[test]
    fn what_nobody_tells_is_named_with_the_flag_that_would() {
        let known = KnownCluster { version: Some("1.36".to_owned()), ..known() };
        let error = cluster("eu-west-1".to_owned(), known, Err(denied())).unwrap_err().to_string();
        for part in ["endpoint", "eks:DescribeCluster", "tidepool", "--cluster-endpoint"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn without_eks_a_cluster_that_is_given_in_full_will_do() {
        let given = |text: &str| Some(text.to_owned());
        let known = KnownCluster {
            endpoint: given("https://flag"),
            ca_bundle: given("ZmxhZw=="),
            version: given("1.36"),
            ..known()
        };
        let found = cluster("eu-west-1".to_owned(), known, Err(denied())).unwrap();
        assert_eq!(found.service_cidr, None);
    }
}
