//! NodePool mode of zonal shifts: what the controller is given for it, and what it watches.

mod calls;
mod served;
mod state;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use kerf_engine::event::Event;
use kerf_engine::zonal_shift::{ArcReading, ShiftNetwork};
use tokio::sync::{mpsc, watch};

pub(crate) use calls::{delete_copy, edit_pool, failure_name, replace_copy};
pub use served::ServedKinds;
pub(crate) use served::watch_served;
pub use state::{config_map, write_state};

/// What NodePool mode needs beside the API server.
#[derive(Clone)]
pub struct ZonalShifts {
    /// Who describes zones and lists shifts.
    pub account: Arc<dyn ShiftAccount>,
    /// The kinds of pools and node classes that are served; nothing until that is known.
    pub served: watch::Receiver<Option<ServedKinds>>,
    /// Whether this process is the one that acts on zonal shifts.
    pub leading: watch::Receiver<bool>,
}

/// Something that is on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An account that zones and zonal shifts belong to. What gives no answer is absent in what is
/// returned, and reported by whoever made the call.
pub trait ShiftAccount: Send + Sync {
    /// The account's zones, the cluster and its subnets.
    fn describe_network(&self) -> Pending<'_, ShiftNetwork>;

    /// The zonal shifts that are active now.
    fn list_shifts<'a>(&'a self, cluster_arn: Option<&'a str>) -> Pending<'a, ArcReading>;
}

/// Says whether this process acts, and every change of that, as long as the engine listens.
pub(crate) async fn follow_lead(mut leading: watch::Receiver<bool>, events: mpsc::Sender<Event>) {
    loop {
        let leads = *leading.borrow_and_update();
        if events.send(Event::LeadsShifts(leads)).await.is_err() {
            return;
        }
        if leading.changed().await.is_err() {
            // Who knew is gone; the process ends.
            return std::future::pending().await;
        }
    }
}
