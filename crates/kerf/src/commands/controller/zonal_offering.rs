//! `kerf controller --enable-zonal-shift`: nothing is launched in zones that ARC shifts away from.

use anyhow::Result;
use kerf_aws::{Session, TimeOuts};
use kerf_runtime::Tasks;
use kerf_runtime::clock::Clock;
use kerf_runtime::metrics::Registry;
use kerf_zonal::{ShiftReader, ShiftedZones};

use crate::commands::exit::UsageError;

/// The zones the cluster is shifted away from, read now and then by a task of its own.
pub(super) async fn shifted_zones(
    cluster_name: &str,
    registry: Registry,
    tasks: &mut Tasks,
) -> Result<ShiftedZones> {
    if cluster_name.is_empty() {
        anyhow::bail!(UsageError::new(
            "--enable-zonal-shift needs the EKS cluster's name: set CLUSTER_NAME, or pass \
             --cluster-name"
        ));
    }
    let session = Session::from_env(TimeOuts::default()).await.counted_in(registry);
    let (reader, shifted) = ShiftReader::start(&session, cluster_name, Clock::default()).await?;
    tasks.spawn("zonal shift reader", reader.run());
    Ok(shifted)
}
