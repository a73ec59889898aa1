//! What every measurement stands on: a real API server, and nodes with pods that nobody runs.

use std::path::Path;
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use kerf_testbed::{ControlPlane, Options, User};
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::{from_value, json};
use tokio::runtime::{Builder, Runtime};

/// Nothing takes so long unless something is broken.
pub(crate) const AT_MOST: Duration = Duration::from_secs(900);

/// The user that the rights are for.
const USER: &str = "system:serviceaccount:kube-system:aws-node-termination-handler";
const RIGHTS: &str = include_str!("../../../deploy/rbac-termination-handler.yaml");
/// Objects that are made side by side.
const AT_ONCE: usize = 64;

/// A cluster. Fields end in this order.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) runtime: Runtime,
    pub(crate) control_plane: ControlPlane,
}

impl Stage {
    /// An API server and the handler's rights: what is stored stays as it is.
    pub(crate) fn new() -> Self {
        let user = User::new(USER).in_group("system:serviceaccounts");
        let control_plane = ControlPlane::start(Options::api_server().user(user)).unwrap();
        control_plane.apply(RIGHTS).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(control_plane.client()).unwrap();
        Self { client, runtime, control_plane }
    }

    /// How the handler reaches the API server.
    pub(crate) fn kubeconfig(&self) -> &Path {
        self.control_plane.kubeconfig_of(USER).unwrap()
    }

    /// Makes a node with so many pods for each of these instances.
    pub(crate) fn make_nodes(&self, instances: &[String], pods_each: usize) {
        let (nodes, pods) =
            (Api::all(self.client.clone()), Api::default_namespaced(self.client.clone()));
        let made = stream::iter(instances).map(|instance| {
            let (nodes, pods) = (&nodes, &pods);
            async move {
                nodes.create(&PostParams::default(), &node(instance)).await.unwrap();
                for number in 0..pods_each {
                    pods.create(&PostParams::default(), &pod(instance, number)).await.unwrap();
                }
            }
        });
        self.runtime.block_on(made.buffer_unordered(AT_ONCE).collect::<()>());
    }
}

/// The name of the node of an instance.
pub(crate) fn node_name(instance: &str) -> String {
    format!("node-of-{instance}")
}

fn node(instance: &str) -> Node {
    let name = node_name(instance);
    from_value(json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/instance-type": "m5.large",
            "topology.kubernetes.io/region": "us-east-1",
            "topology.kubernetes.io/zone": "us-east-1a"}},
        "spec": {"providerID": format!("aws:///us-east-1a/{instance}")},
    }))
    .unwrap()
}

/// It goes at once when it is evicted, as there is no kubelet to end it.
fn pod(instance: &str, number: usize) -> Pod {
    from_value(json!({
        "metadata": {"name": format!("pod-{number}-of-{instance}")},
        "spec": {
            "nodeName": node_name(instance), "terminationGracePeriodSeconds": 0,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "main", "image": "registry.example/web:1",
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}],
        },
    }))
    .unwrap()
}
