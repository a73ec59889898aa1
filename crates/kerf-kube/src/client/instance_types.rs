//! What pools' nodes can be made of: asked of the provider when a pool or its node class changes,
//! when the provider says that something changed, and from time to time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::event::Event;
use kerf_engine::observed::{Name, NodeClass, Pool, Readiness};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;
use tracing::warn;

use crate::client::provider::Provider;

/// Prices and availability are asked for anew so often.
const REFRESH_AFTER: Duration = Duration::from_secs(300);
/// A request that failed is made again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Requests for instance types, one for each pool whose node class can be used.
pub(crate) struct InstanceTypes<P> {
    provider: Arc<P>,
    events: mpsc::Sender<Event>,
    requests: HashMap<Name, Request>,
    tasks: JoinSet<()>,
}

/// A request that is made again and again.
struct Request {
    about: Version,
    task: AbortHandle,
}

/// What the answer depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    pool: Arc<str>,
    class: Arc<str>,
    class_generation: i64,
    /// What the provider found for the class: zones follow from its subnets.
    resolved: Arc<Value>,
}

impl<P: Provider> InstanceTypes<P> {
    /// Nothing has been asked for yet.
    pub(crate) fn new(provider: Arc<P>, events: mpsc::Sender<Event>) -> Self {
        Self { provider, events, requests: HashMap::new(), tasks: JoinSet::new() }
    }

    /// Asks what a pool is offered, unless that is being done for this version of its class.
    /// Without a usable class nothing can be launched, and what is known stays.
    pub(crate) fn ask(&mut self, pool: &Pool, class: Option<&Arc<NodeClass>>) {
        while self.tasks.try_join_next().is_some() {}
        let Some(class) = class.filter(|class| class.readiness() == Readiness::Ready) else {
            return self.forget(&pool.meta.name);
        };
        let about = Version {
            pool: pool.meta.uid.clone(),
            class: class.meta.uid.clone(),
            class_generation: class.meta.generation,
            resolved: class.status.resolved.clone(),
        };
        let name = &pool.meta.name;
        if self.requests.get(name).is_some_and(|request| request.about == about) {
            return;
        }
        self.forget(name);
        let (provider, events) = (self.provider.clone(), self.events.clone());
        let task = self.tasks.spawn(keep_asking(provider, events, name.clone(), class.clone()));
        self.requests.insert(name.clone(), Request { about, task });
    }

    /// A pool is gone, or can have no instances.
    pub(crate) fn forget(&mut self, pool: &Name) {
        if let Some(request) = self.requests.remove(pool) {
            request.task.abort();
        }
    }
}

async fn keep_asking<P: Provider>(
    provider: Arc<P>,
    events: mpsc::Sender<Event>,
    pool: Name,
    class: Arc<NodeClass>,
) {
    loop {
        // Made before asking: a change while the answer is under way is not missed.
        let changed = provider.instance_types_changed();
        let pause = match provider.instance_types(&class).await {
            Ok(instance_types) => {
                let event = Event::Offered { pool: pool.clone(), instance_types };
                if events.send(event).await.is_err() {
                    return;
                }
                REFRESH_AFTER
            }
            Err(failure) => {
                warn!(%pool, class = class.key.name, ?failure, "no instance types from the provider");
                RETRY_AFTER
            }
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = changed => {}
        }
    }
}
