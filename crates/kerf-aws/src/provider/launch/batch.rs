//! Launches that ask for the same are made together: fewer calls, and none that EC2 refuses as one
//! too many.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kerf_engine::event::Failure;
use kerf_engine::observed::Name;
use kerf_runtime::metrics::Registry;
use tokio::sync::{RwLock, RwLockWriteGuard};

use super::answer::FleetAnswer;
use super::fleet::{FleetOrder, FleetRequest};
use super::ledger::{Answer, BatchId, Ledger, Place, Uid, Waiting};
use super::verdict::is_template_gone;
use super::window::Window;
use crate::CallError;
use crate::provider::batch_metrics::observe_batch;

/// As Karpenter waits for launches to be made together.
pub(crate) const WINDOW: Window =
    Window { idle: Duration::from_millis(35), longest: Duration::from_secs(1), most: 1_000 };

/// Asks EC2 for fleets.
pub(crate) trait FleetSender: Send + Sync + 'static {
    /// Sends a request when its turn has come. What it is made of is asked for at that moment, so
    /// that a batch can grow until then.
    fn send(
        &self,
        request: &FleetRequest,
        close: impl FnOnce() -> Option<Arc<FleetOrder>> + Send,
    ) -> impl Future<Output = Result<FleetAnswer, CallError>> + Send;

    /// Settles where the instances of an order go.
    fn place(&self, order: &mut FleetOrder);
}

/// Launches under way. Copies share them.
#[derive(Debug)]
pub(crate) struct Batches<S> {
    ledger: Arc<Mutex<Ledger>>,
    sender: Arc<S>,
    window: Window,
    registry: Registry,
    /// Read from the moment a batch is sent until its answer is in the ledger.
    under_way: Arc<RwLock<()>>,
}

impl<S> Clone for Batches<S> {
    fn clone(&self) -> Self {
        Self {
            ledger: self.ledger.clone(),
            sender: self.sender.clone(),
            window: self.window,
            registry: self.registry.clone(),
            under_way: self.under_way.clone(),
        }
    }
}

impl<S: FleetSender> Batches<S> {
    /// Nothing is under way.
    pub(crate) fn new(sender: S, window: Window, registry: Registry) -> Self {
        let (ledger, sender) = (Arc::default(), Arc::new(sender));
        Self { ledger, sender, window, registry, under_way: Arc::default() }
    }

    /// Waits until all that was sent is answered; nothing is sent as long as this is held.
    pub(crate) async fn quiet(&self) -> RwLockWriteGuard<'_, ()> {
        self.under_way.write().await
    }

    /// What is known of launches.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a launch that was asked for before, if it was.
    pub(crate) async fn known(&self, uid: &str) -> Option<Answer> {
        let place = self.ledger().find(uid)?;
        Some(self.answer(place).await)
    }

    /// Launches an instance for a claim, together with whoever asks for the same. The request goes
    /// before the answer comes: tens of kilobytes, which a thousand who wait need not hold each.
    pub(crate) async fn launch(
        &self,
        uid: &Uid,
        claim: &Name,
        request: Arc<FleetRequest>,
    ) -> Answer {
        let place = self.ledger().join(uid, claim, &request, self.window.most, Instant::now());
        drop(request);
        self.answer(place).await
    }

    async fn answer(&self, place: Place) -> Answer {
        let waiting: Waiting = match place {
            Place::Launched(instance) => return Ok(instance),
            Place::Waiting(waiting) => waiting,
            // Tasks of their own: an answer must be heard even if nobody waits for it any more.
            Place::Again(waiting, id, order) => {
                let this = self.clone();
                tokio::spawn(async move { this.send_again(id, order).await });
                waiting
            }
            Place::Opened(waiting, id, growing) => {
                let this = self.clone();
                tokio::spawn(async move {
                    this.window.closes(growing).await;
                    this.send(id).await;
                });
                waiting
            }
        };
        let lost = || Failure::Unavailable { message: "the launch was given up".to_owned() };
        waiting.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Sends a new batch.
    async fn send(&self, id: BatchId) {
        let _under_way = self.under_way.read().await;
        let Some(request) = self.ledger().request(id) else { return };
        let mut answer = self.sender.send(&request, || self.close(id)).await;
        if is_gone(&answer) {
            // It was deleted between our look and the launch. It is made anew, once.
            let renewed = || self.ledger().renew(id, Instant::now());
            answer = self.sender.send(&request, renewed).await;
        }
        self.ledger().settle(id, &answer, Instant::now());
    }

    /// Sends a batch again that had no answer.
    async fn send_again(&self, id: BatchId, order: Arc<FleetOrder>) {
        let _under_way = self.under_way.read().await;
        let same = order.clone();
        let answer = self.sender.send(&order.request, || Some(same)).await;
        self.ledger().settle(id, &answer, Instant::now());
    }

    fn close(&self, id: BatchId) -> Option<Arc<FleetOrder>> {
        let (order, open_for) = self.ledger().close(id, |order| self.sender.place(order))?;
        observe_batch(&self.registry, "create_fleet", order.members.len(), open_for);
        Some(order)
    }
}

/// Whether nothing was launched because a launch template is gone.
pub(crate) fn is_gone(answer: &Result<FleetAnswer, CallError>) -> bool {
    match answer {
        Ok(FleetAnswer { instances, errors }) => {
            instances.is_empty() && errors.iter().any(|error| is_template_gone(&error.code))
        }
        Err(error) => error.code().is_some_and(is_template_gone),
    }
}

#[cfg(test)]
mod tests;
