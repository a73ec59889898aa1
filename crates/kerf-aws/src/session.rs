//! Credentials, region, time-outs and the connection pool, made once.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::sts::AssumeRoleProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_sdk_sqs::config::{AppName, Credentials, SharedCredentialsProvider};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use kerf_runtime::metrics::Registry;

use crate::call_metrics::CallMetrics;
use crate::{
    AutoScaling, ClusterTable, Clusters, Inspection, Installation, Instances, Network, Queues,
    ZonalShifts,
};

/// How long calls may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOuts {
    /// To connect.
    pub connect: Duration,
    /// For a whole call.
    pub call: Duration,
}

impl Default for TimeOuts {
    /// Two seconds to connect and five for a call. A long poll adds its own wait.
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), call: Duration::from_secs(5) }
    }
}

/// An account and a region to call, by one identity.
#[derive(Clone, Debug)]
pub struct Session {
    config: SdkConfig,
    metrics: CallMetrics,
}

impl Session {
    /// Reads credentials, region and endpoints the way every AWS tool does. Credentials are first
    /// needed, and missed, by the first call.
    pub async fn from_env(time_outs: TimeOuts) -> Self {
        Self::of(Self::loader(time_outs).load().await)
    }

    fn of(config: SdkConfig) -> Self {
        Self { config, metrics: CallMetrics::default() }
    }

    /// The same, with its calls counted there.
    #[must_use]
    pub fn counted_in(self, registry: Registry) -> Self {
        Self { metrics: CallMetrics::new(registry), ..self }
    }

    /// Where its calls are counted.
    pub(crate) fn metrics(&self) -> &CallMetrics {
        &self.metrics
    }

    fn loader(time_outs: TimeOuts) -> ConfigLoader {
        let http = Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
        let time_outs = TimeoutConfig::builder()
            .connect_timeout(time_outs.connect)
            .operation_timeout(time_outs.call)
            .build();
        aws_config::defaults(BehaviorVersion::latest())
            .http_client(http)
            .retry_config(RetryConfig::disabled())
            .timeout_config(time_outs)
            .app_name(app_name())
    }

    /// A stand-in at an address, which checks no keys.
    pub async fn of_stand_in(endpoint_url: &str, region: &str, time_outs: TimeOuts) -> Self {
        let keys = Credentials::new("testing", "testing", None, None, "stand-in");
        let provider = SharedCredentialsProvider::new(keys);
        let loader = Self::loader(time_outs).credentials_provider(provider);
        let region = Region::new(region.to_owned());
        Self::of(loader.endpoint_url(endpoint_url).region(region).load().await)
    }

    /// What clients that this crate does not wrap are made from.
    pub fn sdk_config(&self) -> &SdkConfig {
        &self.config
    }

    /// The region calls go to, if any is set.
    pub fn region(&self) -> Option<&str> {
        self.config.region().map(Region::as_ref)
    }

    /// The same identity in another region.
    #[must_use]
    pub fn in_region(&self, region: &str) -> Self {
        let config = self.config.to_builder().region(Region::new(region.to_owned())).build();
        Self { config, metrics: self.metrics.clone() }
    }

    /// The same identity at another address for every service.
    #[must_use]
    pub fn at_endpoint(&self, endpoint_url: &str) -> Self {
        let config = self.config.to_builder().endpoint_url(endpoint_url).build();
        Self { config, metrics: self.metrics.clone() }
    }

    /// Another account, by a role there, which may ask for an external id. Credentials are kept
    /// until shortly before they expire.
    pub async fn assume(&self, role_arn: &str, external_id: Option<&str>) -> Self {
        let mut provider = AssumeRoleProvider::builder(role_arn).session_name("kerf-router");
        if let Some(external_id) = external_id {
            provider = provider.external_id(external_id);
        }
        let provider = provider.configure(&self.config).build().await;
        let provider = SharedCredentialsProvider::new(provider);
        let config = self.config.to_builder().credentials_provider(provider).build();
        Self { config, metrics: self.metrics.clone() }
    }

    /// Queues of this account and region.
    pub fn queues(&self) -> Queues {
        Queues::new(self)
    }

    /// Instances of this account and region.
    pub fn instances(&self) -> Instances {
        Instances::new(&self.config)
    }

    /// What an installation consists of in this account and region.
    pub fn inspection(&self) -> Inspection {
        Inspection::new(&self.config)
    }

    /// The same, to be made and taken away.
    pub fn installation(&self) -> Installation {
        Installation::new(&self.config)
    }

    /// Auto Scaling groups of this account and region.
    pub fn auto_scaling(&self) -> AutoScaling {
        AutoScaling::new(&self.config)
    }

    /// Zones and subnets of this account and region.
    pub fn network(&self) -> Network {
        Network::new(self)
    }

    /// EKS clusters of this account and region.
    pub fn clusters(&self) -> Clusters {
        Clusters::new(self)
    }

    /// Zonal shifts of this account and region.
    pub fn zonal_shifts(&self) -> ZonalShifts {
        ZonalShifts::new(self)
    }

    /// A table of clusters in this account and region.
    pub fn cluster_table(&self, name: &str) -> ClusterTable {
        ClusterTable::new(&self.config, name)
    }
}

/// How CloudTrail and AWS support tell Kerf's calls from others: the user agent ends in it.
#[allow(clippy::expect_used, reason = "a version is made of characters that a name may have")]
fn app_name() -> AppName {
    AppName::new(concat!("kerf-", env!("CARGO_PKG_VERSION"))).expect("a name that AWS takes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_session_says_who_calls() {
        let session = Session::of_stand_in("http://127.0.0.1:1", "eu-west-1", TimeOuts::default());
        let session = session.await.in_region("eu-west-2").at_endpoint("http://127.0.0.1:2");
        let name = session.sdk_config().app_name().map(AsRef::as_ref);
        assert_eq!(name, Some(concat!("kerf-", env!("CARGO_PKG_VERSION"))));
    }
}
