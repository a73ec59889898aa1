//! The handler under measurement, with its defaults.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kerf_testbed::{AwsStandIn, ImdsStandIn, Program};

use crate::stage::{AT_MOST, Stage, node_name};

/// How often its log is looked at while it starts: short beside what is measured.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Where its log shall stay, for those who want to know more.
const LOG_VARIABLE: &str = "KERF_BENCH_LOG";

/// A running handler; ended when dropped.
pub(crate) struct Handler {
    program: Program,
    /// From its start until it looked for events.
    pub(crate) start_seconds: f64,
}

impl Handler {
    /// Starts a handler of a queue, and waits until it reads it.
    pub(crate) fn of_queue(program: &Path, stage: &Stage, aws: &AwsStandIn, url: &str) -> Self {
        let mut command = command(program, stage);
        command.envs(aws.environment());
        command.env("NODE_NAME", "elsewhere").env("QUEUE_URL", url);
        command.env("ENABLE_SQS_TERMINATION_DRAINING", "true");
        command.env("CHECK_TAG_BEFORE_DRAINING", "false");
        Self::start(command, "Started monitoring for events")
    }

    /// Starts a handler on the node of an instance, and waits until it has all its monitors.
    pub(crate) fn on_node(
        program: &Path,
        stage: &Stage,
        imds: &ImdsStandIn,
        instance: &str,
    ) -> Self {
        let mut command = command(program, stage);
        command.env("NODE_NAME", node_name(instance)).env("INSTANCE_METADATA_URL", imds.url());
        Self::start(command, "event_type=SCHEDULED_EVENT_MONITOR")
    }

    fn start(command: Command, last_words: &str) -> Self {
        let begun = Instant::now();
        let program = Program::start(command, &[]).unwrap();
        while !program.written().contains(last_words) {
            assert!(begun.elapsed() < AT_MOST, "it never said {last_words}: {}", program.written());
            sleep(LOOK_EVERY);
        }
        Self { program, start_seconds: begun.elapsed().as_secs_f64() }
    }

    /// How often its log says that.
    pub(crate) fn said(&self, words: &str) -> usize {
        self.program.written().matches(words).count()
    }

    /// The most memory it held at once.
    pub(crate) fn peak_memory_bytes(&self) -> u64 {
        self.program.peak_memory_bytes().unwrap()
    }

    /// The memory it holds now, and what of it is its own: the rest are pages of the program's file,
    /// which the system drops when it needs room.
    pub(crate) fn memory_bytes(&self) -> (u64, u64) {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.program.id())).unwrap();
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
        };
        (bytes("VmRSS:"), bytes("RssAnon:"))
    }

    /// How long processors worked for it.
    pub(crate) fn processor_seconds(&self) -> f64 {
        self.program.processor_seconds().unwrap()
    }

    /// Asks it to end, and waits.
    pub(crate) fn end(self) {
        let (is_well, log) = self.program.end().unwrap();
        if let Some(file) = std::env::var_os(LOG_VARIABLE) {
            std::fs::write(file, &log).unwrap();
        }
        assert!(is_well, "it did not end well: {log}");
    }
}

fn command(program: &Path, stage: &Stage) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.arg("nth").env("KUBECONFIG", stage.kubeconfig());
    command
}
