//! The settings of the AWS provider: names and defaults are Karpenter's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgAction, Args};
use kerf_catalog::share::Share;
use kerf_model::duration::GoDuration;

use super::value;
use crate::commands::journal::path;

/// Keys and values.
pub(super) type Tags = BTreeMap<String, String>;

/// How instances are launched on AWS.
#[derive(Args)]
pub(crate) struct AwsFlags {
    /// The address of the API server that nodes join; EKS tells it if empty
    #[arg(long, env = "CLUSTER_ENDPOINT", default_value = "", hide_default_value = true,
        value_parser = endpoint)]
    pub(super) cluster_endpoint: String,
    /// The certificate authority of the API server, in base64; the controller's own if empty
    #[arg(long, env = "CLUSTER_CA_BUNDLE", default_value = "", hide_default_value = true)]
    pub(super) cluster_ca_bundle: String,
    /// Take the version of Kubernetes from EKS and not from the API server
    #[arg(long, env = "EKS_CONTROL_PLANE", default_value = "false", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) eks_control_plane: bool,
    /// Ask for no prices, and remove no instance profiles: the network has no way there
    #[arg(long, env = "ISOLATED_VPC", default_value = "false", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) isolated_vpc: bool,
    /// The instance profile of Provisioners and AWSNodeTemplates that name none
    #[arg(
        long,
        env = "AWS_DEFAULT_INSTANCE_PROFILE",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) default_instance_profile: String,
    /// Tags of instances of Provisioners and AWSNodeTemplates, beside their own: a map in JSON
    #[arg(long, env = "AWS_DEFAULT_TAGS", default_value = "", hide_default_value = true,
        value_parser = default_tags)]
    pub(super) default_tags: Tags,
    /// Prices to use instead of those AWS tells: JSON or CSV
    #[arg(long, env = "PRICE_FILE", value_parser = path)]
    pub(super) price_file: Option<PathBuf>,
    /// The share of an instance's memory that nodes never see, unless a node has told
    #[arg(long, env = "VM_MEMORY_OVERHEAD_PERCENT", default_value = "0.075",
        value_parser = Share::parse_ratio)]
    pub(super) vm_memory_overhead_percent: Share,
    /// Network interfaces of an instance that are not for pods
    #[arg(long, env = "RESERVED_ENIS", default_value = "0")]
    pub(super) reserved_enis: u32,
    /// Do not try node classes with dry runs
    #[arg(long, env = "DISABLE_DRY_RUN", default_value = "false", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) disable_dry_run: bool,
    /// How long images that were found stay good; a minute at least
    #[arg(long, env = "AMI_REFRESH_INTERVAL", default_value = "1m", value_parser = interval)]
    pub(super) ami_refresh_interval: Duration,
    /// How long subnets that were found stay good; a minute at least
    #[arg(long, env = "SUBNET_REFRESH_INTERVAL", default_value = "1m", value_parser = interval)]
    pub(super) subnet_refresh_interval: Duration,
    /// Features of the AWS provider to turn on or off: NodeClassCEL=true
    #[arg(long, env = "AWS_FEATURE_GATES", default_value = "", hide_default_value = true)]
    pub(super) aws_feature_gates: AwsFeatureGates,
}

/// Features of the AWS provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AwsFeatureGates {
    /// Expressions in the kubelet's settings count.
    pub(super) node_class_cel: bool,
}

impl FromStr for AwsFeatureGates {
    type Err = String;

    /// `Name=bool,…`. Names nobody knows are passed over: gates come and go between versions.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut gates = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| format!("{part:?} is not Name=true or Name=false"))?;
            let on = value::switch(value.trim()).map_err(|why| format!("{name}: {why}"))?;
            if name.trim() == "NodeClassCEL" {
                gates.node_class_cel = on;
            }
        }
        Ok(gates)
    }
}

/// A map in JSON, or nothing.
pub(super) fn default_tags(text: &str) -> Result<Tags, String> {
    if text.is_empty() {
        return Ok(Tags::new());
    }
    serde_json::from_str(text)
        .map_err(|_| r#"allowed are maps in JSON such as {"team": "web"}"#.to_owned())
}

/// A whole address with a host, or nothing.
pub(super) fn endpoint(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let has_host =
        host.is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
    match text.is_empty() || has_host {
        true => Ok(text.to_owned()),
        false => Err("allowed are addresses such as https://API-SERVER".to_owned()),
    }
}

/// A duration of a minute at least.
fn interval(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_secs(60);
    let duration = GoDuration::parse(text)
        .map_err(|error| format!("{error}; allowed are durations such as 1m or 5m"))?;
    let interval = Duration::from_nanos(u64::try_from(duration.nanos()).unwrap_or(0));
    match interval >= LEAST {
        true => Ok(interval),
        false => Err("allowed are durations of a minute and more, such as 5m".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_a_scheme_and_a_host() {
        for good in ["", "https://abc.eks.amazonaws.com", "https://[::1]:443", "http://10.0.0.1"] {
            assert_eq!(endpoint(good).as_deref(), Ok(good));
        }
        for bad in ["abc.eks.amazonaws.com", "https://", "https:///path", "ftp://host"] {
            assert!(endpoint(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lookups_happen_once_a_minute_at_most() {
        assert_eq!(interval("90s"), Ok(Duration::from_secs(90)));
        assert!(interval("59s").is_err() && interval("-1m").is_err() && interval("soon").is_err());
    }

    #[test]
    fn a_gate_of_another_version_is_passed_over() {
        let gates: AwsFeatureGates = "NodeClassCEL=true, FromTheFuture=true".parse().unwrap();
        assert!(gates.node_class_cel);
        assert!("NodeClassCEL=maybe".parse::<AwsFeatureGates>().is_err());
    }
}
