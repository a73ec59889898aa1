//! The AWS account and ARC, as they last answered.

use std::collections::BTreeSet;

use kerf_notices::zonal_shift::{Listing, Subnet, UnixSeconds, ZoneName, ZoneTable, subnet_zones};
use serde::{Deserialize, Serialize};

/// The account and the cluster; what gave no answer is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftNetwork {
    /// Ids and names of the account's zones.
    pub zones: Option<ZoneTable>,
    /// The cluster's ARN.
    pub cluster_arn: Option<String>,
    /// The cluster's network.
    pub vpc_id: Option<String>,
    /// The subnets of that network.
    pub subnets: Option<Vec<Subnet>>,
}

/// One reading of ARC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArcReading {
    /// What it lists.
    pub listing: Listing,
    /// Whether it lists the shifts of every origin.
    pub is_complete: bool,
    /// Whether a permission is missing.
    pub is_denied: bool,
}

/// The account and the cluster, as last described.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Network {
    pub(crate) zones: ZoneTable,
    pub(crate) cluster_arn: Option<String>,
    vpc_id: Option<String>,
    subnets: Option<Vec<Subnet>>,
    /// When it was last described; absent when it never was.
    pub(crate) asked_at: Option<UnixSeconds>,
    /// Whether zones and subnets were described.
    pub(crate) is_whole: bool,
}

/// ARC's answers and when they came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arcs {
    /// The last answer, until its effect is stored.
    pub(crate) unapplied: Option<Listing>,
    /// When it was last read; absent when it is to be asked at once.
    pub(crate) read_at: Option<UnixSeconds>,
    /// Whether a permission is missing, so that shifts have to end by age.
    pub(crate) is_denied: bool,
    /// When shifts were last checked for their age.
    pub(crate) looked_at: Option<UnixSeconds>,
}

impl Network {
    /// What gave no answer stays as it was.
    pub(super) fn take(&mut self, network: ShiftNetwork, now: UnixSeconds) {
        let ShiftNetwork { zones, cluster_arn, vpc_id, subnets } = network;
        self.is_whole = zones.is_some() && subnets.is_some();
        self.zones = zones.unwrap_or_else(|| std::mem::take(&mut self.zones));
        if cluster_arn.is_some() {
            (self.cluster_arn, self.vpc_id) = (cluster_arn, vpc_id);
        }
        self.subnets = subnets.or(self.subnets.take());
        self.asked_at = Some(now);
    }

    /// The zones of the cluster's subnets; empty when not known.
    pub(crate) fn subnet_zones(
        &self,
        cluster_name: &str,
        is_auto_mode: bool,
    ) -> BTreeSet<ZoneName> {
        match (&self.subnets, &self.vpc_id) {
            (Some(subnets), Some(vpc)) => subnet_zones(subnets, cluster_name, vpc, is_auto_mode),
            _ => BTreeSet::new(),
        }
    }
}

impl Arcs {
    pub(super) fn take(&mut self, reading: ArcReading, now: UnixSeconds) {
        if reading.is_complete || reading.is_denied {
            self.is_denied = !reading.is_complete;
        }
        self.unapplied = Some(reading.listing);
        self.read_at = Some(now);
    }
}
