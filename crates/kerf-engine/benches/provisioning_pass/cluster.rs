//! An engine that knows a large cluster in which nothing happens but pods that come.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_engine::action::ActionKind;
use kerf_engine::condition::{Condition, Conditions, Status};
use kerf_engine::event::{Event, Kind, Object};
use kerf_engine::observed::{
    Claim, ClaimStatus, DoNotDisrupt, Meta, Node, NodeClass, NodeProfile, Pod, PodKey, PodOwner,
    PodPhase, PodTimes, Pool, PoolStatus, Revision,
};
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_engine::time::{Span, Time};
use kerf_engine::{Engine, Settings};
use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;
use kerf_model::node::{BoundPod, Node as ModelNode};
use kerf_model::pod::PodShape;
use kerf_model::pool::NodePool;
use kerf_scheduler::{CancelFlag, PlacementProblem, SolverCache};

const START: Time = Time::from_seconds(1_735_689_600);
/// Pods that wait for one pass. Some fit onto nodes there are, some need a new one.
const PODS_PER_PASS: usize = 10;

pub(crate) struct LargeCluster {
    /// Before any pod came; every pass begins with it, so that all are alike.
    quiet: Engine,
    engine: Engine,
    now: Time,
    shapes: Vec<Arc<PodShape>>,
    cache: SolverCache,
    revision: u64,
}

impl LargeCluster {
    /// The nodes and pods of a problem, as the API server would tell of them.
    pub(crate) fn new(problem: &PlacementProblem) -> Self {
        let pool = &problem.pools[0];
        let class = pool.pool.template.spec.node_class.clone();
        let mut settings = Settings {
            provider: ProviderInfo::with_node_classes([NodeClassKind::named(
                &class.group,
                &class.kind,
            )]),
            ..Settings::default()
        };
        settings.scheduler.label_rules = problem.settings.label_rules.clone();
        let shapes = waiting_shapes(problem);
        let engine = Engine::new(settings);
        let (quiet, cache) = (engine.clone(), SolverCache::default());
        let mut cluster = Self { quiet, engine, now: START, shapes, cache, revision: 0 };
        let class = NodeClass::new(meta(&class.name), class);
        cluster.see(Object::NodeClass(class.with_ready(Status::True, "Ready", "")));
        cluster.see(Object::Pool(observed_pool(&pool.pool)));
        let (name, instance_types) = (pool.pool.name.as_str().into(), pool.instance_types.clone());
        cluster.tell(Event::Offered { pool: name, instance_types });
        for node in &problem.nodes {
            cluster.see(Object::Claim(observed_claim(node, &pool.pool)));
            cluster.see(Object::Node(observed_node(node)));
            node.pods.iter().for_each(|pod| cluster.see(Object::Pod(running_pod(pod, node))));
        }
        Kind::ALL.into_iter().for_each(|kind| cluster.tell(Event::Listed(kind)));
        let _nobody_answers = cluster.engine.decide(START);
        cluster.quiet = cluster.engine.clone();
        cluster
    }

    /// One pass, so that what passes share is ready.
    pub(crate) fn warm_up(&mut self) {
        self.pods_come();
        self.pass();
    }

    /// Pods come to the quiet cluster, and their window is about to close.
    pub(crate) fn pods_come(&mut self) {
        self.engine = self.quiet.clone();
        self.now = START + Span::from_seconds(1);
        for number in 0..PODS_PER_PASS {
            let shape = self.shapes[number % self.shapes.len()].clone();
            let name = format!("waits-{}-{number}", self.revision);
            let phase = PodPhase::Unschedulable { since: self.now };
            let pod = Pod { phase, is_ready: false, ..observed_pod(&name, shape) };
            self.see(Object::Pod(pod));
        }
        let orders = self.engine.decide(self.now);
        assert!(orders.actions.iter().all(|it| !matches!(it.kind, ActionKind::Solve(_))));
        self.now = self.now + Span::from_seconds(2);
    }

    /// The window closes: plan, solve, conclude.
    pub(crate) fn pass(&mut self) {
        let orders = self.engine.decide(self.now);
        let solve = orders.actions.into_iter().find_map(|action| match action.kind {
            ActionKind::Solve(request) => Some((action.id, request)),
            _ => None,
        });
        let (action, request) = solve.expect("pods wait, so a solve is asked for");
        let outcome = request.solve_with(&mut self.cache, &CancelFlag::default());
        self.engine.handle(Event::Finished { action, outcome }, self.now);
        let orders = self.engine.decide(self.now);
        let is_claim = |kind: &ActionKind| matches!(kind, ActionKind::CreateClaim(_));
        assert!(
            orders.actions.iter().any(|action| is_claim(&action.kind)),
            "large pods need nodes"
        );
    }

    fn see(&mut self, mut object: Object) {
        self.revision += 1;
        object.meta_mut().revision = Revision(self.revision);
        self.tell(Event::Seen(Box::new(object)));
    }

    fn tell(&mut self, event: Event) {
        self.engine.handle(event, self.now);
    }
}

/// Plain pods, pods that keep level over zones, and pods that no node there is has headroom for.
fn waiting_shapes(problem: &PlacementProblem) -> Vec<Arc<PodShape>> {
    let running = problem.nodes.iter().flat_map(|node| &node.pods).map(|pod| &pod.pod.shape);
    let mut running = running.cloned();
    let plain = running.clone().find(|shape| shape.spreads.is_empty()).expect("some are plain");
    let spread = running.find(|shape| !shape.spreads.is_empty()).expect("some are spread");
    let whole_node = problem.nodes[0].allocatable.clone();
    let large = Arc::new(PodShape { requests: whole_node, ..PodShape::clone(&plain) });
    vec![plain, spread, large]
}

fn meta(name: &str) -> Meta {
    Meta {
        name: name.into(),
        uid: format!("{name}-uid").into(),
        revision: Revision(0),
        generation: 1,
        created_at: START,
        deleting_since: None,
    }
}

fn all_true(kinds: &[&str]) -> Conditions {
    let condition = |kind: &&str| Condition {
        kind: (*kind).to_owned(),
        status: Status::True,
        reason: (*kind).to_owned(),
        message: String::new(),
        changed_at: START,
        observed_generation: 1,
    };
    Conditions(kinds.iter().map(condition).collect())
}

fn observed_pool(pool: &Arc<NodePool>) -> Pool {
    let conditions = all_true(&["ValidationSucceeded", "NodeClassReady", "Ready"]);
    Pool {
        meta: meta(&pool.name),
        spec: pool.clone(),
        annotations: BTreeMap::new(),
        faults: Vec::new(),
        status: PoolStatus { conditions, ..PoolStatus::default() },
    }
}

fn observed_claim(node: &ModelNode, pool: &NodePool) -> Claim {
    let name = format!("claim-{}", node.name);
    Claim {
        meta: meta(&name),
        spec: NodeClaim {
            name,
            labels: node.labels.clone(),
            annotations: BTreeMap::new(),
            node: pool.template.spec.clone(),
            requests: node.allocatable.clone(),
        },
        finalizers: vec![TERMINATION_FINALIZER.to_owned()],
        owner_pool: Some(format!("{}-uid", pool.name).into()),
        status: ClaimStatus {
            node_name: Some(node.name.as_str().into()),
            provider_id: Some(provider_id(node)),
            capacity: node.capacity.clone(),
            allocatable: node.allocatable.clone(),
            conditions: all_true(&["Launched", "Registered", "Initialized", "Ready"]),
            ..ClaimStatus::default()
        },
    }
}

fn observed_node(node: &ModelNode) -> Node {
    Node {
        meta: meta(&node.name),
        labels: node.labels.clone(),
        annotations: BTreeMap::new(),
        finalizers: vec![TERMINATION_FINALIZER.to_owned()],
        owner_claim: Some(format!("claim-{}-uid", node.name).into()),
        provider_id: Some(provider_id(node)),
        taints: Vec::new(),
        capacity: node.capacity.clone(),
        allocatable: node.allocatable.clone(),
        is_ready: true,
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    }
}

fn provider_id(node: &ModelNode) -> Arc<str> {
    format!("kwok://{}", node.name).into()
}

fn running_pod(bound: &BoundPod, node: &ModelNode) -> Pod {
    let phase = PodPhase::Bound { node: node.name.as_str().into() };
    Pod { phase, ..observed_pod(&bound.pod.name, bound.pod.shape.clone()) }
}

fn observed_pod(name: &str, shape: Arc<PodShape>) -> Pod {
    Pod {
        key: PodKey { namespace: shape.namespace.as_str().into(), name: name.into() },
        meta: meta(name),
        shape,
        phase: PodPhase::Unjudged,
        owner: PodOwner::Other,
        is_ready: true,
        started_at: Some(START),
        times: PodTimes::default(),
        is_critical: false,
        priority: 0,
        deletion_cost: 0,
        do_not_disrupt: DoNotDisrupt::Absent,
        termination_grace: Some(Span::from_seconds(30)),
        unusable: None,
        profile: Arc::default(),
    }
}
