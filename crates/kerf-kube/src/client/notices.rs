//! Notices on their way in, and what came of them on the way out.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::event::Event;
use kerf_engine::notice::{
    FoundNode, Handling, Notice, NoticeId, NoticeKind, NoticeOutcome, Settled,
};
use tokio::sync::{mpsc, oneshot};

/// A notice, and where to tell what came of it.
#[derive(Debug)]
pub struct NoticeDelivery {
    content: Content,
    outcome: oneshot::Sender<NoticeOutcome>,
    /// Who wants to know which nodes it is about.
    found: Option<mpsc::UnboundedSender<FoundNode>>,
}

#[derive(Debug)]
enum Content {
    /// Something is about to happen to instances.
    Instances(NoticeKind, Vec<Arc<str>>, Handling),
    /// The text of a message about a zonal shift.
    ZonalShift(Arc<str>),
}

impl NoticeDelivery {
    /// A notice about instances, by the last part of their provider ids. Its outcome comes once; if
    /// nobody is left to tell it, the notice has to come again.
    #[must_use]
    pub fn new(
        kind: NoticeKind,
        instances: Vec<Arc<str>>,
    ) -> (Self, oneshot::Receiver<NoticeOutcome>) {
        Self::of(Content::Instances(kind, instances, Handling::default()))
    }

    /// The same for a termination handler, which is also told of each node once it is found.
    #[must_use]
    pub fn handled(
        kind: NoticeKind,
        instances: Vec<Arc<str>>,
        handling: Handling,
        found: mpsc::UnboundedSender<FoundNode>,
    ) -> (Self, oneshot::Receiver<NoticeOutcome>) {
        let (delivery, outcome) = Self::of(Content::Instances(kind, instances, handling));
        (Self { found: Some(found), ..delivery }, outcome)
    }

    /// A message about a zonal shift, whose outcome comes in the same way.
    #[must_use]
    pub fn zonal_shift(body: &str) -> (Self, oneshot::Receiver<NoticeOutcome>) {
        Self::of(Content::ZonalShift(Arc::from(body)))
    }

    fn of(content: Content) -> (Self, oneshot::Receiver<NoticeOutcome>) {
        let (outcome, heard) = oneshot::channel();
        (Self { content, outcome, found: None }, heard)
    }
}

/// For a cloud that announces nothing.
#[must_use]
pub fn no_notices() -> mpsc::Receiver<NoticeDelivery> {
    mpsc::channel(1).1
}

/// Those who wait for outcomes. The engine has an outcome for every notice, so nobody stays.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    last_id: u64,
    waiting: BTreeMap<NoticeId, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    outcome: oneshot::Sender<NoticeOutcome>,
    found: Option<mpsc::UnboundedSender<FoundNode>>,
}

impl Notices {
    /// The event that a delivery is to the engine.
    pub(crate) fn take_in(&mut self, delivery: NoticeDelivery) -> Event {
        let NoticeDelivery { content, outcome, found } = delivery;
        self.last_id += 1;
        let id = NoticeId(self.last_id);
        self.waiting.insert(id, Waiting { outcome, found });
        match content {
            Content::Instances(kind, instances, handling) => {
                Event::Noticed(Notice { id, kind, instances, handling })
            }
            Content::ZonalShift(body) => Event::Announced { id, body },
        }
    }

    /// Tells who brought a notice of a node it is about.
    pub(crate) fn find(&self, node: FoundNode) {
        let waiting = self.waiting.get(&node.id);
        if let Some(found) = waiting.and_then(|waiting| waiting.found.as_ref()) {
            let _ = found.send(node);
        }
    }

    /// Tells who brought a notice what came of it.
    pub(crate) fn settle(&mut self, settled: &Settled) {
        if let Some(waiting) = self.waiting.remove(&settled.id) {
            // Who brought it may be gone; then it comes again.
            let _ = waiting.outcome.send(settled.outcome);
        }
    }
}
