//! Plays the kubelets of the AWS stand-in's instances, which do not boot.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::aws::call::ask;
use crate::aws::machine::{FAKE_NODE, Machine};
use crate::aws::stand_in::AwsStandIn;
use crate::error::{Error, Result};
use crate::kubernetes::client::client_from;
use crate::kubernetes::control_plane::ControlPlane;

/// How often instances are looked at: short beside any boot.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Nodes that are registered at once; more would only wait in the API server.
const AT_ONCE: usize = 16;

/// What an instance does after its launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boot {
    /// Its node joins after this time.
    After(Duration),
    /// Two nodes with its provider id join after this time, the second under another name.
    Twice(Duration),
    /// Its node never joins.
    Never,
}

/// Makes a Node of every instance, once it has booted. Dropping it ends it; the nodes stay.
///
/// A Node has the name, provider id, labels and taints that the instance's user data gives it, and
/// kwok animates it. When its instance stops kwok is told to leave it alone, so that its heartbeat
/// stops; when it is terminated the Node is deleted, which the cloud controller manager does in a
/// real cluster.
#[derive(Debug)]
pub struct Kubelets {
    ended: Arc<AtomicBool>,
    joined: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Whether a node is the second of its instance.
type Again = bool;

/// What the thread works on.
struct Player<B> {
    endpoint_url: String,
    region: String,
    boot: B,
    /// The number of the last change of an instance that was looked at.
    seen: u64,
    /// Nodes that are to join, by instance, and when.
    booting: BTreeMap<(String, Again), (Instant, Machine)>,
    /// The names of nodes that joined, by instance.
    nodes: BTreeMap<String, Vec<String>>,
    joined: Arc<AtomicU64>,
}

impl Kubelets {
    /// Lets every instance join after a while.
    pub fn start(cluster: &ControlPlane, aws: &AwsStandIn, boot: Duration) -> Result<Self> {
        Self::start_with(cluster, aws, move |_| Boot::After(boot))
    }

    /// Lets each instance do as `boot` says, which is asked once for each.
    pub fn start_with(
        cluster: &ControlPlane,
        aws: &AwsStandIn,
        boot: impl Fn(&Machine) -> Boot + Send + 'static,
    ) -> Result<Self> {
        let (ended, joined) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let player = Player {
            endpoint_url: aws.endpoint_url().to_owned(),
            region: "us-east-1".to_owned(),
            boot,
            seen: 0,
            booting: BTreeMap::new(),
            nodes: BTreeMap::new(),
            joined: Arc::clone(&joined),
        };
        let kubeconfig = cluster.kubeconfig().to_path_buf();
        let has_ended = Arc::clone(&ended);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::io("start", "a runtime for kubelets"))?;
        let thread = thread::spawn(move || {
            runtime.block_on(player.play(kubeconfig, &has_ended));
        });
        Ok(Self { ended, joined, thread: Some(thread) })
    }

    /// How many nodes have joined so far.
    pub fn joined(&self) -> u64 {
        self.joined.load(Ordering::Relaxed)
    }
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It panics only where a test has to hear of it, and then has said why.
            let _ = thread.join();
        }
    }
}

impl<B: Fn(&Machine) -> Boot> Player<B> {
    async fn play(mut self, kubeconfig: PathBuf, has_ended: &AtomicBool) {
        let client = client_from(&kubeconfig).await.expect("the control plane wrote it");
        let nodes = Api::<Node>::all(client);
        while !has_ended.load(Ordering::Relaxed) {
            for machine in self.changed() {
                self.take_in(machine, &nodes).await;
            }
            self.join_due(&nodes).await;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Instances that changed since the last look. A stand-in that does not answer has ended.
    fn changed(&mut self) -> Vec<Machine> {
        let body = json!({"after": self.seen, "region": self.region}).to_string();
        let line = "POST /kerf-control/machines";
        let (is_well, answer) = ask(&self.endpoint_url, "control", line, "", &body);
        let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return Vec::new() };
        if !is_well {
            return Vec::new();
        }
        self.seen = answer["last"].as_u64().unwrap_or(self.seen);
        answer["machines"].as_array().into_iter().flatten().map(Machine::read).collect()
    }

    async fn take_in(&mut self, machine: Machine, nodes: &Api<Node>) {
        let known = |again| (machine.id.clone(), again);
        match machine.state.as_str() {
            "pending" | "running" => {
                if self.booting.contains_key(&known(false)) || self.nodes.contains_key(&machine.id)
                {
                    return;
                }
                let (time, joins) = match (self.boot)(&machine) {
                    Boot::After(time) => (time, &[false][..]),
                    Boot::Twice(time) => (time, &[false, true][..]),
                    Boot::Never => return,
                };
                for again in joins {
                    let join = (Instant::now() + time, machine.clone());
                    self.booting.insert(known(*again), join);
                }
            }
            ended => {
                self.booting.remove(&known(false));
                self.booting.remove(&known(true));
                let names = self.nodes.get(&machine.id).cloned().unwrap_or_default();
                for name in &names {
                    end(nodes, name, ended).await;
                }
            }
        }
    }

    /// Registers the nodes of instances that have booted, several at once.
    async fn join_due(&mut self, nodes: &Api<Node>) {
        let now = Instant::now();
        let due = self.booting.iter().filter(|(_, (at, _))| *at <= now).take(AT_ONCE);
        let due: Vec<_> = due.map(|(key, (_, machine))| (key.clone(), machine.node())).collect();
        let mut registering = JoinSet::new();
        for (key, mut node) in due {
            let nodes = nodes.clone();
            let name = node.metadata.name.take().unwrap_or_default();
            let name = if key.1 { format!("again-{name}") } else { name };
            node.metadata.name = Some(name.clone());
            registering.spawn(async move {
                let made = nodes.create(&PostParams::default(), &node).await;
                (key, name, made)
            });
        }
        while let Some(Ok((key, name, made))) = registering.join_next().await {
            match made {
                Ok(_) => {
                    self.booting.remove(&key);
                    self.nodes.entry(key.0).or_default().push(name);
                    self.joined.fetch_add(1, Ordering::Relaxed);
                }
                // An API server that is away is asked again, as a kubelet does.
                Err(error) => eprintln!("kubelet of {}: {error}", key.0),
            }
        }
    }
}

/// What becomes of the node of an instance that has ended. It may be gone already, which is as well.
async fn end(nodes: &Api<Node>, name: &str, state: &str) {
    if matches!(state, "terminated" | "stopped") {
        let silent = json!({"metadata": {"annotations": {FAKE_NODE: null}}});
        let _ = nodes.patch(name, &PatchParams::default(), &Patch::Merge(&silent)).await;
    }
    if state == "terminated" {
        let _ = nodes.delete(name, &DeleteParams::default()).await;
    }
}
