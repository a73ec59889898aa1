//! Mixed notices about as many claims: how fast they are worked off, how soon each node is closed, and
//! what that costs the API server.
//!
//! The queue has a stand-in of its own, as SQS is not EC2. The claims are copies of one that was
//! launched, and EC2 does not know their instances: to the controller they are gone when it asks.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kerf_testbed::{AwsStandIn, Kubelets, Options, Part, wait_until};
use serde_json::{Value, json};

use crate::copies;
use crate::objects;
use crate::process::Product;
use crate::queue::{self, Announced};
use crate::request_totals::request_totals;
use crate::stage::{AT_MOST, Stage};

/// For so long an instance that EC2 does not know may be too young to be known.
const CONSISTENT_AFTER: Duration = Duration::from_secs(125);
/// The default rate of calls to the API server would be what is measured.
const FAST: [(&str, &str); 2] = [("KUBE_CLIENT_QPS", "2000"), ("KUBE_CLIENT_BURST", "2000")];

pub(crate) fn measure(product: Product, program: &Path, count: usize) -> Value {
    // Nobody but the controller writes: nothing else marks, taints or collects.
    let parts = Options::api_server().with(Part::Scheduler).with(Part::Kwok);
    let stage = Stage::with(product, parts);
    let queue_aws = AwsStandIn::start().unwrap();
    let made = queue_aws.quick_start(&stage.made.cluster);
    let url = queue::url(&queue_aws, &made.queue);
    let variables = [FAST[0], FAST[1], ("AWS_ENDPOINT_URL_SQS", queue_aws.endpoint_url())];
    let instances = copied(&stage, program, &variables, count);
    let controller = stage.start(program, &variables);
    let seen = stage.watch();
    seen.until(&stage.runtime, AT_MOST, |it| it.nodes.len() > count);
    thread::sleep(CONSISTENT_AFTER);
    let before = request_totals(&stage.control_plane);
    let bodies: Vec<String> = (instances.iter().zip(Announced::ALL.iter().cycle()))
        .map(|(instance, kind)| kind.body(&made, instance).to_string())
        .collect();
    let begun = Instant::now();
    let (sent, closed) = thread::scope(|scope| {
        let sending = scope.spawn(|| queue::send(&queue_aws, &url, &bodies));
        let closed = seen.until(&stage.runtime, AT_MOST, |it| it.closed.len() >= count);
        (sending.join().unwrap(), closed)
    });
    let deleting = seen.until(&stage.runtime, AT_MOST, |it| it.deleting.len() >= count);
    assert!(wait_until(AT_MOST, || queue::depth(&queue_aws, &url) == 0), "it is never empty");
    let over = Instant::now();
    let after = request_totals(&stage.control_plane);
    let sent: BTreeMap<&str, Instant> = instances.iter().map(String::as_str).zip(sent).collect();
    let seconds = |moment: Instant| moment.saturating_duration_since(begun).as_secs_f64();
    json!({
        "notices": count,
        "seconds": {
            "last notice sent": sent.values().copied().map(seconds).fold(0.0, f64::max),
            "last node closed": seconds(closed),
            "last claim deleting": seconds(deleting),
            "queue empty": seconds(over),
        },
        "notices_per_second": count as f64 / seconds(over),
        "until_closed": spread(seen.closed_after(&sent)),
        "requests_per_notice": each(&before, &after, count),
        "peak_memory_bytes": controller.peak_memory_bytes(),
        "processor_seconds": controller.processor_seconds(),
    })
}

/// Has one node launched, and copies it while nobody looks.
fn copied(stage: &Stage, program: &Path, variables: &[(&str, &str)], count: usize) -> Vec<String> {
    let _kubelets =
        Kubelets::start(&stage.control_plane, &stage.aws, Duration::from_secs(1)).unwrap();
    let controller = stage.start(program, variables);
    stage.make_pool(&controller);
    stage.control_plane.apply(&objects::pod()).unwrap();
    let path = "jsonpath={.items[*].metadata.annotations.karpenter\\.k8s\\.aws/tagged}";
    let is_tagged = || {
        let said = stage.control_plane.kubectl(&["get", "nodeclaims", "--output", path]);
        said.is_ok_and(|said| said.trim() == "true")
    };
    assert!(wait_until(AT_MOST, is_tagged), "no node: {}", controller.log());
    drop(controller);
    stage.runtime.block_on(async {
        let client = stage.control_plane.client().await.unwrap();
        copies::copy(&client, count).await
    })
}

/// The middle and the end of a spread of times, in seconds.
fn spread(mut times: Vec<f64>) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    json!({"p50": at(50), "p99": at(99), "last": at(100)})
}

/// What was asked of the API server for each notice, all told and by verb and resource.
fn each(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>, count: usize) -> Value {
    let since = |name: &String, now: u64| now - before.get(name).copied().unwrap_or(0);
    let each = |requests: u64| requests as f64 / count as f64;
    let all: u64 = after.iter().map(|(name, now)| since(name, *now)).sum();
    let by_name = after.iter().map(|(name, now)| (name.clone(), each(since(name, *now))));
    let by_name: BTreeMap<String, f64> = by_name.filter(|(_, it)| *it >= 0.01).collect();
    json!({"all": each(all), "by_name": by_name})
}
