//! Calls about single instances, made together.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kerf_runtime::metrics::Registry;
use tokio::sync::{oneshot, watch};

use crate::provider::batch_metrics::observe_batch;
use crate::provider::launch::window::Window;
use crate::{CallError, Result};

/// As Karpenter waits for calls to be made together.
pub(crate) const WINDOW: Window =
    Window { idle: Duration::from_millis(100), longest: Duration::from_secs(1), most: 500 };

/// A call about several instances.
pub(crate) trait IdCall: Send + Sync + 'static {
    /// What it tells of one.
    type Answer: Clone + Send + 'static;
    /// As metrics name it.
    const NAME: &'static str;

    /// Makes the call. What it does not know is left out of the answer.
    fn call(
        &self,
        ids: Vec<String>,
    ) -> impl Future<Output = Result<HashMap<String, Self::Answer>>> + Send;
}

/// Calls in the making. Copies share them.
#[derive(Debug)]
pub(crate) struct IdBatches<C: IdCall> {
    call: Arc<C>,
    open: Arc<Mutex<Option<Open<C::Answer>>>>,
    window: Window,
    registry: Registry,
}

#[derive(Debug)]
struct Open<A> {
    waiting: HashMap<String, Vec<oneshot::Sender<Result<Option<A>>>>>,
    size: watch::Sender<usize>,
    since: Instant,
}

impl<C: IdCall> Clone for IdBatches<C> {
    fn clone(&self) -> Self {
        let (call, open) = (self.call.clone(), self.open.clone());
        Self { call, open, window: self.window, registry: self.registry.clone() }
    }
}

impl<C: IdCall> IdBatches<C> {
    /// No call is in the making.
    pub(crate) fn new(call: C, window: Window, registry: Registry) -> Self {
        Self { call: Arc::new(call), open: Arc::default(), window, registry }
    }

    /// What the call tells of an instance, asked together with others; none if it knows nothing.
    pub(crate) async fn ask(&self, id: &str) -> Result<Option<C::Answer>> {
        let (sender, answer) = oneshot::channel();
        if let Some(size) = self.join(id, sender) {
            let this = self.clone();
            // A task of its own: others wait for it, even if the first of them does not.
            tokio::spawn(async move {
                this.window.closes(size).await;
                this.make().await;
            });
        }
        let lost = || CallError::Unavailable {
            action: C::NAME,
            resource: id.to_owned(),
            why: "the call was given up".to_owned(),
        };
        answer.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Joins the open batch; where there is none it is opened, and its size comes with it.
    fn join(
        &self,
        id: &str,
        sender: oneshot::Sender<Result<Option<C::Answer>>>,
    ) -> Option<watch::Receiver<usize>> {
        let mut open = self.open();
        let mut opened = None;
        let batch = open.get_or_insert_with(|| {
            let (size, receiver) = watch::channel(0);
            opened = Some(receiver);
            Open { waiting: HashMap::new(), size, since: Instant::now() }
        });
        batch.waiting.entry(id.to_owned()).or_default().push(sender);
        batch.size.send_replace(batch.waiting.len());
        opened
    }

    async fn make(&self) {
        let Some(Open { waiting, since, .. }) = self.open().take() else { return };
        observe_batch(&self.registry, C::NAME, waiting.len(), since.elapsed());
        let mut ids: Vec<String> = waiting.keys().cloned().collect();
        ids.sort();
        let answer = self.call.call(ids).await;
        for (id, senders) in waiting {
            let of_id = match &answer {
                Ok(answers) => Ok(answers.get(&id).cloned()),
                Err(error) => Err(error.clone()),
            };
            for sender in senders {
                // Who no longer waits asks again.
                let _ = sender.send(of_id.clone());
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Option<Open<C::Answer>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows everything but `i-9`, and keeps what it was asked.
    #[derive(Debug, Default)]
    struct Known(Mutex<Vec<Vec<String>>>);

    impl IdCall for Arc<Known> {
        type Answer = String;
        const NAME: &'static str = "test";

        async fn call(&self, ids: Vec<String>) -> Result<HashMap<String, String>> {
            self.0.lock().unwrap().push(ids.clone());
            if ids.iter().any(|id| id == "i-broken") {
                return Err(CallError::refused("test", "i-broken", "no"));
            }
            let known = ids.into_iter().filter(|id| id != "i-9");
            Ok(known.map(|id| (id.clone(), format!("about {id}"))).collect())
        }
    }

    fn batches(most: usize) -> (Arc<Known>, IdBatches<Arc<Known>>) {
        let (known, long) = (Arc::new(Known::default()), Duration::from_secs(3_600));
        let window = Window { idle: long, longest: long, most };
        let batches = IdBatches::new(known.clone(), window, Registry::default());
        (known, batches)
    }

    #[tokio::test]
    async fn questions_about_many_are_one_call_and_each_gets_its_own_answer() {
        let (known, batches) = batches(3);
        let ask = |id: &'static str| {
            let batches = batches.clone();
            async move { batches.ask(id).await.unwrap() }
        };
        let (one, same, nine, two) = tokio::join!(ask("i-1"), ask("i-1"), ask("i-9"), ask("i-2"));
        assert_eq!((one.as_deref(), same.as_deref()), (Some("about i-1"), Some("about i-1")));
        assert_eq!((nine, two.as_deref()), (None, Some("about i-2")));
        assert_eq!(*known.0.lock().unwrap(), [["i-1", "i-2", "i-9"]]);
    }

    #[tokio::test]
    async fn an_error_is_everybodys_and_the_next_call_is_another() {
        let (known, batches) = batches(1);
        assert!(batches.ask("i-broken").await.is_err());
        assert_eq!(batches.ask("i-1").await.unwrap().as_deref(), Some("about i-1"));
        assert_eq!(known.0.lock().unwrap().len(), 2);
        let page = batches.registry.page().finish();
        assert!(page.contains("karpenter_cloudprovider_batcher_batch_size_count"), "{page}");
    }
}
