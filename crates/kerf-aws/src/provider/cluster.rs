//! The cluster that nodes join, as they are told of it.

use std::net::IpAddr;

/// What is known of the cluster. Found once at the start, by the provider's own calls or by flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name, as EKS and tags know it.
    pub name: String,
    /// The region everything is launched in.
    pub region: String,
    /// The address of the API server: `https://…`.
    pub endpoint: String,
    /// The certificate authority of the API server, in base64.
    pub ca_bundle: String,
    /// The version of the API server at the start.
    pub version: KubernetesVersion,
    /// The addresses of Services; only EKS can tell. Nodes of AL2023 cannot join without.
    pub service_cidr: Option<String>,
    /// The address of the cluster's DNS, if it has one. Its family is that of the whole cluster.
    pub dns_ip: Option<IpAddr>,
}

/// A version of Kubernetes, as names of images and parameters carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
}

impl Cluster {
    /// Whether pods and Services have IPv6 addresses.
    #[must_use]
    pub fn is_ipv6(&self) -> bool {
        self.dns_ip.is_some_and(|address| address.is_ipv6())
    }
}

impl KubernetesVersion {
    /// Reads `1.36`, `v1.36.3-eks-1234` and `1.36+`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?;
        let digits = minor.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(minor.len());
        Some(Self { major, minor: minor[..digits].parse().ok()? })
    }
}

impl std::fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_servers_and_eks_write_them() {
        let version = |text| KubernetesVersion::parse(text).map(|version| version.to_string());
        assert_eq!(version("1.36").as_deref(), Some("1.36"));
        assert_eq!(version("v1.36.3-eks-1a2b").as_deref(), Some("1.36"));
        assert_eq!(version("1.33+").as_deref(), Some("1.33"));
        assert_eq!(version("latest"), None);
        assert_eq!(version("1"), None);
    }
}
