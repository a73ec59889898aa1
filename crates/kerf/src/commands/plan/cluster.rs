//! The objects of a cluster, as `kubectl get -o yaml` would print them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use kerf_kube::connect;
use kerf_lint::{Object, Position};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

use crate::commands::listing::{self, Kind};

/// What a plan is made of. Kinds that the cluster does not serve are passed over.
const KINDS: [Kind; 19] = [
    ("", "v1", "Namespace", "namespaces"),
    ("", "v1", "Node", "nodes"),
    ("", "v1", "Pod", "pods"),
    ("", "v1", "Service", "services"),
    ("", "v1", "PersistentVolume", "persistentvolumes"),
    ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    ("apps", "v1", "DaemonSet", "daemonsets"),
    ("apps", "v1", "ReplicaSet", "replicasets"),
    ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ("storage.k8s.io", "v1", "CSINode", "csinodes"),
    ("storage.k8s.io", "v1", "StorageClass", "storageclasses"),
    ("karpenter.sh", "v1", "NodePool", "nodepools"),
    ("karpenter.sh", "v1", "NodeClaim", "nodeclaims"),
    ("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays"),
    ("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses"),
    ("karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses"),
    ("karpenter.sh", "v1alpha5", "Provisioner", "provisioners"),
    ("karpenter.k8s.aws", "v1alpha1", "AWSNodeTemplate", "awsnodetemplates"),
    ("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer", "capacitybuffers"),
];

/// Which cluster, and what of it.
#[derive(Args)]
pub(super) struct ClusterFlags {
    /// The context of the kubeconfig; without -f the current one. With -f, what the files add to
    /// that cluster
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The kubeconfig to read instead of $KUBECONFIG or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Plan for pending pods of this namespace; by default that of the context
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// Plan for pending pods of all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
}

/// What a cluster holds.
pub(super) struct Held {
    pub(super) objects: Vec<Object>,
    /// Pods without a node in namespaces that were not asked for.
    pub(super) waiting_elsewhere: usize,
}

impl ClusterFlags {
    /// Whether any of them was given.
    pub(super) fn are_given(&self) -> bool {
        let Self { context, kubeconfig, namespace, all_namespaces } = self;
        context.is_some() || kubeconfig.is_some() || namespace.is_some() || *all_namespaces
    }

    /// Reads the cluster. What files give, by `Kind/namespace/name`, is left out: it takes the place
    /// of what is there.
    pub(super) fn read(&self, given: &BTreeSet<String>) -> Result<Held> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.context("could not start the runtime")?.block_on(self.read_on(given))
    }

    async fn read_on(&self, given: &BTreeSet<String>) -> Result<Held> {
        let config = self.config().await?;
        let namespace = self.namespace.clone().unwrap_or(config.default_namespace.clone());
        let name = self.context.clone().unwrap_or_else(|| config.cluster_url.to_string());
        let client = connect(config)?;
        let mut held = Held { objects: Vec::new(), waiting_elsewhere: 0 };
        for kind in KINDS {
            for mut value in all(&client, kind).await? {
                if !self.all_namespaces && waits_outside(&value, &namespace) {
                    held.waiting_elsewhere += 1;
                } else if !given.contains(&key(&value)) {
                    make_no_pods(&mut value);
                    held.objects.push(object(&name, held.objects.len() + 1, value));
                }
            }
        }
        Ok(held)
    }

    async fn config(&self) -> Result<Config> {
        let options = KubeConfigOptions { context: self.context.clone(), ..Default::default() };
        let config = match &self.kubeconfig {
            Some(path) => {
                let file = Kubeconfig::read_from(path);
                let file = file.with_context(|| format!("--kubeconfig {}", path.display()))?;
                Config::from_custom_kubeconfig(file, &options).await
            }
            None if self.context.is_some() => Config::from_kubeconfig(&options).await,
            None => return Config::infer().await.context(NO_CLUSTER),
        };
        config.context(NO_CLUSTER)
    }
}

const NO_CLUSTER: &str = "no cluster to plan for: name files with -f, or a cluster with --context or \
                          --kubeconfig; `aws eks update-kubeconfig --name CLUSTER` makes a kubeconfig";

/// `Kind/namespace/name`.
pub(super) fn key(value: &Value) -> String {
    let text = |pointer| value.pointer(pointer).and_then(Value::as_str);
    let namespace = text("/metadata/namespace").unwrap_or("default");
    let (kind, name) = (text("/kind").unwrap_or_default(), text("/metadata/name"));
    format!("{kind}/{namespace}/{}", name.unwrap_or_default())
}

/// Whether it is a pod that waits in another namespace. Pods on nodes take room whatever their
/// namespace is.
fn waits_outside(value: &Value, namespace: &str) -> bool {
    let text = |pointer| value.pointer(pointer).and_then(Value::as_str);
    let is_over = matches!(text("/status/phase"), Some("Succeeded" | "Failed"));
    text("/kind") == Some("Pod")
        && text("/spec/nodeName").is_none_or(str::is_empty)
        && text("/metadata/namespace") != Some(namespace)
        && !is_over
}

/// The pods of a ReplicaSet are there already; it only says which Deployment they belong to.
fn make_no_pods(value: &mut Value) {
    if value["kind"] == "ReplicaSet" {
        value["spec"]["replicas"] = json!(0);
    }
}

/// All objects of a kind; none where the cluster does not serve it.
async fn all(client: &Client, kind: Kind) -> Result<Vec<Value>> {
    let plural = kind.3;
    match listing::list(client, kind).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(kube::Error::Api(status)) if status.code == 403 => Err(anyhow!(
            "you may not list {plural}: {}; kubectl auth can-i list {plural} -A",
            status.message
        )),
        listed => listed.with_context(|| format!("could not list {plural}")),
    }
}

fn object(cluster: &str, number: usize, value: Value) -> Object {
    let position = Position { line: 1, column: 1 };
    let file = format!("cluster {cluster}");
    Object { file, document: number, position, value, repeated_keys: Vec::new() }
}
