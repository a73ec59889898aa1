//! `kerf controller --interruption-queue`: what AWS announces about instances becomes the end of
//! their nodes before the instances end.

use kerf_aws::{Session, TimeOuts};
use kerf_interruption::Consumer;
use kerf_kube::Metrics;
use kerf_runtime::Tasks;

use crate::commands::controller::{Controller, Sources};

/// Starts to read the queue, if one is named.
pub(super) async fn start(
    of: &Controller,
    sources: &Sources,
    metrics: &Metrics,
    tasks: &mut Tasks,
) {
    let name = &of.interruption_queue;
    if name.is_empty() {
        return;
    }
    let session = Session::from_env(TimeOuts::default()).await;
    let queues = session.counted_in(metrics.registry()).queues();
    let mut consumer =
        Consumer::new(sources.notices.clone(), metrics.clone(), sources.health.clone());
    if has_announcements(of) {
        consumer = consumer.with_zonal_shifts();
    }
    let reading = consumer.run(queues, name.clone(), sources.leading.clone(), tasks.stopping());
    tasks.spawn("interruption queue", reading);
}

/// Whether zonal shifts are announced by the interruption queue: by default, and where it is
/// named twice. Two readers of a queue would each get a part of the messages.
pub(super) fn has_announcements(of: &Controller) -> bool {
    let url = of.autoshift.queue_url();
    let is_the_same = url.is_none_or(|url| url.rsplit('/').next() == Some(&of.interruption_queue));
    of.enable_zonal_autoshift && !of.interruption_queue.is_empty() && is_the_same
}
