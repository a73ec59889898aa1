//! What pools' nodes can be made of: asked of the cloud when a pool changes, and from time to time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::event::Event;
use kerf_engine::observed::{Name, Pool};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tracing::warn;

use crate::client::cloud::Cloud;

/// Prices and availability are asked anew so often.
const REFRESH_AFTER: Duration = Duration::from_secs(300);
/// A question that failed is asked again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The questions that are being asked, one for each pool.
pub(crate) struct InstanceTypes<C> {
    cloud: Arc<C>,
    events: mpsc::Sender<Event>,
    asked: HashMap<Name, Asked>,
    tasks: JoinSet<()>,
}

/// The pool a question is about, as it was when it was asked.
struct Asked {
    uid: Arc<str>,
    generation: i64,
    task: AbortHandle,
}

impl<C: Cloud> InstanceTypes<C> {
    /// Nobody has been asked yet.
    pub(crate) fn new(cloud: Arc<C>, events: mpsc::Sender<Event>) -> Self {
        Self { cloud, events, asked: HashMap::new(), tasks: JoinSet::new() }
    }

    /// Asks what a pool is offered, unless that is being done for this version of it.
    pub(crate) fn ask(&mut self, pool: &Pool) {
        while self.tasks.try_join_next().is_some() {}
        let (uid, generation) = (pool.meta.uid.clone(), pool.meta.generation);
        if let Some(asked) = self.asked.get(&pool.meta.name) {
            if asked.uid == uid && asked.generation == generation {
                return;
            }
            asked.task.abort();
        }
        let question = keep_asking(self.cloud.clone(), self.events.clone(), pool.clone());
        let task = self.tasks.spawn(question);
        self.asked.insert(pool.meta.name.clone(), Asked { uid, generation, task });
    }

    /// A pool is gone.
    pub(crate) fn forget(&mut self, pool: &Name) {
        if let Some(asked) = self.asked.remove(pool) {
            asked.task.abort();
        }
    }
}

async fn keep_asking<C: Cloud>(cloud: Arc<C>, events: mpsc::Sender<Event>, pool: Pool) {
    loop {
        // Made before asking: a change while the answer is under way is not missed.
        let changed = cloud.instance_types_changed();
        let pause = match cloud.instance_types(&pool).await {
            Ok(instance_types) => {
                let pool = pool.meta.name.clone();
                if events.send(Event::Offered { pool, instance_types }).await.is_err() {
                    return;
                }
                REFRESH_AFTER
            }
            Err(failure) => {
                warn!(pool = %pool.meta.name, ?failure, "the cloud lists no instance types");
                RETRY_AFTER
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = changed => {}
        }
    }
}
