//! Leader election by a Lease, with the rules of client-go.
//!
//! A candidate writes its name into the Lease and renews it. Others wait until the Lease has not
//! changed for `leaseDurationSeconds`, by their own clocks, so clocks need not agree. A holder that
//! cannot renew in time stops leading before anyone else may start; one that is asked to end gives
//! the Lease back, so the next starts at once.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};
use tracing::{debug, info, warn};

use crate::clock;
use crate::lease_term::LeaseTerm;
use crate::shutdown::RELEASE_WITHIN;

/// How long the others wait for a holder that is silent. From client-go, as are the next two.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// How long a holder tries to renew before it gives up leading.
pub const RENEW_WITHIN: Duration = Duration::from_secs(10);
/// How long between tries.
pub const RETRY_AFTER: Duration = Duration::from_secs(2);

/// A process that wants to lead, or does.
pub struct Candidate {
    api: Api<Lease>,
    name: String,
    namespace: String,
    identity: String,
    observed: Option<Observed>,
    term: LeaseTerm,
}

/// The Lease as it was last seen to change.
struct Observed {
    spec: LeaseSpec,
    at: Instant,
}

/// Why a holder leads no more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lost {
    /// The Lease could not be renewed in time. Starting again as a candidate helps.
    #[error("the lease could not be renewed within {within} s: {why}", within = RENEW_WITHIN.as_secs())]
    NotRenewed {
        /// The last error; empty if the API server did not answer.
        why: String,
    },
    /// Another holds it. Starting again as a candidate helps.
    #[error("the lease is held by {0}")]
    Taken(String),
}

/// What a try to hold the Lease came to.
enum Try {
    Held,
    HeldBy(String),
}

impl Candidate {
    /// A candidate for the Lease of that name. Give it a client of its own, so that a flood of other
    /// calls cannot cost the Lease.
    #[must_use]
    pub fn new(client: kube::Client, namespace: &str, name: &str, identity: String) -> Self {
        Self {
            api: Api::namespaced(client, namespace),
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            identity,
            observed: None,
            term: LeaseTerm::not_begun(),
        }
    }

    /// Until when this candidate may act.
    #[must_use]
    pub fn term(&self) -> LeaseTerm {
        self.term.clone()
    }

    /// Waits until this candidate leads.
    pub async fn acquire(&mut self) {
        let lease = format!("{}/{}", self.namespace, self.name);
        info!(lease, identity = self.identity, "attempting to acquire leader lease");
        let mut leader = String::new();
        loop {
            match timeout(RENEW_WITHIN, self.try_hold()).await {
                Ok(Ok(Try::Held)) => break,
                Ok(Ok(Try::HeldBy(holder))) => {
                    if holder != leader {
                        info!(lease, leader = holder, "another process leads");
                        leader = holder;
                    }
                }
                Ok(Err(error)) => warn!(lease, %error, "failed to acquire the lease"),
                Err(_) => warn!(lease, "no answer about the lease; asked again"),
            }
            sleep(jittered(RETRY_AFTER)).await;
        }
        info!(lease, identity = self.identity, "successfully acquired lease");
    }

    /// Renews until that fails for [`RENEW_WITHIN`]. Whoever awaits it must then stop acting at once:
    /// another candidate may lead [`LEASE_DURATION`] after the last renewal.
    pub async fn hold(&mut self) -> Lost {
        loop {
            sleep(RETRY_AFTER).await;
            let since = Instant::now();
            let mut last = String::new();
            loop {
                let left = RENEW_WITHIN.saturating_sub(since.elapsed());
                match timeout(left, self.try_hold()).await {
                    Ok(Ok(Try::Held)) => break,
                    Ok(Ok(Try::HeldBy(holder))) => return Lost::Taken(holder),
                    Ok(Err(error)) => {
                        debug!(%error, "failed to renew the lease");
                        last = error.to_string();
                    }
                    Err(_) => return Lost::NotRenewed { why: last },
                }
                sleep(RETRY_AFTER.min(RENEW_WITHIN.saturating_sub(since.elapsed()))).await;
            }
        }
    }

    /// Gives the Lease back, if it is held and the API server answers in time.
    pub async fn release(&mut self) {
        self.term.end();
        if timeout(RELEASE_WITHIN, self.try_release()).await.is_err() {
            warn!(lease = self.name, "no answer about the lease; it runs out by itself");
        }
    }

    async fn try_release(&self) {
        let Ok(Some(mut lease)) = self.api.get_opt(&self.name).await else { return };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.identity) {
            return;
        }
        let now = now();
        *spec = LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            acquire_time: Some(now.clone()),
            renew_time: Some(now),
            lease_transitions: spec.lease_transitions,
            ..LeaseSpec::default()
        };
        match self.api.replace(&self.name, &PostParams::default(), &lease).await {
            Ok(_) => info!(lease = self.name, "released the leader lease"),
            Err(error) => warn!(lease = self.name, %error, "failed to release the lease"),
        }
    }

    async fn try_hold(&mut self) -> kube::Result<Try> {
        let sent = Instant::now();
        let tried = self.try_write().await?;
        match &tried {
            Try::Held => self.term.renewed(sent, LEASE_DURATION),
            Try::HeldBy(_) => self.term.end(),
        }
        Ok(tried)
    }

    async fn try_write(&mut self) -> kube::Result<Try> {
        let Some(mut lease) = self.api.get_opt(&self.name).await? else {
            let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
            let lease = Lease { metadata, spec: Some(self.spec(None)) };
            let stored = self.api.create(&PostParams::default(), &lease).await?;
            self.note(stored.spec.unwrap_or_default());
            return Ok(Try::Held);
        };
        let spec = lease.spec.take().unwrap_or_default();
        self.note(spec.clone());
        let holder = spec.holder_identity.clone().unwrap_or_default();
        if !holder.is_empty() && holder != self.identity && self.is_fresh() {
            return Ok(Try::HeldBy(holder));
        }
        lease.spec = Some(self.spec(Some(&spec)));
        // The version it was read at goes along: of two that try at once, one wins.
        let stored = self.api.replace(&self.name, &PostParams::default(), &lease).await?;
        self.note(stored.spec.unwrap_or_default());
        Ok(Try::Held)
    }

    /// The Lease with this candidate as its holder.
    fn spec(&self, former: Option<&LeaseSpec>) -> LeaseSpec {
        let now = now();
        let kept = former.filter(|it| it.holder_identity.as_deref() == Some(&self.identity));
        let transitions = former.and_then(|former| former.lease_transitions).unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(LEASE_DURATION.as_secs()).ok(),
            acquire_time: kept.map_or(Some(now.clone()), |kept| kept.acquire_time.clone()),
            renew_time: Some(now),
            lease_transitions: Some(match (former, kept) {
                (None, _) | (_, Some(_)) => transitions,
                (Some(_), None) => transitions.saturating_add(1),
            }),
            ..LeaseSpec::default()
        }
    }

    fn note(&mut self, spec: LeaseSpec) {
        if self.observed.as_ref().is_none_or(|observed| observed.spec != spec) {
            self.observed = Some(Observed { spec, at: Instant::now() });
        }
    }

    /// Whether the holder may still be there: the Lease changed within its own duration.
    fn is_fresh(&self) -> bool {
        let Some(Observed { spec, at }) = &self.observed else { return false };
        let seconds = spec.lease_duration_seconds.unwrap_or_default();
        at.elapsed() < Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }
}

fn now() -> MicroTime {
    MicroTime(clock::now())
}

/// Up to a fifth longer, so that candidates that started together part.
fn jittered(pause: Duration) -> Duration {
    let nanos = u32::try_from(clock::now().subsec_nanosecond()).unwrap_or_default();
    pause + pause.mul_f64(0.2 * f64::from(nanos % 1_000_003) / 1_000_003.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::net::TcpListener;

    use super::*;

    /// A candidate whose API server takes requests and never answers, and how many it took.
    async fn unanswered() -> (Candidate, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((connection, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                open.push(connection);
            }
        });
        let mut config = kube::Config::new(format!("http://{address}").parse().unwrap());
        (config.connect_timeout, config.read_timeout) = (None, None);
        let client = kube::Client::try_from(config).unwrap();
        (Candidate::new(client, "karpenter", "lease", "test".to_owned()), requests)
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_is_asked_again() {
        let (mut candidate, requests) = unanswered().await;
        let acquiring = tokio::spawn(async move { candidate.acquire().await });
        while requests.load(Ordering::Relaxed) < 3 {
            assert!(!acquiring.is_finished());
            sleep(Duration::from_secs(1)).await;
        }
        acquiring.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn giving_back_a_lease_ends_although_nobody_answers() {
        let (mut candidate, _) = unanswered().await;
        candidate.release().await;
        assert_eq!(candidate.term().left(), None);
    }
}
