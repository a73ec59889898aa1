//! What every measurement stands on: a control plane, an AWS account, and the program in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kerf_testbed::{AwsStandIn, ControlPlane, Options, Part, QuickStart, User, wait_until};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::objects;
use crate::process::{Controller, Product};
use crate::seen::Seen;

/// Nothing takes so long unless something is broken.
pub(crate) const AT_MOST: Duration = Duration::from_secs(3600);

const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const CLUSTER: &str = "tidepool";

/// A cluster in an account. Fields end in this order.
pub(crate) struct Stage {
    pub(crate) product: Product,
    pub(crate) runtime: Runtime,
    pub(crate) made: QuickStart,
    pub(crate) aws: AwsStandIn,
    pub(crate) control_plane: ControlPlane,
}

impl Stage {
    /// A whole cluster.
    pub(crate) fn new(product: Product) -> Self {
        Self::with(product, Options::simulated_cluster())
    }

    /// A cluster of these parts.
    pub(crate) fn with(product: Product, mut options: Options) -> Self {
        // Their defaults of 20 and 50 calls a second would be what is measured.
        for flag in ["--kube-api-qps=2000", "--kube-api-burst=2000"] {
            options = options.flag(Part::ControllerManager, flag).flag(Part::Scheduler, flag);
        }
        let user = User::new(ACCOUNT).in_group("system:serviceaccounts");
        let control_plane = ControlPlane::start(options.user(user)).unwrap();
        let files = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-aws.yaml"];
        control_plane.apply_files(&files).unwrap();
        let aws = AwsStandIn::start().unwrap();
        let made = aws.quick_start(CLUSTER);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { product, runtime, made, aws, control_plane }
    }

    /// Starts the program with its defaults and these variables beside.
    pub(crate) fn start(&self, program: &Path, variables: &[(&str, &str)]) -> Controller {
        let kubeconfig = match self.product {
            Product::Kerf => self.control_plane.kubeconfig_of(ACCOUNT).unwrap(),
            // Its rights come with its chart; here it may do everything.
            Product::Karpenter => self.control_plane.kubeconfig(),
        };
        Controller::start(program, kubeconfig, self, variables)
    }

    /// Makes a node class and a pool, waits until both are ready, and counts calls from then on.
    pub(crate) fn make_pool(&self, controller: &Controller) {
        self.control_plane.apply(&objects::class_and_pool(CLUSTER)).unwrap();
        let is_ready = || {
            let condition = "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}";
            let pools = self.control_plane.kubectl(&["get", "nodepools", "--output", condition]);
            pools.is_ok_and(|said| said.trim() == "True")
        };
        assert!(wait_until(AT_MOST, is_ready), "the pool is not ready: {}", controller.log());
        self.aws.forget_calls();
    }

    /// Starts watching.
    pub(crate) fn watch(&self) -> Seen {
        self.runtime.block_on(async {
            let client = self.control_plane.client().await.unwrap();
            Seen::watch(&client).await
        })
    }

    /// How long until a pod runs on each of so many nodes.
    pub(crate) fn launch(&self, seen: &Seen, nodes: usize) -> Value {
        let begun = Instant::now();
        self.control_plane.apply(&objects::deployment(nodes)).unwrap();
        let joined = seen.until(&self.runtime, AT_MOST, |it| it.nodes.len() >= nodes);
        let joined = joined.duration_since(begun).as_secs_f64();
        let running = seen.until(&self.runtime, AT_MOST, |it| it.running.len() >= nodes);
        let running = running.duration_since(begun).as_secs_f64();
        json!({ "last node joined": joined, "all pods running": running })
    }

    /// The calls that the services saw since they were last forgotten, by permission; those of the
    /// queue, which is asked here too, only where that is said.
    pub(crate) fn calls(&self, with_queue: bool) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        let calls = self.aws.calls();
        for call in calls.iter().filter(|call| with_queue || call.service != "sqs") {
            *counted.entry(call.permission()).or_insert(0) += 1;
        }
        counted
    }
}

/// So many calls for each of so many.
pub(crate) fn calls_each(calls: &BTreeMap<String, usize>, count: usize) -> f64 {
    calls.values().sum::<usize>() as f64 / count as f64
}
