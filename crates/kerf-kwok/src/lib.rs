//! A cloud whose instances are Node objects: nothing boots, kwok answers for the kubelets.
//!
//! **Knows**: the simulated instance types, how a claim becomes a Node, what ends one.
//!
//! **Must never know**: AWS, what is decided and why.
//!
//! Names, labels and annotations are the public ones of the kwok provider, so manifests and tools
//! made for it run unchanged. An instance is named after its claim's uid: asking twice for the same
//! claim gives the same instance, even if the process died in between.

mod choice;
mod node;
mod node_class;
mod repair;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kerf_api::kwok_node_class::KWOKNodeClass;
use kerf_engine::action::{Launch, RebootOrder};
use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::{Claim, Name, NodeClass};
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_kube::{Ending, Provider, unavailable};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::{HOSTNAME, TERMINATION_FINALIZER};
use kerf_model::labels::{LabelRules, ProviderLabels, kwok};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use serde_json::json;
use tokio::task::AbortHandle;
use tracing::warn;

/// The simulated cloud.
pub struct Kwok {
    client: Client,
    instance_types: Arc<[InstanceType]>,
    rules: LabelRules,
    /// Instances that will show up later, by claim.
    booting: Arc<Mutex<HashMap<Name, AbortHandle>>>,
}

/// Nodes are read in pages of so many: half a megabyte each.
const PAGE_SIZE: u32 = 100;

impl Kwok {
    /// A cloud that sells these types. Keys their offerings use count as well-known.
    #[must_use]
    pub fn new(client: Client, instance_types: Vec<InstanceType>) -> Self {
        let offerings = instance_types.iter().flat_map(|it| it.offerings.iter());
        let entries = offerings.flat_map(|offering| &*offering.requirements);
        let keys = entries.map(|entry| entry.key.as_str());
        let rules = LabelRules::core()
            .with(&kwok::provider_labels())
            .with(&ProviderLabels::new().well_known(keys));
        let instance_types = instance_types.into();
        Self { client, instance_types, rules, booting: Arc::default() }
    }

    fn nodes(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }

    fn booting(&self) -> std::sync::MutexGuard<'_, HashMap<Name, AbortHandle>> {
        self.booting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node made for a claim of that name.
    async fn node_of(&self, claim: &str) -> Result<Option<Node>, Failure> {
        let labels = format!("{}={},{HOSTNAME}={claim}", kwok::FAKE_NODE, kwok::FAKE_NODE_VALUE);
        let found = self.nodes().list(&ListParams::default().labels(&labels)).await;
        Ok(found.map_err(unavailable)?.items.into_iter().find(node::is_ours))
    }

    /// The node a claim is to get, and how long it takes to show up.
    fn design(&self, launch: &Launch) -> Result<(Node, Duration), Failure> {
        let delay = node_class::delay(launch)?;
        let types = launch.instance_types.as_ref().unwrap_or(&self.instance_types);
        let choice = choice::choose(launch, types, &self.rules)?;
        Ok((node::make(&launch.claim, &choice), delay))
    }

    /// The instance that was launched for a claim before.
    async fn known(&self, claim: &Claim) -> Result<Option<Instance>, Failure> {
        let node = self.nodes().get_opt(&node::name(claim)).await.map_err(unavailable)?;
        Ok(node.as_ref().map(node::instance))
    }

    /// Lets the node show up after the delay its class asks for.
    fn boot_later(&self, claim: Name, node: Node, delay: Duration) {
        let (nodes, booting, name) = (self.nodes(), self.booting.clone(), claim.clone());
        let task = tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            if let Err(error) = create(&nodes, &node).await {
                warn!(claim = &*name, %error, "a simulated instance did not boot");
            }
            booting.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
        });
        if let Some(former) = self.booting().insert(claim, task.abort_handle()) {
            former.abort();
        }
    }
}

impl Provider for Kwok {
    fn info(&self) -> ProviderInfo {
        ProviderInfo {
            name: "kwok".to_owned(),
            node_classes: vec![NodeClassKind {
                group: KWOKNodeClass::group(&()).into_owned(),
                version: KWOKNodeClass::version(&()).into_owned(),
                kind: KWOKNodeClass::kind(&()).into_owned(),
                plural: KWOKNodeClass::plural(&()).into_owned(),
                managed: None,
            }],
            repair_policies: repair::policies(),
            ..ProviderInfo::default()
        }
    }

    fn label_rules(&self) -> LabelRules {
        self.rules.clone()
    }

    async fn instance_types(&self, _class: &NodeClass) -> Result<Arc<[InstanceType]>, Failure> {
        Ok(self.instance_types.clone())
    }

    async fn launch(&self, launch: &Launch) -> Result<Instance, Failure> {
        let claim = &launch.claim;
        match self.design(launch) {
            Ok((node, Duration::ZERO)) => match create(&self.nodes(), &node).await {
                Ok(Created::Now) => Ok(node::instance(&node)),
                Ok(Created::Before) => self.known(claim).await?.ok_or_else(gone_meanwhile),
                Err(error) => Err(unavailable(error)),
            },
            Ok((node, delay)) => {
                if let Some(known) = self.known(claim).await? {
                    return Ok(known);
                }
                let instance = node::instance(&node);
                self.boot_later(claim.meta.name.clone(), node, delay);
                Ok(instance)
            }
            // What was launched before stays, whatever became of its class.
            Err(failure) => self.known(claim).await?.ok_or(failure),
        }
    }

    /// There is nothing to wait for. The node goes with its finalizer; one that never joined has
    /// none and goes here, or it would be left over.
    async fn terminate(&self, claim: &Name, provider_id: Option<&str>) -> Result<Ending, Failure> {
        if let Some(booting) = self.booting().remove(claim) {
            booting.abort();
        }
        let nodes = self.nodes();
        let of_claim = match provider_id.and_then(|id| id.strip_prefix(node::PROVIDER_PREFIX)) {
            Some(name) => nodes.get_opt(name).await.map_err(unavailable)?,
            None => self.node_of(claim).await?,
        };
        let Some(node) = of_claim else { return Ok(Ending::Gone) };
        let mut finalizers = node.meta().finalizers.iter().flatten();
        if !finalizers.any(|finalizer| finalizer == TERMINATION_FINALIZER) {
            let name = node.meta().name.as_deref().unwrap_or_default();
            match nodes.delete(name, &DeleteParams::default()).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(unavailable(error)),
                Ok(_) => {}
            }
        }
        Ok(Ending::Gone)
    }

    /// Nothing restarts: the node has another boot id, and never stops being ready.
    async fn reboot(&self, order: &RebootOrder) -> Result<(), Failure> {
        let Some(node) = &order.node else {
            let message = format!("claim {} has no node yet", order.claim);
            return Err(Failure::Unavailable { message });
        };
        let boot_id = format!("kwok-{}", order.operation);
        let patch = json!({ "status": { "nodeInfo": { "bootID": boot_id } } });
        let patched =
            self.nodes().patch_status(node, &PatchParams::default(), &Patch::Merge(&patch)).await;
        patched.map(drop).map_err(unavailable)
    }

    async fn instances(&self) -> Result<Vec<Instance>, Failure> {
        let mut instances = Vec::new();
        let fake = format!("{}={}", kwok::FAKE_NODE, kwok::FAKE_NODE_VALUE);
        let mut page = ListParams::default().labels(&fake).limit(PAGE_SIZE);
        loop {
            let nodes = self.nodes().list(&page).await.map_err(unavailable)?;
            instances
                .extend(nodes.items.iter().filter(|node| node::is_ours(node)).map(node::instance));
            match nodes.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(instances),
            }
        }
    }
}

/// When a node was stored.
enum Created {
    Now,
    Before,
}

/// Stores a node; one of the name that is there already is this one.
async fn create(nodes: &Api<Node>, node: &Node) -> kube::Result<Created> {
    match nodes.create(&PostParams::default(), node).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Created::Before),
        result => result.map(|_| Created::Now),
    }
}

fn gone_meanwhile() -> Failure {
    Failure::Unavailable { message: "the instance went while it was looked at".to_owned() }
}
