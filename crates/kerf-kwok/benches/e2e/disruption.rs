//! Pods run, something changes, and the controllers make the best of it: how long until nothing
//! happens any more, what the nodes cost then, and how many pods were evicted for it.

use k8s_openapi::api::apps::v1::Deployment;
use kerf_api::node_pool::NodePool;
use kerf_testbed::ControlPlane;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::{Value, json};

use crate::fleet;
use crate::process::Controller;
use crate::steady::Watch;
use crate::workload::deployment;

const POOL: &str = "default";
/// Only pods with this annotation are never evicted.
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// Deployments of different shapes.
const WIDE_DEPLOYMENTS: usize = 30;
const SPREAD_DEPLOYMENTS: usize = 10;

/// Deployments, and what becomes of them.
pub(crate) struct Disruption {
    deployments: Vec<Scaled>,
    change: Change,
}

/// A Deployment and how many pods it has afterwards.
struct Scaled {
    manifest: Value,
    name: String,
    before: usize,
    after: usize,
}

/// What changes beside the numbers of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Nodes may be consolidated from now on, all at once.
    Consolidation,
    /// The pool's template is another one, so that all nodes have drifted; within the default
    /// budget.
    Drift,
}

impl Disruption {
    /// The case of a name, with its numbers of pods divided.
    pub(crate) fn of(name: &str, share: usize) -> Option<Self> {
        let share = share.max(1);
        let (deployments, change) = match name {
            "scale-down" => (mixed(share, (500, 350)), Change::Consolidation),
            "do-not-disrupt" => (do_not_disrupt(share), Change::Consolidation),
            "wide-deployments" => (wide(share), Change::Consolidation),
            "hostname-spread" => (hostname_spread(share), Change::Consolidation),
            "anti-affinity" => (anti_affinity(share), Change::Consolidation),
            "drift" => (mixed(share, (300, 300)), Change::Drift),
            _ => return None,
        };
        Some(Self { deployments, change })
    }

    /// Lets the pods run, makes the change and waits until nothing happens any more.
    pub(crate) async fn measure(
        &self,
        control_plane: &ControlPlane,
        controller: &Controller,
    ) -> Value {
        let client = control_plane.client().await.unwrap();
        control_plane.apply(&self.pool().to_string()).unwrap();
        let manifests: Vec<&Value> = self.deployments.iter().map(|it| &it.manifest).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": manifests });
        let mut watch = Watch::begin(&client).await;
        control_plane.apply(&list.to_string()).unwrap();
        watch.until_running(self.count(|it| it.before)).await;
        let (nodes_before, dollars_before) = fleet(client.clone()).await;
        let processor_before = controller.processor_seconds();
        watch.restart();
        self.make_change(&client).await;
        let steady = watch.until_steady(self.count(|it| it.after)).await;
        let (nodes, dollars) = fleet(client).await;
        json!({
            "seconds": steady.seconds,
            "evictions": steady.evictions,
            "nodes_before": nodes_before,
            "dollars_per_hour_before": dollars_before,
            "nodes": nodes,
            "dollars_per_hour": dollars,
            "peak_memory_bytes": controller.peak_memory_bytes(),
            "processor_seconds": controller.processor_seconds() - processor_before,
        })
    }

    fn count(&self, of: impl Fn(&Scaled) -> usize) -> usize {
        self.deployments.iter().map(of).sum()
    }

    /// Nothing is consolidated while pods come, and nothing expires.
    fn pool(&self) -> Value {
        let budget = match self.change {
            Change::Consolidation => "100%",
            Change::Drift => "10%",
        };
        let one_of =
            |key: &str, value: &str| json!({ "key": key, "operator": "In", "values": [value] });
        json!({
            "apiVersion": "v1", "kind": "List", "items": [
                {
                    "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
                    "metadata": { "name": POOL },
                },
                {
                    "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
                    "metadata": { "name": POOL },
                    "spec": {
                        "disruption": {
                            "consolidateAfter": "Never",
                            "consolidationPolicy": "WhenEmptyOrUnderutilized",
                            "budgets": [{ "nodes": budget }],
                        },
                        "template": { "spec": {
                            "expireAfter": "Never",
                            "requirements": [
                                one_of("karpenter.sh/capacity-type", "on-demand"),
                                one_of("kubernetes.io/os", "linux"),
                            ],
                            "nodeClassRef": {
                                "group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": POOL,
                            },
                        } },
                    },
                },
            ],
        })
    }

    async fn make_change(&self, client: &Client) {
        let patch = match self.change {
            Change::Consolidation => json!({
                "spec": { "disruption": { "consolidateAfter": "0s" } },
            }),
            Change::Drift => json!({
                "spec": { "template": { "metadata": { "annotations": { "bench/round": "2" } } } },
            }),
        };
        let deployments = Api::<Deployment>::namespaced(client.clone(), "default");
        let parameters = PatchParams::default();
        for Scaled { name, before, after, .. } in &self.deployments {
            if before != after {
                let scale = json!({ "spec": { "replicas": after } });
                let scale = Patch::Merge(&scale);
                deployments.patch(name, &parameters, &scale).await.unwrap();
            }
        }
        let pools = Api::<NodePool>::all(client.clone());
        pools.patch(POOL, &parameters, &Patch::Merge(&patch)).await.unwrap();
    }
}

impl Scaled {
    fn new(manifest: Value, before: usize, after: usize) -> Self {
        let name = manifest["metadata"]["name"].as_str().unwrap().to_owned();
        Self { manifest, name, before, after }
    }
}

fn mixed(share: usize, (before, after): (usize, usize)) -> Vec<Scaled> {
    let kinds = [("small", "900m", "3100Mi"), ("large", "3500m", "28Gi")];
    let scaled = kinds.map(|(name, cpu, memory)| {
        let (before, after) = (before / share, after / share);
        Scaled::new(deployment(name, before, cpu, memory, json!([])), before, after)
    });
    scaled.into()
}

/// A thousand pods of two kinds of which half stay, and a hundred that say do-not-disrupt.
fn do_not_disrupt(share: usize) -> Vec<Scaled> {
    let mut deployments = mixed(share, (500, 250));
    let count = 100 / share;
    let mut held = deployment("held", count, "1", "2Gi", json!([]));
    held["spec"]["template"]["metadata"]["annotations"] = json!({ DO_NOT_DISRUPT: "true" });
    deployments.push(Scaled::new(held, count, count));
    deployments
}

/// Thirty Deployments of different shapes, a thousand pods of which seven hundred stay.
fn wide(share: usize) -> Vec<Scaled> {
    let all = 1000 / share;
    let of = |all: usize, index: usize| {
        all / WIDE_DEPLOYMENTS + usize::from(index < all % WIDE_DEPLOYMENTS)
    };
    let scaled = (0..WIDE_DEPLOYMENTS).map(|index| {
        let (cpu, memory) =
            (format!("{}m", 150 + 130 * index), format!("{}Mi", 256 + 410 * ((index * 7) % 30)));
        let (before, after) = (of(all, index), of(all * 7 / 10, index));
        let name = format!("wide-{index}");
        Scaled::new(deployment(&name, before, &cpu, &memory, json!([])), before, after)
    });
    scaled.collect()
}

/// Ten Deployments whose pods each want a node of their own.
fn hostname_spread(share: usize) -> Vec<Scaled> {
    let (before, after) = (100 / share, 70 / share);
    let scaled = (0..SPREAD_DEPLOYMENTS).map(|index| {
        let name = format!("spread-{index}");
        let rule = json!([{
            "topologyKey": "kubernetes.io/hostname", "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": { "matchLabels": { "app": name } },
        }]);
        let (cpu, memory) = (format!("{}m", 200 + 100 * index), format!("{}Mi", 256 + 200 * index));
        Scaled::new(deployment(&name, before, &cpu, &memory, rule), before, after)
    });
    scaled.collect()
}

/// Two kinds of pods that must not stand on the same node: 500 and 250, of which 400 and 200 stay.
fn anti_affinity(share: usize) -> Vec<Scaled> {
    let apart = |name: &str, other: &str, (before, after): (usize, usize), cpu: &str| {
        let (before, after) = (before / share, after / share);
        let mut manifest = deployment(name, before, cpu, "2Gi", json!([]));
        manifest["spec"]["template"]["spec"]["affinity"] = json!({ "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": { "matchLabels": { "app": other } },
            }],
        } });
        Scaled::new(manifest, before, after)
    };
    vec![apart("quiet", "noisy", (500, 400), "900m"), apart("noisy", "quiet", (250, 200), "1800m")]
}
