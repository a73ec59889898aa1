//! What AWS says of the account and the cluster, asked now and then.

use std::collections::BTreeSet;

use kerf_aws::ClusterDescription;
use kerf_notices::zonal_shift::{Subnet, UnixSeconds, ZoneId, ZoneName, ZoneTable, subnet_zones};

use crate::daemon::account::Account;
use crate::daemon::complaints::Complaints;

/// Zones and subnets change seldom.
const REFRESH_SECONDS: i64 = 3600;
/// What failed is asked again after so long.
const RETRY_SECONDS: i64 = 60;
/// A message about an unknown zone makes the table be read again, but not more often than this.
const MISS_SECONDS: i64 = 10;

/// What AWS says of the account and the cluster.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Ids and names of zones, by EC2.
    pub(crate) zones: ZoneTable,
    cluster: Option<ClusterDescription>,
    subnets: Option<Vec<Subnet>>,
    asked_at: Option<UnixSeconds>,
    due_at: Option<UnixSeconds>,
}

impl Surroundings {
    /// Asks, if it is time to.
    pub(crate) async fn refresh_if_due(
        &mut self,
        account: &Account,
        cluster_name: &str,
        complaints: &Complaints,
        now: UnixSeconds,
    ) -> bool {
        let is_due = self.due_at.is_none_or(|due| due <= now);
        if is_due {
            self.refresh(account, cluster_name, complaints, now).await;
        }
        is_due
    }

    /// Whether a zone nobody knows is reason to ask again.
    pub(crate) fn may_ask_after_a_miss(&self, now: UnixSeconds) -> bool {
        self.asked_at.is_none_or(|asked| now.since(asked) >= MISS_SECONDS)
    }

    /// Asks. What gives no answer stays as it was.
    pub(crate) async fn refresh(
        &mut self,
        account: &Account,
        cluster_name: &str,
        complaints: &Complaints,
        now: UnixSeconds,
    ) {
        let zones = account.zones(complaints).await;
        let cluster = account.cluster(cluster_name, complaints).await;
        let vpc_id = cluster.as_ref().and_then(|cluster| cluster.vpc_id.clone());
        let subnets = match &vpc_id {
            Some(vpc_id) => account.subnets(vpc_id, complaints).await,
            None => None,
        };
        let is_whole = zones.is_some() && subnets.is_some();
        if let Some(pairs) = zones {
            let mut table = ZoneTable::default();
            for (id, name) in &pairs {
                table.learn(&ZoneId::new(id), &ZoneName::new(name));
            }
            self.zones = table;
        }
        self.cluster = cluster.or(self.cluster.take());
        self.subnets = subnets.or(self.subnets.take());
        self.asked_at = Some(now);
        self.due_at = Some(now.plus(if is_whole { REFRESH_SECONDS } else { RETRY_SECONDS }));
    }

    /// The cluster's ARN.
    pub(crate) fn cluster_arn(&self) -> Option<&str> {
        self.cluster.as_ref().map(|cluster| cluster.arn.as_str())
    }

    /// The zones of the cluster's subnets; empty when not known.
    pub(crate) fn subnet_zones(
        &self,
        cluster_name: &str,
        is_auto_mode: bool,
    ) -> BTreeSet<ZoneName> {
        let vpc_id = self.cluster.as_ref().and_then(|cluster| cluster.vpc_id.as_deref());
        match (&self.subnets, vpc_id) {
            (Some(subnets), Some(vpc_id)) => {
                subnet_zones(subnets, cluster_name, vpc_id, is_auto_mode)
            }
            _ => BTreeSet::new(),
        }
    }
}
