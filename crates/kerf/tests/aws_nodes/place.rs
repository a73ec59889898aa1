//! The cluster with a controller in it, for one test.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use kerf_aws::AwsAction;
use kerf_testbed::{FaultProxy, Program};
use serde_json::{Value, json};

use crate::home::{ACCOUNT, CLUSTER, Home};
use crate::journal::Journal;

/// Some ten seconds when nothing else runs.
const SOON: Duration = Duration::from_secs(240);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const PROBES: &str = "--health-probe-port";
const METRICS: &str = "--metrics-port";

/// A control plane with three programs is enough for one machine at a time, and one for all tests.
/// A test that fails leaves it to nobody.
static HOME: Mutex<Option<Home>> = Mutex::new(None);

/// The calls of the queue. A batch needs no permission of its own.
const QUEUE_CALLS: [&str; 3] = ["sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:DeleteMessageBatch"];

/// The cluster, for as long as a test uses it.
pub(crate) struct Place {
    controller: Option<Program>,
    journal: Option<Journal>,
    /// Stands before AWS, if there is one.
    pub(crate) faults: Option<FaultProxy>,
    /// How the controller reaches the API server, if not straight.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Variables for the controller beside its own.
    pub(crate) variables: Vec<(&'static str, String)>,
    home: MutexGuard<'static, Option<Home>>,
}

impl Deref for Place {
    type Target = Home;

    fn deref(&self) -> &Home {
        self.home.as_ref().expect("it was built when the test came in")
    }
}

impl Place {
    /// The cluster as it was first, with a controller.
    pub(crate) fn open() -> Self {
        let mut place = Self::enter();
        place.start();
        place
    }

    /// The cluster without a controller.
    pub(crate) fn enter() -> Self {
        let mut home = HOME.lock().unwrap_or_else(|failed| {
            HOME.clear_poison();
            let mut home = failed.into_inner();
            *home = None;
            home
        });
        home.get_or_insert_with(Home::build).reset();
        let (faults, kubeconfig, variables) = (None, None, Vec::new());
        Self { controller: None, journal: None, faults, kubeconfig, variables, home }
    }

    /// Has the controller reach AWS through a proxy that can break calls.
    pub(crate) fn with_faults(mut self) -> Self {
        self.faults = Some(FaultProxy::start(self.aws.endpoint_url()).unwrap());
        self
    }

    /// `kerf controller` as the tests start it, ports aside.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.envs(self.aws.environment());
        if let Some(faults) = &self.faults {
            command.env("AWS_ENDPOINT_URL", faults.endpoint_url());
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let straight = self.control_plane.kubeconfig_of(ACCOUNT).unwrap();
        command.env("KUBECONFIG", self.kubeconfig.as_deref().unwrap_or(straight));
        // No --cloud: who comes from Karpenter has no such flag.
        command.args(["controller", "--leader-election-namespace=karpenter"]);
        command.args(["--cluster-name", CLUSTER, "--interruption-queue", CLUSTER]);
        command.arg("--batch-idle-duration=300ms");
        command
    }

    /// Starts a controller whose journal is replayed at its end.
    pub(crate) fn start(&mut self) {
        let mut command = self.command();
        self.journal = Some(Journal::of(&mut command));
        self.controller = Some(Program::start(command, &[PROBES, METRICS]).unwrap());
    }

    /// Starts one that will be killed: it keeps no journal.
    pub(crate) fn start_to_kill(&mut self) {
        self.controller = Some(Program::start(self.command(), &[PROBES, METRICS]).unwrap());
    }

    /// Kills the controller with -9. Its Lease is free at once, so that nobody waits for its end.
    pub(crate) fn kill(&mut self) {
        self.controller = None;
        let lease = ["delete", "lease", "karpenter-leader-election", "--namespace=karpenter"];
        let _ = self.control_plane.kubectl(&lease);
    }

    /// Waits for something; fails with what a person would look at.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        if !self.waits(SOON, condition) {
            self.fail(what);
        }
    }

    /// Whether something happens within a time.
    pub(crate) fn waits(&self, at_most: Duration, condition: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + at_most;
        loop {
            if condition() {
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn fail(&self, what: &str) -> ! {
        let kinds = "pods,nodes,nodeclaims,nodepools,provisioners,ec2nodeclasses,events";
        let seen = self.control_plane.kubectl(&["get", kinds, "-A", "--output=wide"]);
        let kinds = "ec2nodeclasses,nodeclaims,provisioners";
        let objects = self.control_plane.kubectl(&["get", kinds, "--output=yaml"]);
        let log = self.log();
        let log: Vec<&str> = log.lines().rev().take(60).collect();
        panic!(
            "not within {SOON:?}: {what}\n{}\n{}\n{} joined\n{}",
            seen.unwrap_or_default(),
            objects.unwrap_or_default(),
            self.kubelets.joined(),
            log.into_iter().rev().collect::<Vec<_>>().join("\n"),
        )
    }

    pub(crate) fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.control_plane.apply(&list.to_string()).unwrap();
    }

    /// How many pods run on nodes that are there.
    pub(crate) fn running(&self) -> usize {
        let running = |pod: &&Value| pod["status"]["phase"] == "Running";
        self.all("pods").iter().filter(running).count()
    }

    /// The values of a label on all nodes.
    pub(crate) fn node_labels(&self, key: &str) -> BTreeSet<String> {
        let label = |node: &Value| node["metadata"]["labels"][key].as_str().map(str::to_owned);
        self.all("nodes").iter().filter_map(label).collect()
    }

    /// Announces that spot instances are taken back.
    pub(crate) fn announce(&self, instances: &BTreeSet<String>) {
        let announced = json!({"kind": "spot", "instance_ids": instances});
        self.aws.control("POST announce", &announced);
    }

    /// A page of the controller's metrics.
    pub(crate) fn metrics(&self) -> String {
        let program = self.controller.as_ref().unwrap();
        program.get(METRICS, "/metrics").unwrap_or_default()
    }

    /// What the controller has logged.
    pub(crate) fn log(&self) -> String {
        self.controller.as_ref().map(Program::written).unwrap_or_default()
    }

    /// Deletes everything that tests make, and waits until nothing is left of it.
    pub(crate) fn clear(&self) {
        let kinds = "deployments,pods,provisioners,nodepools,nodeclaims,awsnodetemplates,\
            ec2nodeclasses";
        self.control_plane.kubectl(&["delete", kinds, "--all", "--wait=false"]).unwrap();
        let kinds = ["pods", "nodeclaims", "nodes", "nodepools", "ec2nodeclasses"];
        let is_gone = |kind: &str| self.all(kind).is_empty();
        self.wait("everything goes", || {
            self.instances().is_empty() && kinds.iter().all(|kind| is_gone(kind))
        });
    }

    /// Clears up, ends the controller, and checks that it only ever made calls it may make.
    pub(crate) fn close(mut self) {
        self.clear();
        let (is_well, log) = self.controller.take().unwrap().end().unwrap();
        assert!(is_well, "{log}");
        let known = AwsAction::ALL.iter().map(|action| action.permission());
        let known: BTreeSet<&str> = known.chain(QUEUE_CALLS).collect();
        let calls = self.called();
        let strange: Vec<&String> =
            calls.iter().filter(|call| !known.contains(call.as_str())).collect();
        assert_eq!(strange, [""; 0], "calls that no policy allows");
        let refused: Vec<String> = self
            .audit()
            .into_iter()
            .filter(|(_, allowed)| !allowed)
            .map(|(call, _)| call)
            .collect();
        assert_eq!(refused, [""; 0], "calls that no role file allows");
    }

    /// The permissions that were used of AWS since the test began.
    pub(crate) fn called(&self) -> BTreeSet<String> {
        self.aws.calls().iter().map(kerf_testbed::AwsCall::permission).collect()
    }
}
