//! A cluster of its own for each test, looked at without a proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kerf_api::node_claim::NodeClaim;
use kerf_testbed::{ApiProxy, ControlPlane, Options, Part, User};
use kube::api::{Api, DeleteParams, ListParams};
use kube::{Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::ledger::Ledger;
use crate::objects::class;

/// The user that `deploy/rbac.yaml` speaks of.
const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
const NAMESPACE: &str = "karpenter";
const LEASE: &str = "karpenter-leader-election";
/// Most things take a few seconds; the machine may be compiling at the same time, and a Lease that
/// nobody gave back takes fifteen seconds to run out.
pub(crate) const SOON: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(200);
const POOL: &str = "karpenter.sh/nodepool";

pub(crate) struct Cluster {
    pub(crate) control_plane: ControlPlane,
    pub(crate) ledger: Ledger,
    runtime: Runtime,
    client: Client,
}

impl Cluster {
    /// A cluster with definitions, the controller's rights and these objects.
    pub(crate) fn with(objects: &[Value]) -> Self {
        let user = User::new(ACCOUNT)
            .in_group("system:serviceaccounts")
            .in_group("system:serviceaccounts:karpenter");
        let mut options = Options::simulated_cluster().user(user);
        for flag in ["--kube-api-qps=2000", "--kube-api-burst=2000"] {
            options = options.flag(Part::ControllerManager, flag).flag(Part::Scheduler, flag);
        }
        let control_plane = ControlPlane::start(options).unwrap();
        let files = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-kwok.yaml"];
        control_plane.apply_files(&files).unwrap();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(control_plane.client()).unwrap();
        let ledger = Ledger::start(&runtime, &client);
        let this = Self { control_plane, ledger, runtime, client };
        this.apply(&[class()]);
        this.apply(objects);
        this
    }

    /// A proxy in front of the API server, with the rights of the controller.
    pub(crate) fn proxy(&self) -> ApiProxy {
        ApiProxy::start(&self.control_plane, Some(ACCOUNT)).unwrap()
    }

    pub(crate) fn apply(&self, objects: &[Value]) {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        self.control_plane.apply(&list.to_string()).unwrap();
    }

    pub(crate) fn scale(&self, deployment: &str, replicas: u32) {
        let replicas = format!("--replicas={replicas}");
        self.control_plane.kubectl(&["scale", "deployment", deployment, &replicas]).unwrap();
    }

    /// Asks for the deletion of a claim.
    pub(crate) fn delete_claim(&self, name: &str) {
        let api = Api::<NodeClaim>::all(self.client.clone());
        // It may be gone already.
        let _ = self.runtime.block_on(api.delete(name, &DeleteParams::default()));
    }

    pub(crate) fn pods(&self, app: &str) -> Vec<Pod> {
        let api = Api::<Pod>::namespaced(self.client.clone(), "default");
        let of_app = ListParams::default().labels(&format!("app={app}"));
        self.list(&api, &of_app)
    }

    pub(crate) fn claims(&self, pool: &str) -> Vec<NodeClaim> {
        let api = Api::<NodeClaim>::all(self.client.clone());
        let of_pool = ListParams::default().labels(&format!("{POOL}={pool}"));
        self.list(&api, &of_pool)
    }

    pub(crate) fn nodes(&self, pool: &str) -> Vec<Node> {
        let api = Api::<Node>::all(self.client.clone());
        let of_pool = ListParams::default().labels(&format!("{POOL}={pool}"));
        self.list(&api, &of_pool)
    }

    /// What there is. A server under load may close a connection that was about to be used again.
    fn list<K>(&self, api: &Api<K>, which: &ListParams) -> Vec<K>
    where
        K: Clone + DeserializeOwned + Debug,
    {
        let list = || self.runtime.block_on(api.list(which));
        list().or_else(|_| list()).unwrap().items
    }

    /// How many pods of a Deployment are ready.
    pub(crate) fn ready(&self, app: &str) -> usize {
        self.pods(app).iter().filter(|pod| is_ready(pod)).count()
    }

    /// Who holds the Lease; nobody if it was given back or is not there.
    pub(crate) fn holder(&self) -> String {
        let api = Api::<Lease>::namespaced(self.client.clone(), NAMESPACE);
        let lease = self.runtime.block_on(api.get_opt(LEASE)).unwrap();
        lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default()
    }

    /// Takes the Lease from a holder that is known to be dead, to spare the time until it runs out.
    pub(crate) fn drop_lease(&self) {
        let api = Api::<Lease>::namespaced(self.client.clone(), NAMESPACE);
        let _ = self.runtime.block_on(api.delete(LEASE, &DeleteParams::default()));
    }

    /// What keeps a pool from being at rest with so many pods ready: each claim has one node and
    /// each node one claim, nothing is going.
    pub(crate) fn unrest(&self, pool: &str, replicas: usize) -> Option<String> {
        let ready = self.ready(pool);
        if ready != replicas || self.pods(pool).len() != replicas {
            return Some(format!("{ready} of {replicas} pods of {pool} are ready"));
        }
        let (claims, nodes) = (self.claims(pool), self.nodes(pool));
        let going = claims.iter().filter(|it| it.meta().deletion_timestamp.is_some()).count()
            + nodes.iter().filter(|it| it.meta().deletion_timestamp.is_some()).count();
        if going > 0 {
            return Some(format!("{going} claims and nodes of {pool} are going"));
        }
        let of_claims: BTreeMap<String, String> = claims
            .iter()
            .map(|claim| {
                let id = claim.status.as_ref().and_then(|status| status.provider_id.clone());
                (id.unwrap_or_default(), claim.name_any())
            })
            .collect();
        let of_nodes: BTreeSet<String> = nodes
            .iter()
            .map(|node| node.spec.as_ref().and_then(|spec| spec.provider_id.clone()))
            .map(Option::unwrap_or_default)
            .collect();
        let claimed: BTreeSet<String> = of_claims.keys().cloned().collect();
        let is_whole =
            claimed == of_nodes && (claims.len(), nodes.len()) == (of_claims.len(), of_nodes.len());
        (!is_whole).then(|| format!("{pool}: claims {of_claims:?}, nodes {of_nodes:?}"))
    }

    /// Waits for something, looking again and again; fails with the state of things.
    pub(crate) fn wait(&self, what: &str, mut condition: impl FnMut() -> bool) {
        self.wait_for(SOON, what, || if condition() { None } else { Some(String::new()) });
    }

    /// Waits until nothing is in the way any more.
    pub(crate) fn wait_for(
        &self,
        at_most: Duration,
        what: &str,
        mut obstacle: impl FnMut() -> Option<String>,
    ) {
        let deadline = Instant::now() + at_most;
        while let Some(obstacle) = obstacle() {
            if Instant::now() > deadline {
                panic!("not within {at_most:?}: {what}: {obstacle}\n{}", self.state());
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Everything a person would look at.
    fn state(&self) -> String {
        let kinds = "pods,nodes,nodeclaims,nodepools,leases";
        let seen = self.control_plane.kubectl(&["get", kinds, "-A", "--output=wide"]);
        seen.unwrap_or_else(|error| error.to_string())
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    let is_going = pod.metadata.deletion_timestamp.is_some();
    !is_going
        && conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True")
}
