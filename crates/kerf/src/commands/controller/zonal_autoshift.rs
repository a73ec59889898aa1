//! `kerf controller --enable-zonal-autoshift`: NodePool mode switched on in the controller's engine.
//!
//! It acts only while it also holds the Lease of `kerf zonal-autoshift`: where one runs beside the
//! controller, one of them acts, and `kerf zonal-shift` finds somebody who does.

use anyhow::Result;
use kerf_aws::{Queues, Session, TimeOuts};
use kerf_engine::zonal_shift::ShiftSettings;
use kerf_kube::ZonalShifts;
use kerf_runtime::{Candidate, Tasks, identity};
use kerf_zonal::{Account, Announcements, LEASE, ShiftsOf};
use kube::Client;
use tokio::sync::watch;
use tracing::warn;

use crate::commands::controller::interruption::has_announcements;
use crate::commands::controller::{Controller, Sources};
use crate::commands::zonal_autoshift::flags::Home;

/// NodePool mode, if the controller was asked for it.
pub(super) struct Autoshift {
    pub(super) settings: ShiftSettings,
    account: Account,
    /// A queue of its own; none where the interruption queue brings announcements.
    queue: Option<(Queues, String)>,
}

impl Autoshift {
    /// What the flags ask for.
    pub(super) async fn of(of: &Controller, namespace: &str) -> Result<Option<Self>> {
        if !of.enable_zonal_autoshift {
            return Ok(None);
        }
        let session = Session::from_env(TimeOuts::default()).await;
        let home = Home { cluster_name: &of.cluster_name, namespace, region: session.region() };
        let settings = of.autoshift.settings(home)?;
        let queue = match has_announcements(of) {
            true => None,
            false => Some((session.queues(), of.autoshift.needed_queue_url(&of.cluster_name)?)),
        };
        Ok(Some(Self { settings, account: Account::new(&session), queue }))
    }

    /// Starts what feeds it. `lease_client` is for the Lease alone.
    pub(super) fn start(
        self,
        client: &Client,
        lease_client: Client,
        sources: Sources,
        tasks: &mut Tasks,
    ) -> ZonalShifts {
        let (lead, leading) = watch::channel(false);
        let (namespace, name) = (&self.settings.namespace, identity::of_this_process());
        let candidate = Candidate::new(lease_client, namespace, LEASE, name);
        let shifts = ShiftsOf { settings: &self.settings, client, health: &sources.health };
        let shifts = shifts.start(self.account, leading, tasks);
        let acting = Acting { candidate, lead, queue: self.queue, sources };
        tasks.spawn("zonal autoshift", acting.run(tasks.stopping()));
        shifts
    }
}

/// Holds the Lease while the controller leads, and reads the queue while it is held.
struct Acting {
    candidate: Candidate,
    lead: watch::Sender<bool>,
    queue: Option<(Queues, String)>,
    sources: Sources,
}

impl Acting {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        loop {
            let held = async {
                // The sender lives as long as the controller, which outlives this task.
                let _ = self.sources.leading.wait_for(|leading| *leading).await;
                self.candidate.acquire().await;
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = held => {}
            }
            self.lead.send_replace(true);
            let reading = read(self.queue.clone(), self.sources.clone(), stop.clone());
            tokio::select! {
                () = reading => return self.candidate.release().await,
                lost = self.candidate.hold() => warn!(%lost, "the lease of zonal shifts was lost"),
            }
            self.lead.send_replace(false);
        }
    }
}

/// Reads the queue until the end, or waits for it where another reader brings announcements.
async fn read(queue: Option<(Queues, String)>, sources: Sources, mut stop: watch::Receiver<bool>) {
    match queue {
        Some((queues, url)) => {
            let Sources { notices, leading, health } = sources;
            Announcements::new(queues, url, notices, &health).run(leading, stop).await;
        }
        None => _ = stop.wait_for(|stop| *stop).await,
    }
}
