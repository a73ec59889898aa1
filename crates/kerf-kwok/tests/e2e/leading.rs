//! One leads at a time, and hands over at once when it ends in peace.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kerf_runtime::Candidate;
use kerf_runtime::lease::LEASE_DURATION;
use kube::api::Api;
use tokio::time::{Instant, timeout};

use crate::cluster::Cluster;

#[test]
fn the_lease_passes_at_once_from_a_leader_that_ends_and_only_late_from_one_that_is_silent() {
    let cluster = Cluster::of("leading");
    let client = cluster.client();
    let candidate =
        |name: &str| Candidate::new(client.clone(), cluster.name, "hand-over", name.to_owned());
    cluster.block_on(async {
        let (mut first, mut second) = (candidate("first"), candidate("second"));
        first.acquire().await;
        let waits = timeout(Duration::from_secs(3), second.acquire()).await;
        assert!(waits.is_err(), "the second must wait while the first holds");

        first.release().await;
        let since = Instant::now();
        second.acquire().await;
        assert!(since.elapsed() < LEASE_DURATION / 2, "it took {:?}", since.elapsed());
        let lease = Api::<Lease>::namespaced(client.clone(), cluster.name);
        let spec = lease.get("hand-over").await.unwrap().spec.unwrap();
        assert_eq!(spec.holder_identity.as_deref(), Some("second"));
        assert_eq!(spec.lease_duration_seconds, Some(15));

        // The second falls silent without giving the lease back.
        let since = Instant::now();
        first.acquire().await;
        assert!(since.elapsed() >= LEASE_DURATION - Duration::from_secs(3));
        let spec = lease.get("hand-over").await.unwrap().spec.unwrap();
        assert_eq!(spec.holder_identity.as_deref(), Some("first"));
        assert_eq!(spec.lease_transitions, Some(2));
    });
}
