//! `kerf controller --enable-zonal-shift`: nothing is launched in zones that ARC shifts away from.

use anyhow::Result;
use kerf_aws::{Session, TimeOuts};
use kerf_kube::Cloud;
use kerf_runtime::clock::Clock;
use kerf_zonal::{AvoidingZones, ShiftReader};

/// The cloud, but for the zones the cluster is shifted away from while that lasts.
pub(super) async fn avoiding<C: Cloud>(cloud: C, cluster_name: &str) -> Result<AvoidingZones<C>> {
    if cluster_name.is_empty() {
        anyhow::bail!(
            "--enable-zonal-shift needs the EKS cluster's name: set CLUSTER_NAME, or pass \
             --cluster-name"
        );
    }
    let session = Session::from_env(TimeOuts::default()).await;
    let (reader, shifted) = ShiftReader::start(&session, cluster_name, Clock::default()).await?;
    tokio::spawn(reader.run());
    Ok(AvoidingZones::new(cloud, shifted))
}
