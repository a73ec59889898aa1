//! The calls a controller makes, by the parts of Kerf that make them.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Event, Node, ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kerf_api::node_overlay::NodeOverlay;
use kerf_api::node_pool::NodePool;
use kerf_engine::Settings;
use kerf_engine::action::{
    ActionKind, CordonChange, Launch, MetadataPatch, NodePatch, RebootOrder,
};
use kerf_engine::condition::{Conditions, Status};
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::{Claim, ClaimStatus, NodeClass, PodKey, PoolStatus, Revision};
use kerf_kube::{
    Controller, EventSpec, Executor, Health, Metrics, NoticeDelivery, Pace, Provider,
    SchedulerConfig, Shows, no_notices,
};
use kerf_runtime::clock::Clock;
use kerf_runtime::metrics::Registry;
use kerf_runtime::{Candidate, LeaseTerm};
use kube::ResourceExt;
use kube::api::{Api, PostParams};
use serde_json::json;
use tokio::sync::{mpsc, watch};

use crate::account::{Account, SOON};
use crate::objects;

const LEASE: &str = "karpenter-leader-election";
const OFTEN: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// Makes calls as an account.
pub(crate) struct Calls<'a> {
    pub(crate) account: &'a Account,
}

impl<'a> Calls<'a> {
    /// The calls of this account, in a cluster with a pool, a node and pods on it.
    pub(crate) fn of(account: &'a Account) -> Self {
        account.control_plane.apply(&objects::all()).unwrap();
        Self { account }
    }

    /// Watches everything the controller watches, until all of it has been listed.
    pub(crate) fn watch(&self, provider: impl Provider, has_default_spreads: bool) {
        let spreads = if has_default_spreads { objects::default_spreads() } else { json!({}) };
        let default_spreads = SchedulerConfig::from_value(spreads).unwrap().default_spreads;
        let settings = Settings { node_overlays: true, ..Settings::default() };
        self.run(Controller {
            default_spreads,
            ..controller(self.account, provider, settings, no_notices())
        });
    }

    /// Runs a controller that does not lead, until all it watches has been listed.
    pub(crate) fn run<P: Provider>(&self, controller: Controller<P>) {
        let health = controller.health.clone();
        let kinds: Vec<_> = controller.settings.kinds().collect();
        let (_lead, leading) = watch::channel(false);
        let is_ready = async {
            health.until_listed(&kinds).await;
            while health.readiness().is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        self.account.runtime.block_on(async {
            tokio::select! {
                () = is_ready => {}
                ended = controller.run(leading, std::future::pending()) => panic!("{ended:?}"),
                () = tokio::time::sleep(SOON) => panic!("{:?}", health.readiness()),
            }
        });
    }

    /// Takes the Lease and gives it back, and records an Event.
    pub(crate) fn lead(&self) {
        self.hold(LEASE);
        self.record();
    }

    /// Takes a Lease and gives it back.
    pub(crate) fn hold(&self, lease: &str) {
        let (client, namespace) = (self.account.client(), self.account.who.namespace);
        self.account.runtime.block_on(async {
            let mut candidate = Candidate::new(client, namespace, lease, "test".to_owned());
            candidate.acquire().await;
            candidate.release().await;
        });
    }

    /// Records an Event about an object without a namespace.
    pub(crate) fn record(&self) {
        let client = self.account.client();
        self.account.runtime.block_on(async {
            let spec = EventSpec {
                component: "karpenter",
                is_warning: false,
                reason: "Tested",
                message: "may be recorded",
            };
            let about = ObjectReference {
                kind: Some("Node".to_owned()),
                name: Some("node".to_owned()),
                ..ObjectReference::default()
            };
            let event = spec.about(about, Time(jiff::Timestamp::UNIX_EPOCH));
            let namespace = event.namespace().unwrap();
            let api = Api::<Event>::namespaced(client, &namespace);
            api.create(&PostParams::default(), &event).await.unwrap();
        });
    }

    /// Carries out every action that writes to the API server.
    pub(crate) fn write(&self, provider: impl Provider) {
        let executor = self.executor(provider);
        let claim = self.create_claim(&executor);
        let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
        let patch = MetadataPatch {
            annotations: [("example.com/a".to_owned(), "b".to_owned())].into(),
            ..MetadataPatch::default()
        };
        let patched = self.claim(&executor, &ActionKind::PatchClaim { name, revision, patch });
        let (name, revision) = (claim.meta.name.clone(), patched.meta.revision);
        let status = Box::new(ClaimStatus::default());
        self.done(&executor, &ActionKind::WriteClaimStatus { name, revision, status });
        let (name, uid) = (claim.meta.name.clone(), claim.meta.uid.clone());
        self.done(&executor, &ActionKind::DeleteClaim { name, uid });
        self.write_pool(&executor);
        self.write_overlay(&executor);
        self.write_node_and_pods(&executor);
    }

    /// Carries out every action that calls the cloud.
    pub(crate) fn launch(&self, provider: impl Provider) {
        let executor = self.executor(provider);
        let claim = self.create_claim(&executor);
        let name = claim.meta.name.clone();
        let class = NodeClass::new(claim.meta.clone(), claim.spec.node.node_class.clone());
        let node_class = Some(Arc::new(class.with_ready(Status::True, "Ready", "")));
        // Whether it works is the cloud's affair; whether it is allowed is in the audit log.
        for kind in [
            ActionKind::Launch(Box::new(Launch { claim, node_class, instance_types: None })),
            ActionKind::ListInstances,
            ActionKind::Reboot(Box::new(RebootOrder {
                claim: name.clone(),
                node: Some("none".into()),
                provider_id: None,
                operation: "first".into(),
            })),
            ActionKind::Terminate { claim: name, provider_id: None },
        ] {
            self.account.runtime.block_on(executor.carry_out(&kind));
        }
    }

    pub(crate) fn executor<P: Provider>(&self, provider: P) -> Executor<P> {
        Executor::new(self.account.client(), Arc::new(provider), Pace::new(OFTEN, OFTEN))
    }

    /// Twice: the second time it is found to exist.
    fn create_claim<P: Provider>(&self, executor: &Executor<P>) -> Claim {
        let pool = self.pool();
        let new = objects::claim(&pool.uid().unwrap());
        self.claim(executor, &ActionKind::CreateClaim(Box::new(new.clone())));
        self.claim(executor, &ActionKind::CreateClaim(Box::new(new)))
    }

    fn write_pool<P: Provider>(&self, executor: &Executor<P>) {
        let annotations = [("example.com/a".to_owned(), "b".to_owned())].into();
        let (name, revision) = ("pool".into(), self.revision_of_pool());
        self.done(executor, &ActionKind::PatchPool { name, revision, annotations });
        let (name, revision) = ("pool".into(), self.revision_of_pool());
        let status = Box::new(PoolStatus::default());
        self.done(executor, &ActionKind::WritePoolStatus { name, revision, status });
    }

    fn write_overlay<P: Provider>(&self, executor: &Executor<P>) {
        let overlays = Api::<NodeOverlay>::all(self.admin());
        let overlay = self.account.runtime.block_on(overlays.get("overlay")).unwrap();
        let revision = Revision(overlay.resource_version().unwrap().parse().unwrap());
        let (name, conditions) = ("overlay".into(), Conditions::default());
        self.done(executor, &ActionKind::WriteOverlayStatus { name, revision, conditions });
    }

    fn write_node_and_pods<P: Provider>(&self, executor: &Executor<P>) {
        let nodes = Api::<Node>::all(self.admin());
        let node = self.account.runtime.block_on(nodes.get("node")).unwrap();
        let uid: Arc<str> = node.uid().unwrap().into();
        let patch = NodePatch { cordon: CordonChange::Cordon, ..NodePatch::default() };
        self.done(
            executor,
            &ActionKind::PatchNode { name: "node".into(), uid: uid.clone(), patch },
        );
        let key = |name: &str| PodKey { namespace: "default".into(), name: name.into() };
        let pods = Api::<Pod>::namespaced(self.admin(), "default");
        let pod = |name| self.account.runtime.block_on(pods.get(name)).unwrap().uid().unwrap();
        let (pod_key, pod_uid) = (key("evicted"), pod("evicted").into());
        self.done(executor, &ActionKind::EvictPod { pod: pod_key, uid: pod_uid });
        let (pod_key, pod_uid) = (key("deleted"), pod("deleted").into());
        let kind = ActionKind::DeletePod { pod: pod_key, uid: pod_uid, grace_seconds: 1 };
        self.done(executor, &kind);
        self.done(executor, &ActionKind::DeleteNode { name: "node".into(), uid });
    }

    /// Carries an action out that must succeed.
    pub(crate) fn done<P: Provider>(&self, executor: &Executor<P>, kind: &ActionKind) -> Outcome {
        let outcome = self.account.runtime.block_on(executor.carry_out(kind));
        assert!(
            matches!(outcome, Outcome::Done | Outcome::Stored(_)),
            "{kind:?} came to {outcome:?}"
        );
        outcome
    }

    fn claim<P: Provider>(&self, executor: &Executor<P>, kind: &ActionKind) -> Claim {
        match self.done(executor, kind) {
            Outcome::Stored(object) => match *object {
                Object::Claim(claim) => claim,
                other => panic!("{kind:?} stored {other:?}"),
            },
            other => panic!("{kind:?} came to {other:?}"),
        }
    }

    fn revision_of_pool(&self) -> Revision {
        Revision(self.pool().resource_version().unwrap().parse().unwrap())
    }

    fn pool(&self) -> NodePool {
        self.account.runtime.block_on(Api::all(self.admin()).get("pool")).unwrap()
    }

    pub(crate) fn admin(&self) -> kube::Client {
        self.account.runtime.block_on(self.account.control_plane.client()).unwrap()
    }
}

/// A controller with the account's rights.
pub(crate) fn controller<P: Provider>(
    account: &Account,
    provider: P,
    settings: Settings,
    notices: mpsc::Receiver<NoticeDelivery>,
) -> Controller<P> {
    Controller {
        client: account.client(),
        provider: Arc::new(provider),
        shifted_zones: None,
        settings,
        default_spreads: Vec::new(),
        pace: Pace::new(OFTEN, OFTEN),
        health: Health::default(),
        metrics: Metrics::new(Registry::default(), Shows::Everything),
        // Nobody asks for metrics.
        scrapes: mpsc::channel(1).1,
        notices,
        journal: None,
        zonal_shifts: None,
        legacy: None,
        clock: Clock::default(),
        lease: LeaseTerm::unlimited(),
    }
}
