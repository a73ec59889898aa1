//! What a provider must be able to do. AWS, kwok and others are implementations, none special.
//!
//! What a provider *is* (its node classes, labels, repair policies, registration hooks) is data it
//! hands over once; what it *does* is one method for each action the engine can ask of it.

use std::collections::BTreeMap;
use std::future::{Future, ready};
use std::sync::Arc;

use kerf_engine::action::{Launch, RebootOrder};
use kerf_engine::event::{Failure, Instance, ResolvedNodeClass};
use kerf_engine::notice::AnnouncedInstance;
use kerf_engine::observed::{Claim, Name, Node, NodeClass};
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kube::api::ApiResource;
use tokio::sync::mpsc;

use crate::client::notices::NoticeDelivery;

/// A provider of instances.
pub trait Provider: Send + Sync + 'static {
    /// What the engine must know of it.
    fn info(&self) -> ProviderInfo;

    /// Which labels may be used with it.
    fn label_rules(&self) -> LabelRules;

    /// The hash of what a node class says about new instances; those launched with another have
    /// drifted. None where nothing drifts.
    fn node_class_hash(&self, _class: &NodeClass) -> Option<String> {
        None
    }

    /// Finds what a node class selects, and checks what it says. Asked of managed kinds only.
    fn resolve_node_class(
        &self,
        _class: &NodeClass,
    ) -> impl Future<Output = Result<ResolvedNodeClass, Failure>> + Send {
        ready(Ok(ResolvedNodeClass::default()))
    }

    /// Removes what was made for a node class that no claim uses any more.
    fn release_node_class(
        &self,
        _class: &NodeClass,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        ready(Ok(()))
    }

    /// What nodes of a class can be made of, whether available now or not.
    fn instance_types(
        &self,
        class: &NodeClass,
    ) -> impl Future<Output = Result<Arc<[InstanceType]>, Failure>> + Send;

    /// Comes when instance types, prices or availability have changed since this was called, so
    /// that they are asked for anew at once.
    fn instance_types_changed(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Sees a node of one of its instances, as it is now: at the start all of them, later each that
    /// changes.
    fn see_node(&self, _node: &Node, _claim: &Claim) {}

    /// Learns which claims there are when this process begins to decide. Of one without an instance
    /// the process before may have launched it, without living to store that.
    fn take_over<'c>(&self, _claims: impl Iterator<Item = &'c Claim>) {}

    /// Hears what the cloud announces about one of its instances, before anything is launched in its
    /// place.
    fn hear(&self, _announced: &AnnouncedInstance) {}

    /// What it does by itself for as long as this process leads: it removes what nobody uses, and
    /// announces what it finds out about instances. Never ends.
    fn lead(
        &self,
        _notices: mpsc::Sender<NoticeDelivery>,
    ) -> impl Future<Output = ()> + Send + 'static {
        std::future::pending()
    }

    /// Launches an instance, or finds the one launched before: at most one ever for the claim's
    /// uid.
    fn launch(&self, launch: &Launch) -> impl Future<Output = Result<Instance, Failure>> + Send;

    /// Sets tags on an instance.
    fn tag_instance(
        &self,
        _provider_id: &str,
        _tags: &BTreeMap<String, String>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        ready(Ok(()))
    }

    /// Asks for the end of a claim's instance; without an id, of whatever was launched for it.
    fn terminate(
        &self,
        claim: &Name,
        provider_id: Option<&str>,
    ) -> impl Future<Output = Result<Ending, Failure>> + Send;

    /// Restarts a claim's instance in place, once for each operation; answers when it has begun.
    fn reboot(&self, _order: &RebootOrder) -> impl Future<Output = Result<(), Failure>> + Send {
        let message = "this provider cannot reboot instances".to_owned();
        ready(Err(Failure::RebootNotImplemented { message }))
    }

    /// The instances that belong to this cluster.
    fn instances(&self) -> impl Future<Output = Result<Vec<Instance>, Failure>> + Send;
}

/// No provider, for roles that launch nothing: no node classes, no instances.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

impl Provider for NoProvider {
    fn info(&self) -> ProviderInfo {
        ProviderInfo { name: "none".to_owned(), ..ProviderInfo::default() }
    }

    fn label_rules(&self) -> LabelRules {
        LabelRules::core()
    }

    async fn instance_types(&self, _: &NodeClass) -> Result<Arc<[InstanceType]>, Failure> {
        Ok(Arc::default())
    }

    async fn launch(&self, _: &Launch) -> Result<Instance, Failure> {
        Err(Failure::InsufficientCapacity { message: "there is no provider".to_owned() })
    }

    async fn terminate(&self, _: &Name, _: Option<&str>) -> Result<Ending, Failure> {
        Ok(Ending::Gone)
    }

    async fn instances(&self) -> Result<Vec<Instance>, Failure> {
        Ok(Vec::new())
    }
}

/// How far the end of an instance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is on its way out.
    Begun,
    /// There is none (any more).
    Gone,
}

/// How the API server names a kind of node class.
pub(crate) fn api_resource(kind: &NodeClassKind) -> ApiResource {
    let NodeClassKind { group, version, kind, plural, .. } = kind;
    ApiResource {
        group: group.clone(),
        version: version.clone(),
        api_version: format!("{group}/{version}"),
        kind: kind.clone(),
        plural: plural.clone(),
    }
}
