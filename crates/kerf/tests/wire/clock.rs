//! A host whose clock is ahead of the API server's, seen from the process: the server's is behind.

use std::time::{Duration, Instant};

use kerf_testbed::{ApiFault, ApiRule, Calls};
use kube::ResourceExt;
use serde_json::json;

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::objects::{alone, lasting_pool};

const LONG_AGO: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
const EXPIRE_AFTER: Duration = Duration::from_secs(20);

#[test]
fn nothing_expires_by_a_clock_that_is_ahead_of_the_servers() {
    let mut pool = lasting_pool("brief");
    pool["spec"]["template"]["spec"]["expireAfter"] = json!(format!("{}s", EXPIRE_AFTER.as_secs()));
    let cluster = Cluster::with(&[pool, alone("brief", 1)]);
    let proxy = cluster.proxy();
    proxy.set_rules(vec![ApiRule::each(Calls::All, ApiFault::Dated(LONG_AGO))]);
    let controller = Controller::start(proxy.kubeconfig());
    cluster.wait("the pod runs", || cluster.ready("brief") == 1);
    let first = cluster.claims("brief")[0].name_any();
    let old_at = Instant::now() + EXPIRE_AFTER * 2;
    cluster.wait("its node is old enough to expire", || Instant::now() > old_at);
    assert!(controller.says("ahead of the API server's"));
    let claims = cluster.claims("brief");
    let is_first = claims.len() == 1 && claims[0].name_any() == first;
    assert!(is_first && claims[0].metadata.deletion_timestamp.is_none(), "{claims:?}");
    proxy.set_rules(vec![]);
    cluster.wait("it expires by a clock that is right", || {
        cluster.claims("brief").iter().all(|claim| claim.name_any() != first)
    });
}
