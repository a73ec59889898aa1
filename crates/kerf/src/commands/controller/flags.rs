//! The settings: names and defaults are public, shared with Karpenter. A flag wins over the
//! environment.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use kerf_engine::INTERRUPTION_PERCENT_PER_MINUTE;
use kerf_engine::notice::RebalancePolicy;
use kerf_kube::SchedulerConfig;
use kerf_model::duration::GoDuration;
use kerf_scheduler::{MinValuesPolicy as ModelMinValues, PreferencePolicy as ModelPreference};

use super::feature_gates::FeatureGates;
use super::value;
use crate::commands::journal::{JournalFlag, path};
use crate::commands::log::LogFlags;

/// Watch a cluster, give pending pods nodes, and take nodes away that nobody needs
#[derive(Args)]
pub(crate) struct Controller {
    /// Where instances come from
    #[arg(long, env = "KERF_CLOUD", value_enum, default_value = "aws")]
    pub(super) cloud: CloudName,
    /// Name of the service in front of the controller
    #[arg(long, env = "KARPENTER_SERVICE", default_value = "", hide_default_value = true)]
    pub(super) karpenter_service: String,
    /// Port of /metrics
    #[arg(long, env = "METRICS_PORT", default_value = "8080")]
    pub(super) metrics_port: u16,
    /// Port of /healthz and /readyz
    #[arg(long, env = "HEALTH_PROBE_PORT", default_value = "8081")]
    pub(super) health_probe_port: u16,
    /// Calls to the API server a second, in the long run
    #[arg(long, env = "KUBE_CLIENT_QPS", default_value = "200")]
    pub(super) kube_client_qps: NonZeroU32,
    /// Calls to the API server at once after a pause
    #[arg(long, env = "KUBE_CLIENT_BURST", default_value = "300")]
    pub(super) kube_client_burst: NonZeroU32,
    /// Accepted for compatibility; there is no profile to serve
    #[arg(long, env = "ENABLE_PROFILING", default_value = "false", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) enable_profiling: bool,
    /// Accepted for compatibility: the cluster is always watched before leading
    #[arg(long, env = "DISABLE_CONTROLLER_WARMUP", default_value = "true",
        value_parser = value::switch, action = ArgAction::Set, num_args = 0..=1,
        default_missing_value = "true")]
    pub(super) disable_controller_warmup: bool,
    /// Decide without holding the lease
    #[arg(long, env = "DISABLE_LEADER_ELECTION", default_value = "false",
        value_parser = value::switch, action = ArgAction::Set, num_args = 0..=1,
        default_missing_value = "true")]
    pub(super) disable_leader_election: bool,
    /// Leave out metrics of single pods and nodes
    #[arg(long, env = "DISABLE_CLUSTER_STATE_OBSERVABILITY", default_value = "false",
        value_parser = value::switch, action = ArgAction::Set, num_args = 0..=1,
        default_missing_value = "true")]
    pub(super) disable_cluster_state_observability: bool,
    /// Name of the lease that the leader holds
    #[arg(long, env = "LEADER_ELECTION_NAME", default_value = "karpenter-leader-election")]
    pub(super) leader_election_name: String,
    /// Namespace of the lease; the controller's own if empty
    #[arg(long, env = "LEADER_ELECTION_NAMESPACE", default_value = "", hide_default_value = true)]
    pub(super) leader_election_namespace: String,
    /// Accepted for compatibility: memory is bounded by what is watched
    #[arg(long, env = "MEMORY_LIMIT", default_value = "-1", allow_hyphen_values = true)]
    pub(super) memory_limit: i64,
    /// Accepted for compatibility: threads do not depend on it
    #[arg(long, env = "CPU_REQUESTS", default_value = "1000", allow_hyphen_values = true)]
    pub(super) cpu_requests: i64,
    /// The longest pods wait for more pods to be placed together with
    #[arg(long, env = "BATCH_MAX_DURATION", default_value = "10s", value_parser = value::duration)]
    pub(super) batch_max_duration: GoDuration,
    /// How long no new pod may come before those there are placed
    #[arg(long, env = "BATCH_IDLE_DURATION", default_value = "1s", value_parser = value::duration)]
    pub(super) batch_idle_duration: GoDuration,
    /// Whether preferences of pods count
    #[arg(long, env = "PREFERENCE_POLICY", value_enum, default_value = "Respect")]
    pub(super) preference_policy: PreferencePolicy,
    /// What to do when a pool's minValues cannot be had
    #[arg(long, env = "MIN_VALUES_POLICY", value_enum, default_value = "Strict")]
    pub(super) min_values_policy: MinValuesPolicy,
    /// Leave pods alone that ask for devices through resource claims
    #[arg(long, env = "IGNORE_DRA_REQUESTS", default_value = "true", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) ignore_dra_requests: bool,
    /// Features to turn on or off: Name=true,Name=false
    #[arg(long, env = "FEATURE_GATES", default_value = "", hide_default_value = true)]
    pub(super) feature_gates: FeatureGates,
    /// How pods spread that say nothing about it: podTopologySpread.defaultConstraints, YAML or
    /// JSON
    #[arg(long, env = "SCHEDULER_CONFIG", default_value = "", hide_default_value = true,
        value_parser = value::scheduler_config)]
    pub(super) scheduler_config: SchedulerConfig,
    /// Simulated instance types to sell instead of the built-in ones, with --cloud kwok
    #[arg(long, env = "INSTANCE_TYPES_FILE_PATH", value_parser = path)]
    pub(super) instance_types_file_path: Option<PathBuf>,
    /// The EKS cluster's name
    #[arg(long, env = "CLUSTER_NAME", default_value = "", hide_default_value = true)]
    pub(super) cluster_name: String,
    /// The name of the SQS queue that interruption notices come from; none is read if empty
    #[arg(long, env = "INTERRUPTION_QUEUE", default_value = "", hide_default_value = true)]
    pub(super) interruption_queue: String,
    /// The share of the nodes, in percent, that interruption notices may take away within a
    /// minute; what goes beyond is held back, with an alarm. 100 holds nothing back
    #[arg(long, env = "INTERRUPTION_PERCENT_PER_MINUTE",
        default_value_t = INTERRUPTION_PERCENT_PER_MINUTE,
        value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(super) interruption_percent_per_minute: u8,
    /// What follows from a rebalance recommendation for a spot instance
    #[arg(long, env = "REBALANCE_POLICY", value_enum, default_value = "event")]
    pub(super) rebalance_policy: RebalanceName,
    /// Launch nothing in zones that ARC shifts the cluster away from
    #[arg(long, env = "ENABLE_ZONAL_SHIFT", default_value = "false", value_parser = value::switch,
        action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub(super) enable_zonal_shift: bool,
    /// Keep pools out of zones that are shifted away from, as kerf zonal-autoshift does
    #[arg(long, env = "ENABLE_ZONAL_AUTOSHIFT", default_value = "false",
        value_parser = value::switch, action = ArgAction::Set, num_args = 0..=1,
        default_missing_value = "true")]
    pub(super) enable_zonal_autoshift: bool,
    #[command(flatten, next_help_heading = "With --cloud aws")]
    pub(super) aws: super::aws_flags::AwsFlags,
    #[command(flatten, next_help_heading = "With --enable-zonal-autoshift")]
    pub(super) autoshift: crate::commands::zonal_autoshift::flags::AutoshiftFlags,
    #[command(flatten)]
    pub(super) journal: JournalFlag,
    #[command(flatten)]
    pub(super) log: LogFlags,
}

/// A cloud.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CloudName {
    /// EC2 instances for an EKS cluster
    Aws,
    /// Simulated: Node objects that kwok animates
    Kwok,
}

/// What follows from a rebalance recommendation.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RebalanceName {
    /// Nothing
    Ignore,
    /// An Event on claim and node
    Event,
    /// An Event, and the node takes no new pods
    Cordon,
    /// An Event, and the node is replaced
    Replace,
}

/// Whether preferences of pods count.
#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub(super) enum PreferencePolicy {
    /// As long as they can be met
    Respect,
    /// Never
    Ignore,
}

/// What to do when a pool's minValues cannot be had.
#[derive(Clone, Copy, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub(super) enum MinValuesPolicy {
    /// Make no node
    Strict,
    /// Make one with as many as there are
    BestEffort,
}

impl From<RebalanceName> for RebalancePolicy {
    fn from(name: RebalanceName) -> Self {
        match name {
            RebalanceName::Ignore => Self::Ignore,
            RebalanceName::Event => Self::Event,
            RebalanceName::Cordon => Self::Cordon,
            RebalanceName::Replace => Self::Replace,
        }
    }
}

impl From<PreferencePolicy> for ModelPreference {
    fn from(policy: PreferencePolicy) -> Self {
        match policy {
            PreferencePolicy::Respect => Self::Respect,
            PreferencePolicy::Ignore => Self::Ignore,
        }
    }
}

impl From<MinValuesPolicy> for ModelMinValues {
    fn from(policy: MinValuesPolicy) -> Self {
        match policy {
            MinValuesPolicy::Strict => Self::Strict,
            MinValuesPolicy::BestEffort => Self::BestEffort,
        }
    }
}
