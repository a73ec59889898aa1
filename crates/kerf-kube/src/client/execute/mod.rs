//! Executors: each action becomes one call, and its answer an outcome.
//!
//! Nothing is tried twice here: whether and when to try again is the engine's decision. Changes
//! carry the version they were decided on, deletions the identity they are meant for, so a call
//! that comes too late changes nothing.

mod claims;
mod confirm;
mod failure;
mod node_classes;
mod nodes;
mod overlays;
mod pace;
mod pods;
mod pools;
mod turns;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kerf_engine::action::{
    ActionClass, ActionKind, CopyEdit, Executor as ActionExecutor, Lane, Launch, MetadataPatch,
    NewClaim, NodePatch, PoolEdit, RebootOrder,
};
use kerf_engine::condition::Conditions;
use kerf_engine::event::{Failure, Instance, Object, Outcome};
use kerf_engine::observed::{
    ClaimStatus, Name, NodeClass, NodeClassStatus, PodKey, PoolStatus, Revision,
};
use kerf_engine::provider::ProviderInfo;
use kerf_engine::solve::SolveRequest;
use kerf_engine::zonal_shift::{CopyStep, ShiftStateWrite};
use kerf_model::labels::LabelRules;
use kerf_model::node_spec::NodeClassRef;
use kerf_runtime::LeaseTerm;
use kube::Client;
use kube::api::ApiResource;
use tokio::time::timeout;

use crate::client::legacy::{self, LegacyObjects};
use crate::client::provider::{Ending, Provider, api_resource};
use crate::client::zonal::{self, ShiftAccount};

pub(crate) use claims::{deleted, of_identity};

pub use failure::unavailable;
pub use pace::Pace;
pub(crate) use turns::Turns;

/// A call without an answer for so long is given up; what it did shows in the objects.
const CALL_WITHIN: Duration = Duration::from_secs(30);
/// The same for a call to the cloud, which may be several requests. Together with the time it may
/// wait to be begun it is less than the time after which the engine orders it again. Whether it was
/// done is not known then: a launch is asked for again and gives the instance there is, an end is
/// asked for again, and instances are listed.
const CLOUD_CALL_WITHIN: Duration = Duration::from_secs(50);

/// Carries out actions.
#[derive(Clone)]
pub struct Executor<P> {
    client: Client,
    provider: Arc<P>,
    provider_info: Arc<ProviderInfo>,
    rules: LabelRules,
    pace: Pace,
    lease: LeaseTerm,
    shift_account: Option<Arc<dyn ShiftAccount>>,
    eviction_grace_seconds: Option<u32>,
    legacy: Option<LegacyObjects>,
}

impl<P: Provider> Executor<P> {
    /// An executor that calls the API server no faster than the pace allows.
    pub fn new(client: Client, provider: Arc<P>, pace: Pace) -> Self {
        let rules = provider.label_rules();
        let provider_info = Arc::new(provider.info());
        let lease = LeaseTerm::unlimited();
        let (shift_account, eviction_grace_seconds, legacy) = (None, None, None);
        Self {
            client,
            provider,
            provider_info,
            rules,
            pace,
            lease,
            shift_account,
            eviction_grace_seconds,
            legacy,
        }
    }

    /// The same in a cluster where pools and node classes may stand for legacy objects.
    pub(crate) fn with_legacy(mut self, legacy: Option<LegacyObjects>) -> Self {
        self.legacy = legacy;
        self
    }

    /// Gives evicted pods so long to end, whatever they ask for.
    #[must_use]
    pub fn with_eviction_grace(mut self, seconds: Option<u32>) -> Self {
        self.eviction_grace_seconds = seconds;
        self
    }

    /// The same for a process that may act only while it holds a Lease.
    #[must_use]
    pub fn with_lease(mut self, lease: LeaseTerm) -> Self {
        self.lease = lease;
        self
    }

    /// The same with an account that zones and zonal shifts belong to.
    #[must_use]
    pub fn with_shift_account(mut self, account: Option<Arc<dyn ShiftAccount>>) -> Self {
        self.shift_account = account;
        self
    }

    /// The account; without one, nobody decides to ask it.
    fn shift_account(&self) -> Result<&dyn ShiftAccount, Failure> {
        let none = || Failure::Invalid { message: "no account is set for zonal shifts".to_owned() };
        self.shift_account.as_deref().ok_or_else(none)
    }

    /// How the API server names the kind of a node class, if the provider has it.
    fn node_class_resource(&self, class: &NodeClassRef) -> Option<ApiResource> {
        self.provider_info.node_class_kind(&class.group, &class.kind).map(api_resource)
    }

    /// Carries an action out.
    pub async fn carry_out(&self, kind: &ActionKind) -> Outcome {
        self.carry_out_as(ActionClass::Normal, kind).await
    }

    /// Carries an action out, before and after others as its class says.
    pub async fn carry_out_as(&self, class: ActionClass, kind: &ActionKind) -> Outcome {
        if matches!(kind.lane(), Lane::Read | Lane::Write) {
            self.pace.turn_of(class).await;
        }
        let Some(left) = self.lease.left() else { return not_sent() };
        let call = kind.execute(&mut Calls(self));
        if kind.lane() != Lane::Cloud {
            return call.await;
        }
        let within = CLOUD_CALL_WITHIN.min(left);
        timeout(within, call).await.unwrap_or_else(|_| unanswered(within))
    }

    /// A request to the API server within its time.
    fn request<'a>(
        &'a self,
        request: impl Future<Output = kube::Result<Outcome>> + Send + 'a,
    ) -> Answer<'a> {
        Box::pin(async {
            // The turn may have come late, and the answer must not.
            let Some(left) = self.lease.left() else { return not_sent() };
            let within = CALL_WITHIN.min(left);
            match timeout(within, request).await {
                Ok(result) => result.unwrap_or_else(failure::outcome),
                Err(_) => unanswered(within),
            }
        })
    }
}

/// Another process may lead by now: what this one decided must not be done.
fn not_sent() -> Outcome {
    let message = "not sent: the leader lease was not renewed in time".to_owned();
    Outcome::Failed(Failure::Unavailable { message })
}

/// It may have been done, and may not.
fn unanswered(within: Duration) -> Outcome {
    let message = format!("no answer within {} s", within.as_secs());
    Outcome::Failed(Failure::Unavailable { message })
}

/// The outcome of a call that only succeeds or fails.
fn done<'a>(call: impl Future<Output = Result<(), Failure>> + Send + 'a) -> Answer<'a> {
    Box::pin(async { call.await.map_or_else(Outcome::Failed, |()| Outcome::Done) })
}

/// The outcome of a write that needs no call.
fn stored<'a>(object: Object) -> Answer<'a> {
    Box::pin(std::future::ready(Outcome::Stored(Box::new(object))))
}

/// An outcome that is on its way.
type Answer<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Each action as the call it becomes.
struct Calls<'e, P>(&'e Executor<P>);

impl<'a, P: Provider> ActionExecutor<'a> for Calls<'a, P> {
    type Answer = Answer<'a>;

    fn create_claim(&mut self, claim: &'a NewClaim) -> Answer<'a> {
        let owner = match &self.0.legacy {
            Some(legacy) if legacy.is_provisioner(&claim.pool.1) => claims::Owner::Provisioner,
            _ => claims::Owner::NodePool,
        };
        self.0.request(claims::create(&self.0.client, claim, owner))
    }

    fn patch_claim(
        &mut self,
        name: &'a Name,
        revision: Revision,
        patch: &'a MetadataPatch,
    ) -> Answer<'a> {
        self.0.request(claims::patch(&self.0.client, name, revision, patch))
    }

    fn write_claim_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        status: &'a ClaimStatus,
    ) -> Answer<'a> {
        self.0.request(claims::write_status(&self.0.client, name, revision, status))
    }

    fn delete_claim(&mut self, name: &'a Name, uid: &'a str) -> Answer<'a> {
        self.0.request(claims::delete(&self.0.client, name, uid))
    }

    fn patch_node(&mut self, name: &'a Name, uid: &'a str, patch: &'a NodePatch) -> Answer<'a> {
        self.0.request(nodes::patch(&self.0.client, name, uid, patch))
    }

    fn delete_node(&mut self, name: &'a Name, uid: &'a str) -> Answer<'a> {
        self.0.request(nodes::delete(&self.0.client, name, uid))
    }

    fn evict_pod(&mut self, pod: &'a PodKey, uid: &'a str) -> Answer<'a> {
        self.0.request(pods::evict(&self.0.client, pod, uid, self.0.eviction_grace_seconds))
    }

    fn delete_pod(&mut self, pod: &'a PodKey, uid: &'a str, grace_seconds: u64) -> Answer<'a> {
        self.0.request(pods::delete(&self.0.client, pod, uid, grace_seconds))
    }

    fn patch_pool(
        &mut self,
        name: &'a Name,
        revision: Revision,
        annotations: &'a BTreeMap<String, String>,
    ) -> Answer<'a> {
        let legacy = self.0.legacy.as_ref();
        if let Some(pool) = legacy.and_then(|legacy| legacy.annotate_pool(name, annotations)) {
            return stored(Object::Pool(pool));
        }
        let (client, rules) = (&self.0.client, &self.0.rules);
        self.0.request(pools::patch(client, rules, name, revision, annotations))
    }

    fn write_pool_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        status: &'a PoolStatus,
    ) -> Answer<'a> {
        let (client, rules) = (&self.0.client, &self.0.rules);
        let legacy = self.0.legacy.as_ref();
        if let Some((legacy, pool)) = legacy.and_then(|it| Some((it, it.pool(name)?))) {
            return self.0.request(async move {
                legacy::write_pool_status(client, legacy, &pool, status).await
            });
        }
        self.0.request(pools::write_status(client, rules, name, revision, status))
    }

    fn launch(&mut self, launch: &'a Launch) -> Answer<'a> {
        let provider = &self.0.provider;
        Box::pin(async {
            let launched = provider.launch(launch).await;
            launched.map_or_else(Outcome::Failed, |it| Outcome::Launched(Arc::new(it)))
        })
    }

    fn terminate(&mut self, claim: &'a Name, provider_id: Option<&'a Arc<str>>) -> Answer<'a> {
        let provider = &self.0.provider;
        Box::pin(async move {
            match provider.terminate(claim, provider_id.map(|id| &**id)).await {
                Ok(Ending::Begun) => Outcome::Done,
                Ok(Ending::Gone) => Outcome::NotFound,
                Err(failure) => Outcome::Failed(failure),
            }
        })
    }

    fn reboot(&mut self, order: &'a RebootOrder) -> Answer<'a> {
        done(self.0.provider.reboot(order))
    }

    fn confirm_drained(&mut self, node: &'a Name) -> Answer<'a> {
        self.0.request(confirm::pods_on(&self.0.client, node))
    }

    fn confirm_node_gone(&mut self, node: &'a Name) -> Answer<'a> {
        self.0.request(confirm::node(&self.0.client, node))
    }

    fn confirm_orphan(&mut self, claim: Option<&'a Name>, instance: &'a Instance) -> Answer<'a> {
        self.0.request(confirm::owner(&self.0.client, claim.map(|name| &**name), instance))
    }

    fn list_instances(&mut self) -> Answer<'a> {
        let provider = &self.0.provider;
        Box::pin(async {
            let listed = provider.instances().await;
            listed.map_or_else(Outcome::Failed, |instances| {
                Outcome::Instances(instances.into_iter().map(Arc::new).collect())
            })
        })
    }

    fn tag_instance(
        &mut self,
        _claim: &'a Name,
        provider_id: &'a str,
        tags: &'a BTreeMap<String, String>,
    ) -> Answer<'a> {
        done(self.0.provider.tag_instance(provider_id, tags))
    }

    fn resolve_node_class(&mut self, class: &'a NodeClass) -> Answer<'a> {
        let provider = &self.0.provider;
        Box::pin(async {
            let resolved = provider.resolve_node_class(class).await;
            resolved.map_or_else(Outcome::Failed, |it| Outcome::Resolved(Box::new(it)))
        })
    }

    fn release_node_class(&mut self, class: &'a NodeClass) -> Answer<'a> {
        done(self.0.provider.release_node_class(class))
    }

    fn patch_node_class(
        &mut self,
        class: &'a NodeClassRef,
        revision: Revision,
        patch: &'a MetadataPatch,
    ) -> Answer<'a> {
        let legacy = self.0.legacy.as_ref();
        if let Some(class) = legacy.and_then(|legacy| legacy.patch_class(class, patch)) {
            return stored(Object::NodeClass(class));
        }
        let kind = self.0.node_class_resource(class);
        self.0.request(node_classes::patch(&self.0.client, kind, class, revision, patch))
    }

    fn write_node_class_status(
        &mut self,
        class: &'a NodeClassRef,
        revision: Revision,
        status: &'a NodeClassStatus,
    ) -> Answer<'a> {
        let (client, legacy) = (&self.0.client, self.0.legacy.as_ref());
        if let Some((legacy, class)) = legacy.and_then(|it| Some((it, it.class(class)?))) {
            return self.0.request(async move {
                legacy::write_class_status(client, legacy, &class, status).await
            });
        }
        let kind = self.0.node_class_resource(class);
        self.0.request(node_classes::write_status(&self.0.client, kind, class, revision, status))
    }

    fn write_overlay_status(
        &mut self,
        name: &'a Name,
        revision: Revision,
        conditions: &'a Conditions,
    ) -> Answer<'a> {
        let (client, rules) = (&self.0.client, &self.0.rules);
        self.0.request(overlays::write_status(client, rules, name, revision, conditions))
    }

    fn write_shift_state(&mut self, write: &'a ShiftStateWrite) -> Answer<'a> {
        self.0.request(zonal::write_state(&self.0.client, write))
    }

    fn edit_pool(&mut self, edit: &'a PoolEdit) -> Answer<'a> {
        self.0.request(zonal::edit_pool(&self.0.client, edit))
    }

    fn edit_pool_copy(&mut self, step: &'a CopyStep) -> Answer<'a> {
        match (&step.edit, &step.uid) {
            (CopyEdit::Delete { pool }, Some(uid)) => {
                self.0.request(zonal::delete_copy(&self.0.client, pool, uid))
            }
            // Nobody deletes what was never seen.
            (CopyEdit::Delete { .. }, None) => Box::pin(async { Outcome::NotFound }),
            (edit, _) => self.0.request(zonal::replace_copy(&self.0.client, edit)),
        }
    }

    fn describe_shift_network(&mut self) -> Answer<'a> {
        let account = self.0.shift_account();
        Box::pin(async move {
            match account {
                Ok(account) => Outcome::ShiftNetwork(Box::new(account.describe_network().await)),
                Err(failure) => Outcome::Failed(failure),
            }
        })
    }

    fn list_zonal_shifts(&mut self, cluster_arn: Option<&'a str>) -> Answer<'a> {
        let account = self.0.shift_account();
        Box::pin(async move {
            match account {
                Ok(account) => {
                    Outcome::ShiftsListed(Box::new(account.list_shifts(cluster_arn).await))
                }
                Err(failure) => Outcome::Failed(failure),
            }
        })
    }

    fn solve(&mut self, _request: &'a SolveRequest) -> Answer<'a> {
        unreachable!("the solver pool carries out solves")
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::client::provider::NoProvider;

    #[tokio::test]
    async fn nothing_is_sent_once_another_may_lead() {
        const OFTEN: NonZeroU32 = NonZeroU32::new(100).unwrap();
        // Nobody listens there: whatever is sent fails in another way.
        let config = kube::Config::new("http://127.0.0.1:1".parse().unwrap());
        let client = Client::try_from(config).unwrap();
        let executor = Executor::new(client, Arc::new(NoProvider), Pace::new(OFTEN, OFTEN));
        let delete = ActionKind::DeleteNode { name: "node".into(), uid: "uid".into() };
        let sent = executor.carry_out(&delete).await;
        assert!(!format!("{sent:?}").contains("not sent"), "{sent:?}");
        let executor = executor.with_lease(LeaseTerm::not_begun());
        for kind in [delete, ActionKind::ListInstances] {
            let outcome = executor.carry_out(&kind).await;
            assert!(format!("{outcome:?}").contains("not sent: the leader lease"), "{outcome:?}");
        }
    }
}
