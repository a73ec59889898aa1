//! NodePool mode of zonal shifts, driven by events: messages, ARC, objects and time go in, and what
//! the engine asks for is done to a cluster in memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Failure, Key, Object, Outcome};
use kerf_engine::notice::{NoticeId, NoticeOutcome, Settled};
use kerf_engine::observed::{
    Meta, Node, NodeProfile, PoolManifest, PoolManifestKey, Revision, ShiftConfigMap, ShiftText,
};
use kerf_engine::time::Time;
use kerf_engine::zonal_shift::{
    ArcReading, ShiftNetwork, ShiftReport, ShiftSettings, ShiftStateWrite, StoreCause,
};
use kerf_engine::{Engine, Role, Settings};
use kerf_model::taint::UNSCHEDULABLE_KEY;
use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

/// 2023-11-16T00:00:00Z, the day of AWS's sample event.
const DAY: i64 = 1_700_092_800;
const AWAY: &str = "zonal-autoshift.eks.amazonaws.com/away-zones";

/// A cluster in memory and the engine that looks after it.
struct Cluster {
    engine: Engine,
    seconds: i64,
    pools: BTreeMap<String, Value>,
    nodes: BTreeMap<String, Node>,
    stored: Option<ShiftConfigMap>,
    /// What ARC lists, if it can be asked.
    arc: ArcReading,
    /// Actions that fail instead of being done.
    fails: fn(&ActionKind) -> Option<Failure>,
    actions: Vec<ActionKind>,
    reports: Vec<ShiftReport>,
    settled: Vec<Settled>,
    announced: u64,
    revision: u64,
}

fn settings() -> ShiftSettings {
    ShiftSettings {
        cluster_name: "prod".to_owned(),
        region: "us-west-2".to_owned(),
        namespace: "default".to_owned(),
        matching: Matching::Any,
        max_age_seconds: None,
        do_not_disrupt: false,
        taint_away_nodes: true,
        auto_mode_revert: AutoModeRevert::Delete,
    }
}

fn complete() -> ArcReading {
    let origins = [Origin::Autoshift, Origin::Fis, Origin::Manual, Origin::Practice];
    let listing = Listing { shifts: Vec::new(), complete_for: origins.into() };
    ArcReading { listing, is_complete: true, is_denied: false }
}

fn zone_table() -> ZoneTable {
    ZoneTable::new([
        ("usw2-az1", "us-west-2a"),
        ("usw2-az2", "us-west-2b"),
        ("usw2-az3", "us-west-2c"),
    ])
}

fn zone(letter: &str) -> String {
    format!("us-west-2{letter}")
}

fn zones(operator: &str, letters: &[&str]) -> Value {
    let values: Vec<_> = letters.iter().map(|letter| zone(letter)).collect();
    json!({"key": "topology.kubernetes.io/zone", "operator": operator, "values": values})
}

fn pool(name: &str, requirements: &[Value]) -> Value {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "resourceVersion": "1"},
        "spec": {"template": {"spec": {"nodeClassRef": class, "requirements": requirements}}},
    })
}

fn meta(name: &str, revision: u64) -> Meta {
    Meta {
        name: name.into(),
        uid: format!("uid-of-{name}").into(),
        revision: Revision(revision),
        generation: 1,
        created_at: Time::default(),
        deleting_since: None,
    }
}

fn node(name: &str, letter: &str, pool: &str) -> Node {
    let labels = [
        ("topology.kubernetes.io/zone".to_owned(), zone(letter)),
        ("karpenter.sh/nodepool".to_owned(), pool.to_owned()),
    ];
    Node {
        meta: meta(name, 1),
        labels: labels.into(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        owner_claim: None,
        provider_id: None,
        taints: Vec::new(),
        capacity: Default::default(),
        allocatable: Default::default(),
        is_ready: true,
        volume_limits: BTreeMap::new(),
        profile: NodeProfile::default(),
    }
}

fn is_cordoned(node: &Node) -> bool {
    node.taints.iter().any(|taint| taint.key == UNSCHEDULABLE_KEY)
}

fn never_fails(_: &ActionKind) -> Option<Failure> {
    None
}

/// The phase of a change to a node, pool or stand-in.
fn phase(action: &ActionKind) -> Option<u8> {
    match action {
        ActionKind::EditPool(edit) => Some(Step::Pool((**edit).clone()).phase()),
        ActionKind::EditPoolCopy(copy) => Some(Step::Copy(copy.edit.clone()).phase()),
        ActionKind::PatchNode { patch, .. } => {
            Some(if patch.annotations.contains_key(PROTECTED) { 0 } else { 4 })
        }
        _ => None,
    }
}

impl Cluster {
    fn new(pools: impl IntoIterator<Item = Value>) -> Self {
        Self::with(pools, [], settings())
    }

    fn with(
        pools: impl IntoIterator<Item = Value>,
        nodes: impl IntoIterator<Item = Node>,
        settings: ShiftSettings,
    ) -> Self {
        let named =
            |object: Value| (object["metadata"]["name"].as_str().unwrap().to_owned(), object);
        let mut cluster = Self {
            engine: engine(settings),
            seconds: 0,
            pools: pools.into_iter().map(named).collect(),
            nodes: nodes.into_iter().map(|node| (node.meta.name.to_string(), node)).collect(),
            stored: None,
            arc: complete(),
            fails: never_fails,
            actions: Vec::new(),
            reports: Vec::new(),
            settled: Vec::new(),
            announced: 0,
            revision: 1,
        };
        cluster.observe();
        cluster
    }

    /// Another process takes over: what the former one knew is gone.
    fn restart(&mut self) {
        self.engine = engine(settings());
        self.observe();
    }

    fn observe(&mut self) {
        self.tell(Event::LeadsShifts(true));
        let pools: Vec<_> = self.pools.keys().cloned().collect();
        let pools = pools.iter().map(|name| self.manifest(name)).map(Object::PoolManifest);
        let nodes = self.nodes.values().cloned().map(Object::Node);
        let stored = self.stored.clone().map(Object::ShiftConfigMap);
        let objects: Vec<Object> = pools.chain(nodes).chain(stored).collect();
        objects.into_iter().for_each(|object| self.tell(Event::Seen(Box::new(object))));
        for kind in Role::ZonalAutoshift.kinds().iter().copied() {
            self.tell(Event::Listed(kind));
        }
        self.settle();
    }

    fn manifest(&self, name: &str) -> PoolManifest {
        PoolManifest {
            meta: meta(name, self.revision),
            key: PoolManifestKey { kind: "NodePool".into(), name: name.into() },
            object: self.pools[name].clone().into(),
        }
    }

    fn now(&self) -> Time {
        Time::from_seconds(DAY + self.seconds)
    }

    fn tell(&mut self, event: Event) {
        let now = self.now();
        self.engine.handle(event, now);
    }

    fn state(&self) -> ShiftState {
        match self.stored.as_ref().map(|map| &map.state) {
            Some(ShiftText::Read(state)) => state.clone(),
            _ => ShiftState::default(),
        }
    }

    /// Somebody else writes the state.
    fn overwrite(&mut self, state: ShiftState) {
        self.revision += 1;
        let map = self.stored.as_mut().unwrap();
        (map.state, map.meta.revision) = (ShiftText::Read(state), Revision(self.revision));
        let map = Object::ShiftConfigMap(map.clone());
        self.tell(Event::Seen(Box::new(map)));
    }

    /// A message arrives; nothing is done about it yet.
    fn deliver(&mut self, detail_type: &str, zone_id: &str) -> NoticeId {
        self.announced += 1;
        let body = json!({
            "version": "0", "id": format!("event-{}", self.announced),
            "detail-type": detail_type, "source": "aws.arc-zonal-shift",
            "account": "111122223333", "region": "us-west-2", "resources": ["prod"],
            "time": UnixSeconds::at(DAY + self.seconds).to_string(),
            "detail": {"metadata": {"awayFrom": zone_id}},
        });
        let id = NoticeId(self.announced);
        self.tell(Event::Announced { id, body: body.to_string().into() });
        id
    }

    /// A second passes, a message arrives, and everything that follows is done.
    fn announce(&mut self, detail_type: &str, zone_id: &str) -> NoticeId {
        self.pass(1);
        let id = self.deliver(detail_type, zone_id);
        self.settle();
        id
    }

    /// Time passes, and what follows from that is done.
    fn pass(&mut self, seconds: i64) {
        self.seconds += seconds;
        self.settle();
    }

    fn settle(&mut self) {
        const ROUNDS_MAX: usize = 40;
        for _ in 0..ROUNDS_MAX {
            let actions = self.decide();
            if actions.is_empty() {
                return;
            }
            for action in actions {
                self.carry_out(&action);
            }
        }
        panic!("still not settled after {ROUNDS_MAX} rounds: {:#?}", self.actions.last());
    }

    fn decide(&mut self) -> Vec<Action> {
        let orders = self.engine.decide(self.now());
        self.reports.extend(orders.shift_reports);
        self.settled.extend(orders.settled);
        orders.actions
    }

    fn carry_out(&mut self, action: &Action) {
        self.actions.push(action.kind.clone());
        let outcome = match (self.fails)(&action.kind) {
            Some(failure) => Outcome::Failed(failure),
            None => self.done(&action.kind),
        };
        self.tell(Event::Finished { action: action.id, outcome });
    }

    fn done(&mut self, action: &ActionKind) -> Outcome {
        match action {
            ActionKind::WriteShiftState(write) => {
                let stored = self.write(write);
                Outcome::Stored(Box::new(Object::ShiftConfigMap(stored)))
            }
            ActionKind::DescribeShiftNetwork => Outcome::ShiftNetwork(Box::new(ShiftNetwork {
                zones: Some(zone_table()),
                cluster_arn: Some("arn:aws:eks:us-west-2:111122223333:cluster/prod".to_owned()),
                vpc_id: Some("vpc".to_owned()),
                subnets: Some(["a", "b", "c"].map(subnet).into()),
            })),
            ActionKind::ListZonalShifts { .. } => Outcome::ShiftsListed(Box::new(self.arc.clone())),
            ActionKind::EditPool(edit) => {
                let pool = self.pools.get_mut(&edit.pool.name).unwrap();
                *pool = edit.apply_to(pool);
                self.revision += 1;
                Outcome::Stored(Box::new(Object::PoolManifest(self.manifest(&edit.pool.name))))
            }
            ActionKind::PatchNode { name, patch, .. } => {
                self.revision += 1;
                let node = self.nodes.get_mut(&**name).unwrap();
                assert_eq!(patch.revision, Some(node.meta.revision), "an outdated node is written");
                node.annotations = patch.annotations(std::mem::take(&mut node.annotations));
                node.taints = patch.taints(std::mem::take(&mut node.taints));
                node.meta.revision = Revision(self.revision);
                Outcome::Stored(Box::new(Object::Node(node.clone())))
            }
            other => panic!("not an action of NodePool mode: {other:?}"),
        }
    }

    fn write(&mut self, write: &ShiftStateWrite) -> ShiftConfigMap {
        let revision = self.stored.as_ref().map(|map| map.meta.revision);
        assert_eq!(write.revision, revision, "an outdated state is written");
        self.revision += 1;
        let data = ShiftConfigMap::data(&write.state, &write.zones, write.damaged.as_deref());
        let map = ShiftConfigMap::read(meta("state", self.revision), write.name.clone(), &data);
        self.stored.insert(map).clone()
    }

    fn away(&self, pool: &str) -> &str {
        self.pools[pool]["metadata"]["annotations"][AWAY].as_str().unwrap_or_default()
    }

    fn requirements(&self, pool: &str) -> &Value {
        &self.pools[pool]["spec"]["template"]["spec"]["requirements"]
    }

    /// Labels of what was made of messages, in the order they were settled.
    fn results(&self) -> Vec<(NoticeId, &'static str)> {
        let label = |report: &ShiftReport| match report {
            ShiftReport::Received { received, .. } => Some(received.verdict.label()),
            _ => None,
        };
        let labels = self.reports.iter().filter_map(label);
        self.settled.iter().map(|settled| settled.id).zip(labels).collect()
    }
}

fn engine(settings: ShiftSettings) -> Engine {
    Engine::new(Settings {
        role: Role::ZonalAutoshift,
        zonal_shift: Some(settings),
        ..Settings::default()
    })
}

fn subnet(letter: &str) -> Subnet {
    Subnet {
        vpc_id: "vpc".to_owned(),
        zone: ZoneName::new(&zone(letter)),
        is_available: true,
        tags: BTreeMap::from([("karpenter.sh/discovery".to_owned(), "prod".to_owned())]),
    }
}

fn unavailable() -> Option<Failure> {
    Some(Failure::Unavailable { message: "no answer".to_owned() })
}

#[test]
fn a_zone_is_avoided_from_the_announcement_to_its_end_and_the_pool_comes_back_as_it_was() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    let before = cluster.pools["web"].clone();
    let start = cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!(cluster.away("web"), "us-west-2a");
    assert_eq!(*cluster.requirements("web"), json!([zones("In", &["b", "c"])]));
    let end = cluster.announce("Autoshift Completed", "usw2-az1");
    assert_eq!(cluster.pools["web"], before);
    assert_eq!(cluster.results(), [(start, "started"), (end, "ended")]);
}

#[test]
fn a_message_is_settled_only_when_its_effect_is_stored_and_pools_change_only_after() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.fails = |action| match action {
        ActionKind::WriteShiftState(_) => unavailable(),
        _ => None,
    };
    let id = cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!((cluster.results(), cluster.away("web")), (vec![], ""));
    cluster.fails = never_fails;
    cluster.pass(60);
    assert_eq!((cluster.results(), cluster.away("web")), (vec![(id, "started")], "us-west-2a"));
    let order = cluster.actions.iter().filter_map(|action| match action {
        ActionKind::WriteShiftState(write) => {
            matches!(write.cause, StoreCause::Messages(_)).then_some("store")
        }
        ActionKind::EditPool(_) => Some("edit"),
        _ => None,
    });
    let order: Vec<_> = order.collect();
    assert_eq!(order.last(), Some(&"edit"));
    assert_eq!(order.iter().filter(|call| **call == "edit").count(), 1);
}

#[test]
fn a_write_that_is_answered_after_the_watch_told_of_it_settles_the_message_once() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.seconds += 1;
    let id = cluster.deliver("Autoshift In Progress", "usw2-az1");
    let [store] = &cluster.decide()[..] else { panic!("the state is to be stored") };
    let stored = cluster.done(&store.kind);
    let Outcome::Stored(map) = &stored else { panic!("{stored:?}") };
    cluster.tell(Event::Seen(map.clone()));
    cluster.settle();
    assert_eq!(cluster.results(), [(id, "started")]);
    cluster.tell(Event::Finished { action: store.id, outcome: stored });
    cluster.settle();
    assert_eq!(cluster.results(), [(id, "started")]);
}

#[test]
fn somebody_else_s_write_comes_first_and_both_count() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    cluster.seconds += 1;
    let id = cluster.deliver("Autoshift In Progress", "usw2-az1");
    let actions = cluster.decide();
    // `kerf zonal-shift start` wrote meanwhile.
    let zone = ZoneId::new("usw2-az2");
    cluster.overwrite(cluster.state().start_manually(&zone, UnixSeconds::at(DAY)));
    for Action { id: action, .. } in actions {
        let outcome = Outcome::Failed(Failure::Conflict);
        cluster.tell(Event::Finished { action, outcome });
    }
    cluster.settle();
    assert_eq!(cluster.results(), [(id, "started")]);
    assert_eq!(cluster.away("web"), "us-west-2a,us-west-2b");
}

#[test]
fn a_process_that_dies_after_storing_is_followed_by_one_that_edits_pools() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.fails = |action| phase(action).and_then(|_| unavailable());
    cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!((cluster.results().len(), cluster.away("web")), (1, ""));
    cluster.fails = never_fails;
    cluster.restart();
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn a_message_about_an_unknown_zone_makes_zones_be_read_again_and_then_stays_in_the_queue() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    let described = |cluster: &Cluster| {
        let is_it = |action: &&ActionKind| matches!(action, ActionKind::DescribeShiftNetwork);
        cluster.actions.iter().filter(is_it).count()
    };
    assert_eq!(described(&cluster), 1);
    cluster.pass(20);
    let id = cluster.announce("Autoshift In Progress", "usw2-az9");
    assert_eq!(described(&cluster), 2);
    assert_eq!(cluster.results(), [(id, "unknown-zone")]);
    assert_eq!(cluster.settled, [Settled { id, outcome: NoticeOutcome::NotInTime }]);
    cluster.announce("Autoshift In Progress", "usw2-az9");
    assert_eq!(described(&cluster), 2, "not more often than every ten seconds");
}

#[test]
fn a_lost_end_is_believed_once_arc_lists_nothing_twice() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    let before = cluster.pools["web"].clone();
    cluster.announce("Autoshift In Progress", "usw2-az1");
    cluster.pass(30);
    cluster.pass(30);
    // The answer before the announcement was asked for counts for nothing.
    cluster.pass(270);
    assert_eq!(cluster.pools["web"], before);
    let is_correction = |report: &ShiftReport| matches!(report, ShiftReport::Corrected { .. });
    assert_eq!(cluster.reports.iter().filter(|report| is_correction(report)).count(), 1);
}

#[test]
fn without_arc_a_practice_run_ends_by_age() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.arc = ArcReading { is_denied: true, ..ArcReading::default() };
    cluster.pass(300);
    let before = cluster.pools["web"].clone();
    cluster.announce("Practice Run Started", "usw2-az1");
    cluster.pass(3599);
    assert_eq!(cluster.away("web"), "us-west-2a");
    cluster.pass(1);
    assert_eq!(cluster.pools["web"], before);
}

#[test]
fn nodes_are_protected_before_pools_change_unless_that_fails() {
    let nodes = || [node("in-a", "a", "web"), node("in-b", "b", "web")];
    let settings = ShiftSettings { do_not_disrupt: true, ..settings() };
    let pools = || [pool("web", &[zones("In", &["a", "b"])])];
    let mut cluster = Cluster::with(pools(), nodes(), settings.clone());
    cluster.announce("Autoshift In Progress", "usw2-az1");
    let applied = cluster.actions.iter().filter_map(phase);
    assert_eq!(applied.collect::<Vec<_>>(), [0, 2]);
    assert!(is_cordoned(&cluster.nodes["in-a"]));
    assert_eq!(cluster.nodes["in-b"], node("in-b", "b", "web"));

    let mut cluster = Cluster::with(pools(), nodes(), settings);
    cluster.fails = |action| match phase(action) {
        Some(0) => unavailable(),
        _ => None,
    };
    cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn deleting_the_stored_state_ends_no_shift() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.announce("Autoshift In Progress", "usw2-az1");
    let gone = cluster.stored.take().unwrap();
    cluster.revision += 1;
    let revision = Revision(cluster.revision);
    cluster.tell(Event::Gone { key: Key::ShiftConfigMap(gone.key), revision });
    cluster.settle();
    assert!(cluster.stored.is_some());
    assert_eq!(cluster.state().away().len(), 1);
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn damaging_the_stored_state_ends_no_shift_and_keeps_what_was_damaged() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.announce("Autoshift In Progress", "usw2-az1");
    cluster.revision += 1;
    let map = cluster.stored.as_mut().unwrap();
    (map.state, map.meta.revision) =
        (ShiftText::Damaged("{".to_owned()), Revision(cluster.revision));
    let map = map.clone();
    cluster.tell(Event::Seen(Box::new(Object::ShiftConfigMap(map))));
    cluster.settle();
    let Some(ActionKind::WriteShiftState(write)) = cluster.actions.last() else {
        panic!("{:?}", cluster.actions.last())
    };
    assert_eq!(write.damaged.as_deref(), Some("{"));
    assert_eq!(cluster.state().away().len(), 1);
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn nothing_is_done_about_a_state_that_a_newer_kerf_wrote() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    let actions = cluster.actions.len();
    cluster.revision += 1;
    let map = cluster.stored.as_mut().unwrap();
    (map.state, map.meta.revision) =
        (ShiftText::Newer("run the newer Kerf".to_owned()), Revision(cluster.revision));
    let map = map.clone();
    cluster.tell(Event::Seen(Box::new(Object::ShiftConfigMap(map))));
    cluster.announce("Autoshift In Progress", "usw2-az1");
    cluster.pass(600);
    assert_eq!(cluster.actions.len(), actions);
    assert_eq!(cluster.engine.world().zonal_shift.state_failure(), Some("run the newer Kerf"));
}

#[test]
fn who_does_not_lead_does_nothing_and_gives_messages_back() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.seconds += 1;
    let open = cluster.deliver("Autoshift In Progress", "usw2-az1");
    cluster.tell(Event::LeadsShifts(false));
    let late = cluster.deliver("Autoshift In Progress", "usw2-az2");
    let actions = cluster.actions.len();
    cluster.pass(600);
    assert_eq!(cluster.actions.len(), actions);
    let again = |id| Settled { id, outcome: NoticeOutcome::NotInTime };
    assert_eq!(cluster.settled, [again(open), again(late)]);
    cluster.tell(Event::LeadsShifts(true));
    cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn a_node_that_only_breathes_is_no_reason_to_look_at_pools() {
    let nodes = [node("in-a", "a", "web")];
    let mut cluster = Cluster::with([pool("web", &[zones("In", &["a", "b"])])], nodes, settings());
    let looks = |cluster: &mut Cluster, object: Node| {
        cluster.tell(Event::Seen(Box::new(Object::Node(object))));
        let orders = cluster.engine.decide(cluster.now());
        let is_look =
            |sample: &kerf_engine::sample::Sample| format!("{sample:?}").contains("zonalshift");
        orders.samples.iter().filter(|sample| is_look(sample)).count()
    };
    let mut breathing = node("in-a", "a", "web");
    (breathing.meta.revision, breathing.is_ready) = (Revision(2), false);
    assert_eq!(looks(&mut cluster, breathing), 0);
    let mut moved = node("in-a", "b", "web");
    moved.meta.revision = Revision(3);
    assert_eq!(looks(&mut cluster, moved), 1);
}

/// What is known and remembered is all there is to go on from.
#[test]
fn a_world_that_is_stored_and_read_again_decides_the_same() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b", "c"])])]);
    cluster.announce("Autoshift In Progress", "usw2-az1");
    cluster.seconds += 1;
    cluster.deliver("Manual Shift Updated", "usw2-az1");
    let stored = serde_json::to_string(&cluster.engine).unwrap();
    let mut read: Engine = serde_json::from_str(&stored).unwrap();
    let now = cluster.now();
    let told = |actions: &[Action]| format!("{actions:?}");
    let (first, second) = (cluster.engine.decide(now), read.decide(now));
    assert!(!first.actions.is_empty());
    assert_eq!(told(&first.actions), told(&second.actions));
    let stored = |engine: &Engine| serde_json::to_string(engine).unwrap();
    assert_eq!(stored(&cluster.engine), stored(&read));
}
