//! NodePool mode of zonal shifts, driven by events: messages, ARC, objects and time go in, and what
//! the engine asks for is done to a cluster in memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use kerf_engine::action::{Action, ActionKind};
use kerf_engine::event::{Event, Failure, Outcome};
use kerf_engine::notice::NoticeId;
use kerf_engine::time::Time;
use kerf_engine::zonal_shift::{
    ArcReading, ShiftCall, ShiftInput, ShiftKind, ShiftNetwork, ShiftReport, ShiftSettings,
    StoreCause, StoredShifts,
};
use kerf_engine::{Engine, Role, Settings};
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
    nodes: BTreeMap<String, Value>,
    stored: StoredShifts,
    /// What ARC lists, if it can be asked.
    arc: ArcReading,
    /// Calls that fail instead of being done.
    fails: fn(&ShiftCall) -> Option<Failure>,
    calls: Vec<ShiftCall>,
    reports: Vec<ShiftReport>,
    announced: u64,
}

fn settings() -> ShiftSettings {
    ShiftSettings {
        cluster_name: "prod".to_owned(),
        region: "us-west-2".to_owned(),
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

fn node(name: &str, letter: &str, pool: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "resourceVersion": "1",
            "labels": {
                "topology.kubernetes.io/zone": zone(letter), "karpenter.sh/nodepool": pool,
            },
        },
        "spec": {},
    })
}

fn never_fails(_: &ShiftCall) -> Option<Failure> {
    None
}

impl Cluster {
    fn new(pools: impl IntoIterator<Item = Value>) -> Self {
        Self::with(pools, [], settings())
    }

    fn with(
        pools: impl IntoIterator<Item = Value>,
        nodes: impl IntoIterator<Item = Value>,
        settings: ShiftSettings,
    ) -> Self {
        let named =
            |object: Value| (object["metadata"]["name"].as_str().unwrap().to_owned(), object);
        let mut cluster = Self {
            engine: engine(settings),
            seconds: 0,
            pools: pools.into_iter().map(named).collect(),
            nodes: nodes.into_iter().map(named).collect(),
            stored: StoredShifts::default(),
            arc: complete(),
            fails: never_fails,
            calls: Vec::new(),
            reports: Vec::new(),
            announced: 0,
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
        let pools = ShiftKind::Pool("NodePool".to_owned());
        let kinds = vec![pools.clone(), ShiftKind::Node];
        self.learn(ShiftInput::Served { kinds, is_auto_mode: false });
        self.learn(ShiftInput::Stored(self.stored.clone()));
        let objects = self.pools.values().cloned().collect();
        self.learn(ShiftInput::Listed { kind: pools, objects });
        let objects = self.nodes.values().cloned().collect();
        self.learn(ShiftInput::Listed { kind: ShiftKind::Node, objects });
        self.settle();
    }

    fn now(&self) -> Time {
        Time::from_seconds(DAY + self.seconds)
    }

    fn learn(&mut self, input: ShiftInput) {
        let now = self.now();
        self.engine.handle(Event::ZonalShift(Box::new(input)), now);
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
        self.learn(ShiftInput::Announced { id, body: body.to_string().into() });
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
        panic!("still not settled after {ROUNDS_MAX} rounds: {:#?}", self.calls.last());
    }

    fn decide(&mut self) -> Vec<Action> {
        let orders = self.engine.decide(self.now());
        self.reports.extend(orders.shift_reports);
        orders.actions
    }

    fn carry_out(&mut self, action: &Action) {
        let ActionKind::ZonalShift(call) = &action.kind else { panic!("{:?}", action.kind) };
        self.calls.push((**call).clone());
        let outcome = match (self.fails)(call) {
            Some(failure) => Outcome::Failed(failure),
            None => Outcome::ZonalShift(Box::new(self.done(call))),
        };
        let now = self.now();
        self.engine.handle(Event::Finished { action: action.id, outcome }, now);
    }

    fn done(&mut self, call: &ShiftCall) -> ShiftInput {
        match call {
            ShiftCall::Store { shifts, .. } => {
                assert_eq!(shifts.version, self.stored.version, "an outdated state is written");
                let version = self.stored.version.as_ref().map_or(0, |it| it.parse().unwrap());
                self.stored = StoredShifts {
                    version: Some((version + 1).to_string()),
                    damaged: None,
                    ..(**shifts).clone()
                };
                ShiftInput::Stored(self.stored.clone())
            }
            ShiftCall::DescribeNetwork => ShiftInput::Network(ShiftNetwork {
                zones: Some(zone_table()),
                cluster_arn: Some("arn:aws:eks:us-west-2:111122223333:cluster/prod".to_owned()),
                vpc_id: Some("vpc".to_owned()),
                subnets: Some(["a", "b", "c"].map(subnet).into()),
            }),
            ShiftCall::ListShifts { .. } => ShiftInput::Arc(self.arc.clone()),
            ShiftCall::Apply(step) => self.applied(step),
        }
    }

    fn applied(&mut self, step: &Step) -> ShiftInput {
        let pools = ShiftKind::Pool("NodePool".to_owned());
        match step {
            Step::Pool(edit) => {
                let pool = self.pools.get_mut(&edit.pool.name).unwrap();
                *pool = edit.apply_to(pool);
                ShiftInput::Seen { kind: pools, object: pool.clone() }
            }
            Step::Node(edit) => {
                let node = self.nodes.get_mut(&edit.node).unwrap();
                let patch = edit.merge_patch();
                for (name, value) in
                    patch["metadata"]["annotations"].as_object().into_iter().flatten()
                {
                    node["metadata"]["annotations"][name] = value.clone();
                }
                if !patch["spec"]["unschedulable"].is_null() {
                    node["spec"]["unschedulable"] = patch["spec"]["unschedulable"].clone();
                }
                ShiftInput::Seen { kind: ShiftKind::Node, object: node.clone() }
            }
            Step::Copy(edit) => panic!("there is no built-in pool: {edit:?}"),
        }
    }

    fn away(&self, pool: &str) -> &str {
        self.pools[pool]["metadata"]["annotations"][AWAY].as_str().unwrap_or_default()
    }

    fn requirements(&self, pool: &str) -> &Value {
        &self.pools[pool]["spec"]["template"]["spec"]["requirements"]
    }

    /// Labels of what was made of messages, in the order they were settled.
    fn results(&self) -> Vec<(NoticeId, &'static str)> {
        let result = |report: &ShiftReport| match report {
            ShiftReport::Received { id, received } => Some((*id, received.verdict.label())),
            _ => None,
        };
        self.reports.iter().filter_map(result).collect()
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
    cluster.fails = |call| match call {
        ShiftCall::Store { .. } => unavailable(),
        _ => None,
    };
    let id = cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!((cluster.results(), cluster.away("web")), (vec![], ""));
    cluster.fails = never_fails;
    cluster.pass(60);
    assert_eq!((cluster.results(), cluster.away("web")), (vec![(id, "started")], "us-west-2a"));
    let order = cluster.calls.iter().filter_map(|call| match call {
        ShiftCall::Store { cause: StoreCause::Messages(_), .. } => Some("store"),
        ShiftCall::Apply(_) => Some("edit"),
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
    let ActionKind::ZonalShift(call) = &store.kind else { panic!("{store:?}") };
    let stored = cluster.done(call);
    cluster.learn(stored.clone());
    cluster.settle();
    assert_eq!(cluster.results(), [(id, "started")]);
    let (action, outcome) = (store.id, Outcome::ZonalShift(Box::new(stored)));
    let now = cluster.now();
    cluster.engine.handle(Event::Finished { action, outcome }, now);
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
    let by_hand =
        cluster.stored.state.start_manually(&ZoneId::new("usw2-az2"), UnixSeconds::at(DAY));
    cluster.stored =
        StoredShifts { version: Some("7".to_owned()), state: by_hand, ..cluster.stored.clone() };
    cluster.learn(ShiftInput::Stored(cluster.stored.clone()));
    let now = cluster.now();
    for Action { id: action, .. } in actions {
        let outcome = Outcome::Failed(Failure::Conflict);
        cluster.engine.handle(Event::Finished { action, outcome }, now);
    }
    cluster.settle();
    assert_eq!(cluster.results(), [(id, "started")]);
    assert_eq!(cluster.away("web"), "us-west-2a,us-west-2b");
}

#[test]
fn a_process_that_dies_after_storing_is_followed_by_one_that_edits_pools() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.fails = |call| match call {
        ShiftCall::Apply(_) => unavailable(),
        _ => None,
    };
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
        cluster.calls.iter().filter(|call| **call == ShiftCall::DescribeNetwork).count()
    };
    assert_eq!(described(&cluster), 1);
    cluster.pass(20);
    let id = cluster.announce("Autoshift In Progress", "usw2-az9");
    assert_eq!(described(&cluster), 2);
    assert_eq!(cluster.results(), [(id, "unknown-zone")]);
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
    let applied = cluster.calls.iter().filter_map(|call| match call {
        ShiftCall::Apply(step) => Some(step.phase()),
        _ => None,
    });
    assert_eq!(applied.collect::<Vec<_>>(), [0, 2]);
    assert_eq!(cluster.nodes["in-a"]["spec"]["unschedulable"], true);
    assert_eq!(cluster.nodes["in-b"]["spec"], json!({}));

    let mut cluster = Cluster::with(pools(), nodes(), settings);
    cluster.fails = |call| match call {
        ShiftCall::Apply(step) if step.phase() == 0 => unavailable(),
        _ => None,
    };
    cluster.announce("Autoshift In Progress", "usw2-az1");
    assert_eq!(cluster.away("web"), "us-west-2a");
}

#[test]
fn deleting_the_stored_state_ends_no_shift() {
    let mut cluster = Cluster::new([pool("web", &[zones("In", &["a", "b"])])]);
    cluster.announce("Autoshift In Progress", "usw2-az1");
    cluster.stored.version = None;
    cluster.learn(ShiftInput::Stored(StoredShifts::default()));
    cluster.settle();
    assert!(cluster.stored.version.is_some());
    assert_eq!(cluster.stored.state.away().len(), 1);
    assert_eq!(cluster.away("web"), "us-west-2a");
}
