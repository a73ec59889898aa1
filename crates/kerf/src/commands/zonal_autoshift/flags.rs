//! Settings of NodePool mode, the same for the daemon and inside the controller.

use anyhow::{Result, bail};
use clap::{ArgAction, Args, ValueEnum};
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_model::duration::GoDuration;
use kerf_notices::zonal_shift::{AutoModeRevert, Matching};

use crate::commands::exit::UsageError;

/// Settings of NodePool mode.
#[derive(Args)]
pub(crate) struct AutoshiftFlags {
    /// The URL of the queue that announcements of zonal shifts come from; no other cluster may read
    /// it
    #[arg(long = "zonal-shift-queue-url", visible_alias = "queue-url", env = "SQS_QUEUE_URL")]
    queue_url: Option<String>,
    /// Let what runs in the zone run on: protect its nodes instead of replacing them
    #[arg(short = 'd', long)]
    enable_do_not_disrupt: bool,
    /// Which shifts count: any in the account and region, or those that name the cluster
    #[arg(long, env = "ZONAL_SHIFT_MATCH", value_enum, default_value = "any")]
    zonal_shift_match: Match,
    /// With --zonal-shift-match=cluster: other resources whose shifts count
    #[arg(long, env = "ZONAL_SHIFT_RESOURCES", value_delimiter = ',')]
    zonal_shift_resources: Vec<String>,
    /// End shifts at this age where ARC cannot be asked, instead of at the age of their kind
    #[arg(long, env = "ZONAL_SHIFT_MAX_AGE", value_parser = age)]
    zonal_shift_max_age: Option<i64>,
    /// Empty nodes of EKS Auto Mode's own pools in the zone by a taint
    #[arg(long, env = "TAINT_AWAY_NODES", default_value_t = true, action = ArgAction::Set,
        num_args = 0..=1, default_missing_value = "true")]
    taint_away_nodes: bool,
    /// What becomes of stand-ins for EKS Auto Mode's own pools afterwards
    #[arg(long, env = "AUTO_MODE_REVERT", value_enum, default_value = "delete")]
    auto_mode_revert: Revert,
}

/// Which shifts count.
#[derive(Clone, Copy, ValueEnum)]
enum Match {
    /// Every shift in the account and region
    Any,
    /// Those that name the cluster
    Cluster,
}

/// What becomes of stand-ins.
#[derive(Clone, Copy, ValueEnum)]
enum Revert {
    /// They are deleted and their nodes drained
    Delete,
    /// They take no more nodes and are deleted when empty
    Retire,
}

fn age(text: &str) -> Result<i64, String> {
    let age = GoDuration::parse(text).map_err(|error| error.to_string())?;
    let seconds = age.nanos() / 1_000_000_000;
    if seconds <= 0 {
        return Err("allowed are durations of a second or more, such as 90m or 4h".to_owned());
    }
    Ok(seconds)
}

/// What the flags are about, by those who know it.
pub(crate) struct Home<'a> {
    pub(crate) cluster_name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) region: Option<&'a str>,
}

impl AutoshiftFlags {
    /// The URL of the queue, if one was given.
    pub(crate) fn queue_url(&self) -> Option<&str> {
        self.queue_url.as_deref().filter(|url| !url.is_empty())
    }

    /// The URL of the queue, or how to find it.
    pub(crate) fn needed_queue_url(&self, cluster_name: &str) -> Result<String> {
        let Some(url) = self.queue_url() else {
            bail!(UsageError::new(format!(
                "there is no queue to read: set SQS_QUEUE_URL, or pass --zonal-shift-queue-url; \
                 `aws sqs get-queue-url --queue-name {cluster_name}-zonal-shift` prints it"
            )));
        };
        Ok(url.to_owned())
    }

    /// The settings, or what is missing.
    pub(crate) fn settings(&self, home: Home<'_>) -> Result<ShiftSettings> {
        let Home { cluster_name, namespace, region } = home;
        if cluster_name.is_empty() {
            let what = "the cluster has no name: set CLUSTER_NAME, or pass --cluster-name";
            bail!(UsageError::new(what));
        }
        let Some(region) = region.filter(|region| !region.is_empty()) else {
            bail!(UsageError::new("the region is not known: set AWS_REGION"));
        };
        let also = self.zonal_shift_resources.iter().filter(|one| !one.is_empty()).cloned();
        Ok(ShiftSettings {
            cluster_name: cluster_name.to_owned(),
            region: region.to_owned(),
            namespace: namespace.to_owned(),
            matching: match self.zonal_shift_match {
                Match::Any => Matching::Any,
                Match::Cluster => Matching::Cluster { also: also.collect() },
            },
            max_age_seconds: self.zonal_shift_max_age,
            do_not_disrupt: self.enable_do_not_disrupt,
            taint_away_nodes: self.taint_away_nodes,
            auto_mode_revert: match self.auto_mode_revert {
                Revert::Delete => AutoModeRevert::Delete,
                Revert::Retire => AutoModeRevert::Retire,
            },
        })
    }
}
