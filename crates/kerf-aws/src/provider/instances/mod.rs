//! Instances after their launch: listed, described, tagged, terminated.

pub(crate) mod describe;
mod id_batches;
pub(crate) mod instance;
mod list;
pub(crate) mod made_of;
mod status;
mod tags;
mod terminate;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::context::Context;
use super::launch::Launcher;
use super::launch::batch::Batches;
use super::launch::ec2_fleets::Ec2Fleets;
use super::offers::ReservationCounts;
use describe::DescribeCall;
use id_batches::{IdBatches, WINDOW};
use terminate::TerminateCall;

/// After so long everything in EC2 knows of an instance that was launched. Usually it takes
/// seconds.
pub(crate) const CONSISTENT_AFTER: Duration = Duration::from_secs(120);

/// The instances of the cluster.
#[derive(Debug)]
pub(crate) struct Instances {
    context: Context,
    batches: Batches<Ec2Fleets>,
    descriptions: IdBatches<DescribeCall>,
    terminations: IdBatches<TerminateCall>,
    reservations: Arc<ReservationCounts>,
    /// Turns to set tags.
    tagging: Semaphore,
    started_at: Instant,
    /// The ids of the instances that were listed last.
    own: Mutex<HashSet<String>>,
}

impl Instances {
    /// Instances, those included that this launcher launches.
    pub(crate) fn new(
        context: Context,
        launcher: &Launcher,
        reservations: Arc<ReservationCounts>,
    ) -> Self {
        let registry = &context.registry;
        let describe = DescribeCall(context.clone());
        let terminate = TerminateCall(context.clone());
        Self {
            batches: launcher.batches(),
            descriptions: IdBatches::new(describe, WINDOW, registry.clone()),
            terminations: IdBatches::new(terminate, WINDOW, registry.clone()),
            reservations,
            tagging: Semaphore::new(tags::AT_ONCE),
            started_at: Instant::now(),
            own: Mutex::default(),
            context,
        }
    }

    fn own(&self) -> MutexGuard<'_, HashSet<String>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
