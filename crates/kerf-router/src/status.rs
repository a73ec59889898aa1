//! How full the router's queues and the clusters' queues are.

use kerf_aws::{CallError, Depth, Queues};

use crate::tagged_queues::TaggedQueues;

/// One queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStatus {
    /// What it is for: `central`, `dead letters`, or a cluster's name.
    pub role: String,
    /// Its URL.
    pub url: String,
    /// How much it holds, or why that cannot be told.
    pub depth: Result<Depth, CallError>,
}

/// The queues there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The router's own first, then the clusters' by name.
    pub queues: Vec<QueueStatus>,
    /// Why the clusters' queues could not be searched for.
    pub error: Option<CallError>,
}

/// Asks. One queue that cannot be asked hides no other.
pub async fn status(queues: &Queues, central: &str, dead_letters: Option<&str>) -> Status {
    let mut roles = vec![("central".to_owned(), central.to_owned())];
    roles.extend(dead_letters.map(|url| ("dead letters".to_owned(), url.to_owned())));
    let mut status = Status::default();
    match TaggedQueues::new(queues.clone()).find().await {
        Ok(clusters) => roles.extend(clusters),
        Err(error) => status.error = Some(error),
    }
    for (role, url) in roles {
        let depth = queues.depth(&url).await;
        status.queues.push(QueueStatus { role, url, depth });
    }
    status
}
