//! An engine that knows a large cluster in which nothing happens but pods that come.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use kerf_engine::action::{Action, ActionClass, ActionId, ActionKind};
use kerf_engine::condition::{Condition, Conditions, Status};
use kerf_engine::event::{Event, Kind, Object};
use kerf_engine::notice::{Notice, NoticeId, NoticeKind};
use kerf_engine::observed::{
    Claim, ClaimStatus, DoNotDisrupt, Meta, Node, NodeClass, NodeProfile, Pod, PodKey, PodOwner,
    PodPhase, PodTimes, Pool, PoolStatus, Revision,
};
use kerf_engine::provider::{NodeClassKind, ProviderInfo};
use kerf_engine::solve::SolveRequest;
use kerf_engine::time::{Span, Time};
use kerf_engine::{Engine, Settings, World};
use kerf_model::claim::NodeClaim;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;
use kerf_model::node::{BoundPod, Node as ModelNode};
use kerf_model::pod::PodShape;
use kerf_model::pool::NodePool;
use kerf_scheduler::{CancelFlag, PlacementProblem, SolverCache};

const START: Time = Time::from_seconds(1_735_689_600);
/// Pods that wait for one pass. Some fit onto nodes there are, some need a new one.
const PODS_PER_PASS: usize = 10;
const CHANGES_BEFORE: usize = 100;
/// Instances that are taken one after the other stand far apart; a prime, so that each is taken once.
const NOTICE_STRIDE: usize = 7_919;

pub(crate) struct LargeCluster {
    /// Before any pod came; every pass begins with it, so that all are alike.
    quiet: Engine,
    engine: Engine,
    now: Time,
    shapes: Vec<Arc<PodShape>>,
    cache: SolverCache,
    revision: u64,
    running: Vec<Pod>,
    nodes: usize,
    changes: usize,
    notices: usize,
    /// What was copied for a scrape.
    copied: Option<(World, Time)>,
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
        let (nodes, now) = (problem.nodes.len(), START);
        let on_nodes =
            problem.nodes.iter().flat_map(|node| node.pods.iter().map(move |pod| (pod, node)));
        let running: Vec<Pod> = on_nodes.map(|(pod, node)| running_pod(pod, node)).collect();
        let (revision, changes, notices, copied) = (0, 0, 0, None);
        let mut cluster = Self {
            quiet,
            engine,
            now,
            shapes,
            cache,
            revision,
            running,
            nodes,
            changes,
            notices,
            copied,
        };
        let class = NodeClass::new(meta(&class.name), class);
        cluster.see(Object::NodeClass(class.with_ready(Status::True, "Ready", "")));
        cluster.see(Object::Pool(observed_pool(&pool.pool)));
        let (name, instance_types) = (pool.pool.name.as_str().into(), pool.instance_types.clone());
        cluster.tell(Event::Offered { pool: name, instance_types });
        for node in &problem.nodes {
            cluster.see(Object::Claim(observed_claim(node, &pool.pool)));
            cluster.see(Object::Node(observed_node(node)));
        }
        cluster.running.clone().into_iter().for_each(|pod| cluster.see(Object::Pod(pod)));
        Kind::ALL.into_iter().for_each(|kind| cluster.tell(Event::Listed(kind)));
        let orders = cluster.engine.decide(START);
        let is_about_each = |kind: &ActionKind| {
            matches!(kind, ActionKind::PatchClaim { .. } | ActionKind::PatchNode { .. })
        };
        assert!(
            !orders.actions.iter().any(|it| is_about_each(&it.kind)),
            "nodes are as they should"
        );
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

    /// Nobody waits and nothing changes.
    pub(crate) fn is_quiet(&mut self) {
        self.copied = None;
        self.engine = self.quiet.clone();
        self.now = START + Span::from_seconds(1);
        black_box(self.engine.decide(self.now));
        // The allocator tidies up after the copy that is gone; nobody shall be charged for it.
        (0..CHANGES_BEFORE).for_each(|_| self.pod_changes());
    }

    /// A pod that runs becomes ready, or is no longer; the engine hears of it and decides.
    pub(crate) fn pod_changes(&mut self) {
        self.now = self.now + Span::from_millis(1);
        self.changes += 1;
        let mut pod = self.running[self.changes % self.running.len()].clone();
        pod.is_ready = self.changes / self.running.len() % 2 == 1;
        self.see(Object::Pod(pod));
        black_box(self.engine.decide(self.now));
    }

    /// An instance is about to be taken; the engine hears of it and orders what must be done.
    pub(crate) fn spot_notice(&mut self) {
        self.now = self.now + Span::from_millis(1);
        self.notices += 1;
        let number = self.notices * NOTICE_STRIDE % self.nodes;
        let instances = vec![format!("node-{number}").into()];
        let id = NoticeId(self.notices as u64);
        let notice = Notice::new(id, NoticeKind::SpotInterrupted, instances);
        self.tell(Event::Noticed(notice));
        let is_urgent = |action: &Action| action.class == ActionClass::Urgent;
        let mut orders = self.engine.decide(self.now);
        while !orders.actions.iter().any(is_urgent) {
            let next = self.engine.next_wake().expect("something is left to do");
            assert!(next <= self.now, "a notice has something written at once, not at {next:?}");
            orders = self.engine.decide(self.now);
        }
    }

    /// Copies what the page of a scrape is written from. Who writes it lets go of the copy.
    pub(crate) fn copy_for_scrape(&mut self) {
        self.copied = Some(self.snapshot());
        black_box(&self.copied);
    }

    /// All that is known, and the time it is there.
    pub(crate) fn snapshot(&self) -> (World, Time) {
        (self.engine.world().clone(), self.now)
    }

    /// What is asked of the solver when the window closes.
    pub(crate) fn solve_request(&mut self) -> SolveRequest {
        self.ask().1
    }

    fn ask(&mut self) -> (ActionId, SolveRequest) {
        let orders = self.engine.decide(self.now);
        let solve = orders.actions.into_iter().find_map(|action| match action.kind {
            ActionKind::Solve(request) => Some((action.id, request)),
            _ => None,
        });
        solve.expect("pods wait, so a solve is asked for")
    }

    /// The window closes: plan, solve, conclude.
    pub(crate) fn pass(&mut self) {
        let (action, request) = self.ask();
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
            labels: labels(node),
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
        labels: labels(node),
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

/// The engine labels nodes and claims with their node class.
fn labels(node: &ModelNode) -> BTreeMap<String, String> {
    let class = ("karpenter.kwok.sh/kwoknodeclass".to_owned(), "default".to_owned());
    node.labels.clone().into_iter().chain([class]).collect()
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
        has_local_data: false,
        unusable: None,
        profile: Arc::default(),
    }
}
