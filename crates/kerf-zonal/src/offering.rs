//! Offering mode: while ARC has a shift of the cluster applied, nothing is launched in the zone.
//! Pools stay as they are, and so do nodes there: the engine, which learns of the zones, takes
//! none away and makes no call about instances there.

use std::time::Duration;

use kerf_aws::{CallError, Session};
use kerf_engine::observed::ShiftedZone;
use kerf_engine::time::Time;
use kerf_notices::zonal_shift::{
    AppliedShift, OfferingMode, READ_EVERY_SECONDS, UnixSeconds, ZoneId, ZoneName, ZoneTable,
};
use kerf_runtime::clock::Clock;
use serde_json::json;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::account::{Account, items};

/// How often the first reading is tried while AWS does not answer, and the pause between: a
/// minute in all, after which the process ends and says why.
const START_TRIES_MAX: u32 = 12;
const START_RETRY_AFTER: Duration = Duration::from_secs(5);

/// Why offering mode cannot start.
#[derive(Debug, Error)]
pub enum OfferingError {
    /// A call failed. The error says whether a permission is missing.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is no such cluster. Check its name, the account and the region.
    #[error("there is no EKS cluster {0} in this account and region")]
    NoCluster(String),
    /// ARC does not know the cluster.
    #[error(
        "cluster not registered to Zonal Shift: {0}; register it with \
         `aws eks update-cluster-config --zonal-shift-config enabled=true`, or leave \
         --enable-zonal-shift out"
    )]
    NotRegistered(String),
}

/// The zones the cluster is shifted away from, as ARC last listed them.
pub type ShiftedZones = watch::Receiver<Vec<ShiftedZone>>;

/// Reads ARC's word about one cluster.
pub struct ShiftReader {
    account: Account,
    arn: String,
    zones: ZoneTable,
    mode: OfferingMode,
    clock: Clock,
    sender: watch::Sender<Vec<ShiftedZone>>,
}

impl ShiftReader {
    /// Finds the cluster and reads once, so that nothing is launched before ARC answered.
    pub async fn start(
        session: &Session,
        cluster_name: &str,
        clock: Clock,
    ) -> Result<(Self, ShiftedZones), OfferingError> {
        let mut tries_left = START_TRIES_MAX;
        loop {
            tries_left -= 1;
            let started =
                Self::of_account(Account::new(session), cluster_name, clock.clone()).await;
            match started {
                Err(OfferingError::Call(error)) if error.is_transient() && tries_left > 0 => {
                    warn!(%error, "AWS does not answer; asked again");
                    sleep(START_RETRY_AFTER).await;
                }
                started => return started,
            }
        }
    }

    /// The same, with an account put together from parts.
    pub async fn of_account(
        account: Account,
        cluster_name: &str,
        clock: Clock,
    ) -> Result<(Self, ShiftedZones), OfferingError> {
        let cluster = account.clusters.describe(cluster_name).await?;
        let arn = cluster.ok_or_else(|| OfferingError::NoCluster(cluster_name.to_owned()))?.arn;
        let mut zones = ZoneTable::default();
        for zone in account.network.zones().await? {
            zones.learn(&ZoneId::new(&zone.id), &ZoneName::new(&zone.name));
        }
        let (sender, shifted) = watch::channel(Vec::new());
        let mode = OfferingMode::default();
        let mut reader = Self { account, arn, zones, mode, clock, sender };
        if !reader.read().await? {
            return Err(OfferingError::NotRegistered(reader.arn));
        }
        Ok((reader, shifted))
    }

    /// Reads again and again; a failed read keeps the last answer.
    pub async fn run(mut self) {
        let pause = Duration::from_secs(READ_EVERY_SECONDS.unsigned_abs());
        loop {
            sleep(pause).await;
            match self.read().await {
                Ok(true) => {}
                Ok(false) => warn!(arn = self.arn, "the cluster is no longer registered with ARC"),
                Err(error) => warn!(%error, "ARC gave no answer; the last one holds"),
            }
        }
    }

    /// One read. False if ARC does not know the cluster.
    pub async fn read(&mut self) -> Result<bool, CallError> {
        let answer = self.account.zonal_shifts.managed_resource(&self.arn).await?;
        let Some(resource) = answer else { return Ok(false) };
        let reply = json!({
            "zonalShifts": items(resource.zonal_shifts),
            "autoshifts": items(resource.autoshifts),
        });
        let now = UnixSeconds::at(self.clock.now().as_second());
        let change = self.mode.read(&reply, now).unwrap_or_default();
        for zone in &change.shifted {
            info!(%zone, "Zonal shift detected: nothing is launched there until it is over");
        }
        for zone in &change.cleared {
            info!(%zone, "Zonal shift cleared");
        }
        let shifted = self.mode.shifted(now).filter_map(|(id, shift)| self.named(id, shift));
        let shifted: Vec<_> = shifted.collect();
        self.sender.send_if_modified(|known| {
            let is_new = *known != shifted;
            *known = shifted;
            is_new
        });
        Ok(true)
    }

    /// A zone whose name is not known has no nodes and no offerings of this account.
    fn named(&self, id: &ZoneId, shift: &AppliedShift) -> Option<ShiftedZone> {
        Some(ShiftedZone {
            name: self.zones.name(id)?.as_str().into(),
            id: id.as_str().into(),
            origin: shift.origin.to_string().into(),
            since: Time::from_seconds(shift.since.seconds()),
        })
    }
}
