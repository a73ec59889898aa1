//! `kerf controller --enable-zonal-autoshift`: NodePool mode embedded in the controller, which
//! lends it the lead, the API server and the page of metrics.
//!
//! It also holds the Lease of the daemon: where one runs beside the controller, one of them acts,
//! and `kerf zonal-shift` finds somebody who does.

use anyhow::Result;
use kerf_aws::{Session, TimeOuts};
use kerf_kube::Pace;
use kerf_runtime::{Candidate, Tasks, identity};
use kerf_zonal::{Account, Autoshift, Inbox, LEASE, system_clock};
use tokio::sync::watch;
use tracing::warn;

use crate::commands::controller::{Controller, MorePages};
use crate::commands::zonal_autoshift::flags::Home;

/// What is lent.
pub(super) struct TaskContext<'a> {
    pub(super) client: kube::Client,
    /// For the Lease alone.
    pub(super) lease_client: kube::Client,
    pub(super) namespace: &'a str,
    pub(super) leading: watch::Receiver<bool>,
    /// Where its metrics are put.
    pub(super) pages: &'a mut MorePages,
    /// Announcements that come by the interruption queue, where that is the one to read.
    pub(super) announcements: Option<tokio::sync::mpsc::Receiver<kerf_runtime::queue::Delivery>>,
    pub(super) tasks: &'a mut Tasks,
}

/// Starts NodePool mode, if the controller was asked to.
pub(crate) async fn start(of: &Controller, context: TaskContext<'_>) -> Result<()> {
    if !of.enable_zonal_autoshift {
        return Ok(());
    }
    let session = Session::from_env(TimeOuts::default()).await;
    let home = Home {
        cluster_name: &of.cluster_name,
        namespace: context.namespace,
        region: session.region(),
    };
    let settings = of.autoshift.settings(home)?;
    let inbox = match context.announcements {
        Some(announcements) => Inbox::handed_on(announcements),
        None => of.autoshift.queue(session.queues(), &of.cluster_name)?,
    };
    let account = Account::new(&session);
    let pace = Pace::new(of.kube_client_qps, of.kube_client_burst);
    let clock = system_clock();
    let autoshift = Autoshift::new(settings, context.client, account, inbox, pace, clock);
    context.pages.push(Box::new(autoshift.metrics()));
    let name = identity::of_this_process();
    let candidate = Candidate::new(context.lease_client, context.namespace, LEASE, name);
    let stopping = context.tasks.stopping();
    context
        .tasks
        .spawn("zonal autoshift", run_embedded(autoshift, candidate, context.leading, stopping));
    Ok(())
}

/// Acts while the controller leads and the Lease is held.
async fn run_embedded(
    autoshift: Autoshift,
    mut candidate: Candidate,
    mut leading: watch::Receiver<bool>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let held = async {
            // The sender lives as long as the controller, which outlives this task.
            let _ = leading.wait_for(|leading| *leading).await;
            candidate.acquire().await;
        };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = held => {}
        }
        let (_lead, led) = watch::channel(true);
        tokio::select! {
            () = autoshift.clone().run(led, stop.clone()) => {
                return candidate.release().await;
            }
            lost = candidate.hold() => warn!(%lost, "the lease of zonal shifts was lost"),
        }
    }
}
