//! Spot interruption notices, all at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Instant;

use kerf_testbed::{AwsStandIn, QuickStart, wait_until};
use serde_json::{Value, json};

use crate::cordons::Cordons;
use crate::handler::Handler;
use crate::queue::{self, Announced};
use crate::request_totals::request_totals;
use crate::stage::{AT_MOST, Stage};

/// Instances that are made in one call.
const LAUNCHED_TOGETHER: usize = 100;
const LOOKUP: &str = "ec2:DescribeInstances";
const DRAINED: &str = "Node successfully cordoned and drained ";
/// What the handler asks the API server for. The rest is the API server's own.
const RESOURCES: [&str; 3] = ["nodes", "pods", "events"];

/// One round for each of these numbers of notices, each with a handler and a queue of its own.
pub(crate) fn measure(program: &Path, counts: &[usize]) -> Value {
    let (stage, aws) = (Stage::new(), AwsStandIn::start().unwrap());
    let made = aws.quick_start("tidepool");
    let account = Account { aws: &aws, made: &made };
    let rounds = counts.iter().map(|count| round(&stage, &account, program, *count));
    json!({ "rounds": rounds.collect::<Vec<_>>() })
}

struct Account<'a> {
    aws: &'a AwsStandIn,
    made: &'a QuickStart,
}

fn round(stage: &Stage, account: &Account<'_>, program: &Path, count: usize) -> Value {
    let Account { aws, made } = account;
    let name = format!("nth-{count}");
    aws.sqs("CreateQueue", &json!({"QueueName": name}));
    let url = queue::url(aws, &name);
    let instances = launch(aws, count);
    stage.make_nodes(&instances, 1);
    let handler = Handler::of_queue(program, stage, aws, &url);
    let mut cordons = Cordons::watch(stage);
    // Those of the round before are still there.
    let all = cordons.count() + count;
    let body = |instance: &String| Announced::Spot.body(made, instance).to_string();
    let bodies: Vec<String> = instances.iter().map(body).collect();
    aws.forget_calls();
    let requests_before = request_totals(&stage.control_plane);

    let begun = Instant::now();
    let (sent, cordoned) = thread::scope(|scope| {
        let sending = scope.spawn(|| {
            queue::send(aws, &url, &bodies);
            Instant::now()
        });
        let cordoned = cordons.until(all);
        (sending.join().unwrap(), cordoned)
    });
    assert!(wait_until(AT_MOST, || handler.said(DRAINED) >= count), "not all are drained");
    let drained = Instant::now();
    assert!(wait_until(AT_MOST, || queue::depth(aws, &url) == 0), "the queue is never empty");
    let requests = requests_each(&requests_before, &request_totals(&stage.control_plane), count);
    let lookups = aws.calls().iter().filter(|call| call.permission() == LOOKUP).count();
    let report = json!({
        "events": count,
        "start_seconds": handler.start_seconds,
        "sending_seconds": sent.duration_since(begun).as_secs_f64(),
        "cordoned_seconds": cordoned.saturating_duration_since(sent).as_secs_f64(),
        "drained_seconds": drained.saturating_duration_since(sent).as_secs_f64(),
        "requests_per_event": requests.values().sum::<f64>(),
        "requests": requests,
        "lookups": lookups,
        "peak_memory_bytes": handler.peak_memory_bytes(),
        "processor_seconds": handler.processor_seconds(),
    });
    handler.end();
    eprintln!("{report}");
    report
}

/// New instances, by id.
fn launch(aws: &AwsStandIn, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    while ids.len() < count {
        let some = (count - ids.len()).min(LAUNCHED_TOGETHER);
        let answer = aws.ec2(&format!(
            "Action=RunInstances&Version=2016-11-15&ImageId=ami-12c6146b&MinCount={some}&MaxCount={some}"
        ));
        let parts = answer.split("<instanceId>").skip(1);
        ids.extend(parts.map(|part| part.split_once('<').unwrap().0.to_owned()));
    }
    assert_eq!(ids.len(), count, "each instance is told of once");
    ids
}

/// What was asked of the API server for each event, by verb and resource.
fn requests_each(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
    count: usize,
) -> BTreeMap<String, f64> {
    let is_of_handler = |name: &str| {
        let resource = name.split_once(' ').map_or("", |(_, resource)| resource);
        RESOURCES.contains(&resource.split('/').next().unwrap_or_default())
    };
    let each = after.iter().map(|(name, now)| {
        let since = now - before.get(name).copied().unwrap_or(0);
        (name.clone(), since as f64 / count as f64)
    });
    each.filter(|(name, each)| *each > 0.0 && is_of_handler(name)).collect()
}
