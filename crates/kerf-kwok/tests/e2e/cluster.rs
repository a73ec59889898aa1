//! A cluster as one test sees it: its own namespace, pool and class on the shared control plane.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, Node, Pod};
use kerf_api::node_claim::NodeClaim;
use kerf_api::node_pool::NodePool;
use kerf_testbed::{ControlPlane, Options, Shared, User};
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use serde_json::Value;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

use crate::controller::{ACCOUNT, Running};

/// Most things take a few seconds; the instance may be compiling at the same time.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// Each look is a list call; more often would slow down what is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

static CONTROL_PLANE: Shared = Shared::new(|| {
    let account = User::new(ACCOUNT)
        .in_group("system:serviceaccounts")
        .in_group("system:serviceaccounts:karpenter");
    Options::simulated_cluster().user(account)
});
static PREPARED: OnceLock<()> = OnceLock::new();

/// One test's part of the cluster.
pub(crate) struct Cluster {
    /// The test's name: of its namespace, its pool, and the label its nodes carry.
    pub(crate) name: &'static str,
    control_plane: &'static ControlPlane,
    pub(crate) controller: &'static Running,
    runtime: Runtime,
    client: Client,
}

impl Cluster {
    /// The cluster of the test of that name, with the controller running.
    pub(crate) fn of(name: &'static str) -> Self {
        let control_plane = CONTROL_PLANE.get();
        PREPARED.get_or_init(|| prepare(control_plane));
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(control_plane.client()).unwrap();
        let controller = Running::get(control_plane);
        let this = Self { name, control_plane, controller, runtime, client };
        this.kubectl(&["create", "namespace", name]);
        this
    }

    /// Runs kubectl in the test's namespace.
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let namespace = format!("--namespace={}", self.name);
        let arguments: Vec<&str> = arguments.iter().copied().chain([&*namespace]).collect();
        self.control_plane.kubectl(&arguments).unwrap()
    }

    /// A client with every right.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Waits for something asynchronous.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Applies objects.
    pub(crate) fn apply(&self, objects: &[Value]) {
        let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        self.control_plane.apply(&list.to_string()).unwrap();
    }

    /// Waits for something, looking again and again; fails with the state of things.
    pub(crate) fn wait(&self, what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + SOON;
        while !condition() {
            if Instant::now() > deadline {
                panic!("not within {SOON:?}: {what}\n{}", self.state());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Makes sure something stays so for a while.
    pub(crate) fn stays(&self, what: &str, span: Duration, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + span;
        while Instant::now() < deadline {
            assert!(condition(), "ended before {span:?}: {what}\n{}", self.state());
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// The test's pods.
    pub(crate) fn pods(&self) -> Vec<Pod> {
        let api = Api::<Pod>::namespaced(self.client.clone(), self.name);
        self.runtime.block_on(api.list(&ListParams::default())).unwrap().items
    }

    /// The test's nodes.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let of_pool = ListParams::default().labels(&format!("karpenter.sh/nodepool={}", self.name));
        let api = Api::<Node>::all(self.client.clone());
        self.runtime.block_on(api.list(&of_pool)).unwrap().items
    }

    /// The test's claims.
    pub(crate) fn claims(&self) -> Vec<NodeClaim> {
        let of_pool = ListParams::default().labels(&format!("karpenter.sh/nodepool={}", self.name));
        let api = Api::<NodeClaim>::all(self.client.clone());
        self.runtime.block_on(api.list(&of_pool)).unwrap().items
    }

    /// The test's pool.
    pub(crate) fn pool(&self) -> NodePool {
        let api = Api::<NodePool>::all(self.client.clone());
        self.runtime.block_on(api.get(self.name)).unwrap()
    }

    /// Events with that reason about that object.
    pub(crate) fn events(&self, namespace: &str, object: &str, reason: &str) -> Vec<Event> {
        let fields = format!("involvedObject.name={object},reason={reason}");
        let api = Api::<Event>::namespaced(self.client.clone(), namespace);
        self.runtime.block_on(api.list(&ListParams::default().fields(&fields))).unwrap().items
    }

    /// How many pods are ready.
    pub(crate) fn ready_pods(&self) -> usize {
        self.pods().iter().filter(|pod| condition(pod, "Ready") == Some("True")).count()
    }

    /// Everything a person would look at.
    fn state(&self) -> String {
        let kinds = "pods,nodes,nodeclaims,nodepools,events";
        let seen = self.control_plane.kubectl(&[
            "get",
            kinds,
            "--output=wide",
            &format!("--namespace={}", self.name),
        ]);
        let ready = self.controller.health.readiness();
        format!("{}\ncontroller: {ready:?}", seen.unwrap_or_else(|error| error.to_string()))
    }
}

impl Drop for Cluster {
    /// A pool that is gone serves nobody and costs the other tests nothing.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.controller.journal.keep();
        } else {
            let _ = self.control_plane.kubectl(&[
                "delete",
                "nodepool",
                self.name,
                "--ignore-not-found",
                "--wait=false",
            ]);
            let _ = self.control_plane.kubectl(&["delete", "namespace", self.name, "--wait=false"]);
            self.controller.journal.assert_replays();
        }
    }
}

/// The status of a pod's condition.
pub(crate) fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a str> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|it| it.type_ == kind).map(|it| it.status.as_str())
}

/// The names of objects.
pub(crate) fn names<K: ResourceExt>(objects: &[K]) -> Vec<String> {
    objects.iter().map(ResourceExt::name_any).collect()
}

fn prepare(control_plane: &ControlPlane) {
    let files = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-kwok.yaml"];
    control_plane.apply_files(&files).unwrap();
    let class = r#"{"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": {"name": "default"}, "spec": {}}"#;
    control_plane.apply(class).unwrap();
}
