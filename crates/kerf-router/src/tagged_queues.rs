//! The queues that are tagged as clusters' own.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use kerf_aws::{CallError, Queues};

/// The tag; its value is the cluster's name.
pub(crate) const CLUSTER_TAG: &str = "kerf.sh/cluster";

/// Queues asked at once. Ten thousand, the most that are listed, take three hundred rounds: some
/// seconds.
const CALLS_AT_ONCE: usize = 32;

/// How long a queue is not asked again. A search that was cut short, as a function's are, then goes
/// on where it stopped.
const BELIEVED_FOR: Duration = Duration::from_secs(540);

/// Searches queues by their tags, and remembers them for a while.
#[derive(Debug)]
pub(crate) struct TaggedQueues {
    queues: Queues,
    known: Mutex<BTreeMap<String, Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    cluster: Option<String>,
    until: Instant,
}

impl TaggedQueues {
    pub(crate) fn new(queues: Queues) -> Self {
        Self { queues, known: Mutex::new(BTreeMap::new()) }
    }

    /// Clusters and the URLs of their queues.
    pub(crate) async fn find(&self) -> Result<Vec<(String, String)>, CallError> {
        let urls = self.queues.list().await?;
        let now = Instant::now();
        let (known, unknown) = {
            let mut known = self.known.lock().expect("no holder panics");
            known.retain(|_, it| now < it.until);
            urls.into_iter().partition::<Vec<_>, _>(|url| known.contains_key(url))
        };
        many_at_once(unknown.clone(), |url| self.ask(url)).await?;
        let listed = known.into_iter().chain(unknown);
        let known = self.known.lock().expect("no holder panics");
        let found = listed.filter_map(|url| Some((known.get(&url)?.cluster.clone()?, url)));
        let mut found: Vec<_> = found.collect();
        found.sort();
        Ok(found)
    }

    async fn ask(&self, url: String) -> Result<(), CallError> {
        let cluster = self.queues.tag(&url, CLUSTER_TAG).await?;
        let known = Known { cluster, until: Instant::now() + BELIEVED_FOR };
        self.known.lock().expect("no holder panics").insert(url, known);
        Ok(())
    }
}

/// Asks about each of them, so many at once, until one fails.
async fn many_at_once<A>(urls: Vec<String>, ask: impl Fn(String) -> A) -> Result<(), CallError>
where
    A: Future<Output = Result<(), CallError>>,
{
    stream::iter(urls).map(ask).buffer_unordered(CALLS_AT_ONCE).try_collect().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call takes about 20 ms; one after the other, ten thousand would take minutes.
    #[tokio::test(start_paused = true)]
    async fn ten_thousand_queues_are_asked_within_seconds() {
        let began = tokio::time::Instant::now();
        let urls = (0..10_000).map(|number| number.to_string()).collect();
        let ask = |_| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(())
        };
        many_at_once(urls, ask).await.expect("none fails");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(7), "{took:?} of the paused clock");
    }
}
