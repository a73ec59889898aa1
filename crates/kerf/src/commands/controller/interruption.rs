//! `kerf controller --interruption-queue`: what AWS announces about instances becomes the end of
//! their nodes before the instances end.

use anyhow::Result;
use kerf_aws::{Session, TimeOuts};
use kerf_interruption::{Consumer, MESSAGES_AT_ONCE};
use kerf_kube::{Metrics, NoticeDelivery};
use kerf_runtime::Tasks;
use kerf_runtime::queue::Delivery;
use tokio::sync::{mpsc, watch};

use crate::commands::controller::Controller;

/// The reader of a queue and what it reads.
pub(super) struct Interruption {
    /// What it announces about instances.
    pub(super) notices: mpsc::Receiver<NoticeDelivery>,
    /// What it announces about zones, where that is read from the same queue.
    pub(super) announcements: Option<mpsc::Receiver<Delivery>>,
}

impl Interruption {
    /// Starts to read the queue, if one is named.
    pub(crate) async fn start(
        of: &Controller,
        metrics: &Metrics,
        leading: watch::Receiver<bool>,
        tasks: &mut Tasks,
    ) -> Result<Self> {
        let name = &of.interruption_queue;
        let mut this = Self { notices: kerf_kube::no_notices(), announcements: None };
        if name.is_empty() {
            return Ok(this);
        }
        let (sender, notices) = mpsc::channel(MESSAGES_AT_ONCE);
        this.notices = notices;
        let queues = Session::from_env(TimeOuts::default()).await.queues();
        let mut consumer = Consumer::new(sender, metrics.clone());
        if has_announcements(of) {
            let (sender, announcements) = mpsc::channel(MESSAGES_AT_ONCE);
            this.announcements = Some(announcements);
            consumer = consumer.handing_shifts_to(sender);
        }
        let reading = consumer.run(queues, name.clone(), leading, tasks.stopping());
        tasks.spawn("interruption queue", reading);
        Ok(this)
    }
}

/// Whether zonal shifts are announced by the interruption queue: by default, and where it is
/// named twice. Two readers of a queue would each get a part of the messages.
fn has_announcements(of: &Controller) -> bool {
    let url = of.autoshift.queue_url();
    let is_the_same = url.is_none_or(|url| url.rsplit('/').next() == Some(&of.interruption_queue));
    of.enable_zonal_autoshift && is_the_same
}
