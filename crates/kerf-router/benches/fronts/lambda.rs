//! The function's program: how soon it is ready, how much memory it takes.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::account::Account;
use crate::process::{main_thread_used, peak_bytes};
use crate::runtime_api::{Call, RuntimeApi};

/// Starts of which the median counts.
const STARTS: usize = 21;

/// Invocations of so many events for the memory.
const INVOCATIONS: usize = 5;
const BATCH: usize = 200;

/// No step takes so long unless it never ends.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that is ended with its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn measure(program: &Path) -> Value {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut account = runtime.block_on(Account::new());
    let (mut walls, mut cores, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let api = RuntimeApi::start();
        let started = Instant::now();
        let running = start(program, &account, &api);
        ready(&api);
        walls.push(started.elapsed().as_micros());
        cores.push(main_thread_used(running.0.id()).as_micros());
        peaks.push(peak_bytes(running.0.id()));
    }
    let api = RuntimeApi::start();
    let running = start(program, &account, &api);
    ready(&api);
    for _ in 0..INVOCATIONS {
        api.invoke(payload(&account.notices(BATCH)));
        match api.calls.recv_timeout(PATIENCE) {
            // Under load a stand-in is slow and some messages fail, which costs memory as well.
            Ok(Call::Answer(answer)) => assert!(answer.contains("batchItemFailures"), "{answer}"),
            _ => panic!("the function did not answer"),
        }
        ready(&api);
    }
    let delivered = runtime.block_on(account.delivered());
    json!({
        "start_micros": median(walls), "start_on_core_micros": median(cores),
        "start_peak_bytes": median(peaks), "events": delivered, "batch": BATCH,
        "peak_bytes": peak_bytes(running.0.id()),
    })
}

fn start(program: &Path, account: &Account, api: &RuntimeApi) -> Running {
    let mut command = Command::new(program);
    command.env_clear().envs(account.aws.environment());
    command.env("AWS_LAMBDA_RUNTIME_API", api.address.to_string());
    command.env("AWS_LAMBDA_FUNCTION_NAME", "router");
    command.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
    command.env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
    command.env("LOG_LEVEL", "error");
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    Running(command.spawn().unwrap())
}

fn ready(api: &RuntimeApi) {
    match api.calls.recv_timeout(PATIENCE) {
        Ok(Call::Next) => {}
        Ok(Call::Answer(answer)) => panic!("the function complains: {answer}"),
        Err(_) => panic!("the function does not ask for work"),
    }
}

fn payload(bodies: &[String]) -> String {
    let record = |(index, body): (usize, &String)| {
        json!({"messageId": format!("m{index}"), "receiptHandle": "r".repeat(180), "body": body,
        "attributes": {"ApproximateReceiveCount": "1"}, "messageAttributes": {},
        "eventSource": "aws:sqs", "awsRegion": "us-east-1"})
    };
    let records: Vec<_> = bodies.iter().enumerate().map(record).collect();
    json!({ "Records": records }).to_string()
}

fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[values.len() / 2]
}
