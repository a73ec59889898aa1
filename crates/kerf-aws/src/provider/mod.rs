//! The provider that launches EC2 instances for NodeClaims.

mod batch_metrics;
mod calls;
mod cluster;
mod cluster_version;
mod context;
mod discovery;
mod failure;
mod filters;
mod hash;
mod info;
mod instances;
mod launch;
mod launch_template;
mod node_class;
mod offers;
mod settings;
pub(crate) mod tags;
mod user_data;
mod zone_ids;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use kerf_engine::action::Launch;
use kerf_engine::event::{Failure, Instance, ResolvedNodeClass};
use kerf_engine::notice::AnnouncedInstance;
use kerf_engine::observed::{Claim, Name, Node, NodeClass};
use kerf_engine::provider::ProviderInfo;
use kerf_kube::{Ending, NoticeDelivery, Provider};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{LabelRules, aws};
use kerf_runtime::metrics::Registry;
use tokio::sync::mpsc;

use crate::Session;
pub(crate) use calls::{Bucket, Calls};
pub use cluster::{Cluster, KubernetesVersion};
pub use cluster_version::ClusterVersion;
use context::Context;
pub use discovery::{DiscoveryError, KnownCluster, discover};
pub use info::info as provider_info;
use instances::Instances;
use launch::Launcher;
use launch::free_addresses::FreeAddresses;
use node_class::NodeClasses;
use offers::Offers;
pub use offers::PriceFileError;
pub use settings::AwsSettings;

/// EC2, as a provider of instances.
pub struct Aws {
    context: Context,
    offers: Arc<Offers>,
    node_classes: Arc<NodeClasses>,
    launcher: Arc<Launcher>,
    instances: Arc<Instances>,
}

impl Aws {
    /// A provider for a cluster, by a session's identity. Nothing is called yet.
    ///
    /// # Errors
    /// There is a price file, and it cannot be used.
    pub fn new(
        session: &Session,
        cluster: Cluster,
        settings: AwsSettings,
        registry: Registry,
    ) -> Result<Self, PriceFileError> {
        let context = Context::new(session, cluster, settings, registry);
        let offers = Arc::new(Offers::new(context.clone())?);
        let addresses = Arc::new(FreeAddresses::new(context.settings.subnet_refresh));
        let reservations = offers.reservations().clone();
        let node_classes =
            NodeClasses::new(context.clone(), addresses.clone(), reservations.clone());
        let node_classes = Arc::new(node_classes);
        let launcher = Launcher::new(
            context.clone(),
            label_rules(),
            addresses,
            offers.unavailable().clone(),
            reservations.clone(),
        );
        let instances = Arc::new(Instances::new(context.clone(), &launcher, reservations));
        let launcher = Arc::new(launcher);
        Ok(Self { context, offers, node_classes, launcher, instances })
    }

    /// The version of the cluster, for whoever hears of another.
    #[must_use]
    pub fn version(&self) -> Arc<ClusterVersion> {
        self.context.version.clone()
    }

    /// Keeps instance types, prices and stock up to date. Never ends; instance types are asked for
    /// in vain before it has run for a moment.
    pub fn keep_up(&self) -> impl Future<Output = ()> + Send + use<> {
        let offers = self.offers.clone();
        async move { offers.keep_up().await }
    }

    /// Removes instance profiles that nobody uses, and nobody used when this was called before;
    /// their names. `now` is in seconds since 1970. Who leads does so every half hour.
    ///
    /// # Errors
    /// A call gave no answer.
    pub async fn collect_profiles(&self, now: i64) -> Result<Vec<String>, Failure> {
        self.node_classes.collect_profiles(now).await
    }
}

impl Provider for Aws {
    fn info(&self) -> ProviderInfo {
        info::info(&self.context.settings)
    }

    fn node_class_hash(&self, class: &NodeClass) -> Option<String> {
        let object = crate::node_class::read(class).ok()?;
        Some(hash::of(&object.spec, &self.context.cluster))
    }

    fn label_rules(&self) -> LabelRules {
        label_rules()
    }

    async fn resolve_node_class(&self, class: &NodeClass) -> Result<ResolvedNodeClass, Failure> {
        self.node_classes.resolve(class).await
    }

    async fn release_node_class(&self, class: &NodeClass) -> Result<(), Failure> {
        self.node_classes.release(class).await
    }

    async fn instance_types(&self, class: &NodeClass) -> Result<Arc<[InstanceType]>, Failure> {
        self.offers.of(class, self.node_classes.placement_group(class))
    }

    fn instance_types_changed(&self) -> impl Future<Output = ()> + Send {
        self.offers.changed()
    }

    fn see_node(&self, node: &Node, claim: &Claim) {
        self.offers.see(node, claim);
    }

    fn take_over<'c>(&self, claims: impl Iterator<Item = &'c Claim>) {
        self.launcher.take_over(claims);
    }

    fn hear(&self, announced: &AnnouncedInstance) {
        self.offers.hear(announced);
    }

    fn lead(
        &self,
        notices: mpsc::Sender<NoticeDelivery>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (launcher, instances) = (self.launcher.clone(), self.instances.clone());
        let node_classes = self.node_classes.clone();
        async move {
            tokio::join!(
                launcher.collect_templates(),
                instances.announce_unhealthy(notices),
                node_classes.keep_up(),
            );
        }
    }

    async fn launch(&self, launch: &Launch) -> Result<Instance, Failure> {
        let offered = match (&launch.instance_types, &launch.node_class) {
            (Some(offered), _) => offered.clone(),
            (None, Some(class)) => self.instance_types(class).await.map_err(unresolved_types)?,
            (None, None) => Arc::default(),
        };
        self.launcher.launch(launch, &offered).await
    }

    async fn tag_instance(
        &self,
        provider_id: &str,
        tags: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        self.instances.tag(provider_id, tags).await
    }

    async fn terminate(&self, claim: &Name, provider_id: Option<&str>) -> Result<Ending, Failure> {
        self.instances.terminate(claim, provider_id).await
    }

    async fn instances(&self) -> Result<Vec<Instance>, Failure> {
        self.instances.list().await
    }
}

/// A launch without instance types to choose from was refused for that, whatever lacks.
fn unresolved_types(failure: Failure) -> Failure {
    match failure {
        Failure::Unavailable { message } | Failure::Invalid { message } => {
            let reason = "InstanceTypeResolutionFailed".to_owned();
            Failure::LaunchRefused { reason, message }
        }
        other => other,
    }
}

/// Which labels may be used with AWS.
#[must_use]
pub fn label_rules() -> LabelRules {
    LabelRules::core().with(&aws::provider_labels())
}
