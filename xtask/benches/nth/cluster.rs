//! Queue mode in a large cluster in which nothing happens.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use kerf_testbed::AwsStandIn;
use serde_json::{Value, json};

use crate::handler::Handler;
use crate::queue;
use crate::stage::Stage;

/// It polls its queue once in this time, at least.
const WATCHED: Duration = Duration::from_secs(30);

pub(crate) fn measure(program: &Path, nodes: usize, pods: usize) -> Value {
    let (stage, aws) = (Stage::new(), AwsStandIn::start().unwrap());
    aws.sqs("CreateQueue", &json!({"QueueName": "nth-cluster"}));
    let url = queue::url(&aws, "nth-cluster");
    let instances: Vec<String> = (0..nodes).map(|number| format!("i-{number:017x}")).collect();
    stage.make_nodes(&instances, pods);
    let handler = Handler::of_queue(program, &stage, &aws, &url);
    sleep(WATCHED);
    let (resident, private) = handler.memory_bytes();
    let report = json!({
        "nodes": nodes,
        "pods": nodes * pods,
        "start_seconds": handler.start_seconds,
        "peak_memory_bytes": handler.peak_memory_bytes(),
        "resident_bytes": resident,
        "private_bytes": private,
    });
    handler.end();
    report
}
