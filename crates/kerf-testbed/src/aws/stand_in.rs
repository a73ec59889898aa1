//! An AWS stand-in on loopback: moto, with what it lacks filled in by `testbed/aws`.

use std::time::Duration;

use crate::error::Result;
use crate::programs::cache::Cache;
use crate::programs::go_module::GoModule;
use crate::programs::process::{Process, wait_while_alive};
use crate::programs::toolchain::{AwsPython, Keeper};
use crate::programs::work_dir::WorkDir;

/// Two seconds on an idle machine, most of them Python's imports.
const READY_AT_MOST: Duration = Duration::from_secs(60);

/// What the server says once it listens; the address follows.
const LISTENING: &str = "Running on ";

/// A running stand-in for EC2, SQS, IAM and the rest. Dropping it ends it.
#[derive(Debug)]
pub struct AwsStandIn {
    // Fields are dropped in this order: the process ends before its folder goes.
    process: Process,
    endpoint_url: String,
    _dir: WorkDir,
}

impl AwsStandIn {
    /// Starts the stand-in and waits until it listens. The first start on a machine installs it.
    pub fn start() -> Result<Self> {
        let (module, cache) = (GoModule::locate()?, Cache::open()?);
        let keeper = Keeper::ready(&module, &cache)?;
        let python = AwsPython::ready(&cache, &keeper)?;
        let dir = WorkDir::create("aws", &keeper)?;
        let mut command = keeper.supervise(python.program());
        // Port 0: the system chooses at the moment of listening, so nobody can come first.
        // No compiled files: they would land in the checkout.
        command.args(["-u", "-B"]).arg(module.aws_program()).args(["--port", "0"]);
        command.arg("--data").arg(module.catalogue_data());
        command.arg("--keep").arg(python.answers());
        let mut process = Process::start("aws", command, dir.path())?;
        let mut endpoint = None;
        wait_while_alive(&mut process, READY_AT_MOST, Process::check, |process| {
            endpoint = announced_url(&process.log_text());
            endpoint.is_some()
        })?;
        match endpoint {
            Some(endpoint_url) => Ok(Self { process, endpoint_url, _dir: dir }),
            None => Err(process.not_ready(READY_AT_MOST)),
        }
    }

    /// What to set `AWS_ENDPOINT_URL` to.
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// The environment that leads any AWS client here. The keys are not checked, only required.
    pub fn environment(&self) -> [(&'static str, &str); 5] {
        [
            ("AWS_ENDPOINT_URL", self.endpoint_url()),
            ("AWS_REGION", "us-east-1"),
            // The AWS CLI and everything else on boto reads this one.
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "testing"),
            ("AWS_SECRET_ACCESS_KEY", "testing"),
        ]
    }

    /// The ids of every process that belongs to the stand-in.
    pub fn pids(&self) -> Vec<u32> {
        self.process.pids()
    }

    /// Fails, with the end of its log, if the stand-in has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        self.process.check()
    }
}

/// Finds `http://HOST:PORT` in what the server wrote.
pub(crate) fn announced_url(log: &str) -> Option<String> {
    let rest = &log[log.find(LISTENING)? + LISTENING.len()..];
    // A line that is still being written may lack the end of the port.
    let (line, _) = rest.split_once('\n')?;
    line.split_whitespace().next().map(str::to_owned)
}
