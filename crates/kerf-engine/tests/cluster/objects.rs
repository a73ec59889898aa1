//! Objects to begin stories with.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::condition::Status;
use kerf_engine::event::Object;
use kerf_engine::observed::{
    Claim, ClaimStatus, DoNotDisrupt, Meta, Node, NodeClass, NodeProfile, Pod, PodKey, PodOwner,
    PodPhase, PodTimes, Pool, PoolStatus, Revision, VolumeAttachment,
};
use kerf_engine::time::{Span, Time};
use kerf_model::budget::BudgetList;
use kerf_model::claim::NodeClaim;
use kerf_model::duration::{GoDuration, NillableDuration};
use kerf_model::labels::well_known::{NODE_POOL, TERMINATION_FINALIZER};
use kerf_model::node_spec::{NodeClassRef, NodeSpec};
use kerf_model::pod::PodShape;
use kerf_model::pool::{ConsolidationPolicy, Disruption, NodePool, NodeTemplate, Sizing};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;

use super::START;

pub(crate) const CLASS_GROUP: &str = "karpenter.kwok.sh";
pub(crate) const CLASS_KIND: &str = "KWOKNodeClass";

pub(crate) fn meta(name: &str) -> Meta {
    Meta {
        name: name.into(),
        uid: format!("{name}-uid").into(),
        revision: Revision(0),
        generation: 1,
        created_at: START,
        deleting_since: None,
    }
}

pub(crate) fn class_ref() -> NodeClassRef {
    NodeClassRef {
        group: CLASS_GROUP.to_owned(),
        kind: CLASS_KIND.to_owned(),
        name: "default".to_owned(),
    }
}

pub(crate) fn node_class() -> NodeClass {
    NodeClass::new(meta("default"), class_ref()).with_ready(Status::True, "Ready", "")
}

pub(crate) fn node_spec() -> NodeSpec {
    NodeSpec {
        requirements: Vec::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        node_class: class_ref(),
        termination_grace: None,
        expire_after: NillableDuration::NEVER,
    }
}

/// A pool whose nodes are never consolidated.
pub(crate) fn pool(name: &str) -> Pool {
    let template =
        NodeTemplate { labels: BTreeMap::new(), annotations: BTreeMap::new(), spec: node_spec() };
    let spec = NodePool {
        name: name.to_owned(),
        weight: 0,
        sizing: Sizing::Dynamic,
        limits: ResourceList::new(),
        disruption: Disruption {
            policy: ConsolidationPolicy::WhenEmpty,
            consolidate_after: NillableDuration::NEVER,
            budgets: BudgetList::default(),
        },
        template,
        hash: "4711".to_owned(),
    };
    Pool {
        meta: meta(name),
        spec: Arc::new(spec),
        annotations: BTreeMap::new(),
        faults: Vec::new(),
        status: PoolStatus::default(),
    }
}

/// A claim of the pool `pool`, stored with its finalizer.
pub(crate) fn claim(name: &str) -> Claim {
    let labels = BTreeMap::from([
        (NODE_POOL.to_owned(), "pool".to_owned()),
        (format!("{CLASS_GROUP}/kwoknodeclass"), "default".to_owned()),
    ]);
    let spec = NodeClaim {
        name: name.to_owned(),
        labels,
        annotations: BTreeMap::new(),
        node: node_spec(),
        requests: resources("1", "1Gi"),
    };
    Claim {
        meta: meta(name),
        spec,
        finalizers: vec![TERMINATION_FINALIZER.to_owned()],
        owner_pool: Some("pool-uid".into()),
        status: ClaimStatus::default(),
    }
}

pub(crate) fn grace(claim: &mut Claim, seconds: i64) {
    claim.spec.node.termination_grace = GoDuration::from_seconds(seconds);
}

pub(crate) fn pod_key(name: &str) -> PodKey {
    PodKey { namespace: "default".into(), name: name.into() }
}

/// A running pod of a deployment.
pub(crate) fn pod(name: &str, node: &str) -> Pod {
    Pod {
        key: pod_key(name),
        meta: meta(name),
        shape: Arc::new(PodShape::default()),
        phase: PodPhase::Bound { node: node.into() },
        owner: PodOwner::Other,
        is_ready: true,
        started_at: Some(START),
        times: PodTimes::default(),
        is_critical: false,
        priority: 0,
        deletion_cost: 0,
        do_not_disrupt: DoNotDisrupt::Absent,
        termination_grace: Some(Span::from_seconds(30)),
        has_local_data: false,
        unusable: None,
        profile: Arc::default(),
    }
}

pub(crate) fn attachment(name: &str, node: &str, volume_claim: &str) -> VolumeAttachment {
    let volume_claim = Some(volume_claim.into());
    VolumeAttachment { meta: meta(name), node: node.into(), volume_claim }
}

/// A node as it boots: not ready, and closed to pods until it is registered.
pub(crate) fn booting_node(claim: &Claim, provider_id: &Arc<str>, now: Time) -> Node {
    let name = format!("node-{}", claim.meta.name);
    let mut meta = meta(&name);
    meta.created_at = now;
    Node {
        meta,
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        owner_claim: None,
        provider_id: Some(provider_id.clone()),
        taints: vec![kerf_model::taint::unregistered()],
        capacity: resources("4", "16Gi"),
        allocatable: resources("3900m", "15Gi"),
        is_ready: false,
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    }
}

pub(crate) fn resources(cpu: &str, memory: &str) -> ResourceList {
    [("cpu", cpu), ("memory", memory)]
        .into_iter()
        .map(|(name, text)| (name, Quantity::parse(text).unwrap()))
        .collect()
}
