//! Every order in which up to six things can happen, not a sample of them.

use std::collections::{BTreeMap, BTreeSet};

use kerf_notices::zonal_shift::*;
use serde_json::{Value, json};

use crate::world::*;

const EVENTS_MAX: usize = 6;

fn event(kind: EventKind, letter: &str, seconds: i64) -> (ShiftEvent, ZoneId) {
    let body = message(kind.detail_type(), letter, seconds);
    (kerf_notices::message::read_zonal_shift(body.to_string().as_bytes()).unwrap(), zone_id(letter))
}

/// What the state must say: of each zone and origin the newest event, of two at once the end.
fn reference(events: &[(ShiftEvent, ZoneId)]) -> BTreeMap<(ZoneId, Origin), (UnixSeconds, bool)> {
    let mut newest = BTreeMap::new();
    for (event, zone) in events {
        let is_end = event.kind.transition() == Transition::End;
        let entry =
            newest.entry((zone.clone(), event.kind.origin())).or_insert((event.time, is_end));
        *entry = (*entry).max((event.time, is_end));
    }
    newest
}

/// What the state says, but for when a shift began, which an order may leave unknown.
fn outcome(state: &ShiftState) -> BTreeMap<(ZoneId, Origin), (UnixSeconds, bool)> {
    let entry = |(zone, origin, shift): (&ZoneId, Origin, &Shift)| {
        ((zone.clone(), origin), (shift.last_event_time, !shift.is_active()))
    };
    state.shifts().map(entry).collect()
}

/// Every state that the log can lead to, delivered in every order. Orders that agree after a part
/// of the log go on alike, so each part (a set of bits) and state is followed once.
fn after_every_order(log: &[(ShiftEvent, ZoneId)]) -> BTreeSet<ShiftState> {
    let mut reached = vec![BTreeSet::new(); 1 << log.len()];
    reached[0].insert(ShiftState::default());
    for delivered in 0..reached.len() {
        for state in std::mem::take(&mut reached[delivered]) {
            let left = (0..log.len()).filter(|next| delivered & 1 << next == 0);
            for next in left {
                let (event, zone) = &log[next];
                let after = state.apply(event, zone, at(1000)).0;
                assert_eq!(after, after.apply(event, zone, at(2000)).0, "told twice: {event:?}");
                reached[delivered | 1 << next].insert(after);
            }
            if delivered + 1 == reached.len() {
                reached[delivered].insert(state);
            }
        }
    }
    reached.pop().expect("even no event is one order")
}

/// Every log of `length` events of these kinds, the event in place `i` at time `times[i]`.
fn every_log(
    kinds: &[(EventKind, &str)],
    times: &[i64],
    mut visit: impl FnMut(&[(ShiftEvent, ZoneId)]),
) {
    let logs = kinds.len().pow(times.len() as u32);
    for number in 0..logs {
        let mut rest = number;
        let log: Vec<_> = times
            .iter()
            .map(|&time| {
                let (kind, letter) = kinds[rest % kinds.len()];
                rest /= kinds.len();
                event(kind, letter, time)
            })
            .collect();
        visit(&log);
    }
}

/// Tries every log and every order; returns the number of logs.
fn assert_order_does_not_matter(kinds: &[(EventKind, &str)], times: &[i64]) -> usize {
    let mut logs = 0;
    every_log(kinds, times, |log| {
        let expected = reference(log);
        for state in after_every_order(log) {
            assert_eq!(outcome(&state), expected, "{log:#?}");
        }
        logs += 1;
    });
    logs
}

#[test]
fn six_events_of_one_shift_lead_to_the_same_state_in_every_order() {
    use EventKind::*;
    let kinds = [(ManualShiftStarted, "a"), (ManualShiftUpdated, "a"), (ManualShiftCanceled, "a")];
    assert_eq!(assert_order_does_not_matter(&kinds, &[1, 2, 3, 4, 5, 6]), 729);
}

#[test]
fn six_events_in_three_seconds_lead_to_the_same_state_in_every_order() {
    use EventKind::*;
    let kinds = [(AutoshiftInProgress, "a"), (AutoshiftCompleted, "a")];
    assert_eq!(assert_order_does_not_matter(&kinds, &[1, 1, 2, 2, 3, 3]), 64);
}

#[test]
fn events_of_several_shifts_and_zones_do_not_disturb_each_other() {
    use EventKind::*;
    let kinds = [
        (AutoshiftInProgress, "a"),
        (AutoshiftCompleted, "a"),
        (PracticeRunStarted, "a"),
        (PracticeRunInterrupted, "a"),
        (ManualShiftStarted, "c"),
        (ManualShiftCanceled, "c"),
    ];
    assert_eq!(assert_order_does_not_matter(&kinds, &[1, 2, 2, 3]), 1296);
}

/// Something that happens to a pool, once.
#[derive(Clone, Debug)]
enum TestEvent {
    Message(ShiftEvent, ZoneId),
    /// The operator adds zone `d` to the list.
    ZoneAdded,
    /// The operator takes zone `b` off the list.
    ZoneRemoved,
    /// The whole object is written as the operator wants it, without our annotations.
    Replaced,
    /// The same by a tool that leaves foreign annotations alone.
    Reapplied,
}

fn events() -> Vec<TestEvent> {
    use EventKind::*;
    let messages = [
        (AutoshiftInProgress, "a", 10),
        (AutoshiftCompleted, "a", 40),
        (PracticeRunStarted, "a", 20),
        (PracticeRunInterrupted, "a", 30),
        (ManualShiftStarted, "c", 15),
        (ManualShiftCanceled, "c", 35),
    ];
    let messages = messages.map(|(kind, letter, seconds)| {
        let (event, zone) = event(kind, letter, seconds);
        TestEvent::Message(event, zone)
    });
    let others =
        [TestEvent::Replaced, TestEvent::Reapplied, TestEvent::ZoneAdded, TestEvent::ZoneRemoved];
    messages.into_iter().chain(others).collect()
}

/// Pools of every kind; they do not depend on each other. The operator edits the first.
fn every_pool() -> Vec<Value> {
    let bare = |name: &str, requirements: Value| {
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"template": {"spec": {"requirements": requirements}}},
        })
    };
    let mut min_values = zones("In", &["a", "b", "c"]);
    min_values["minValues"] = json!(3);
    let ids = ["usw2-az1", "usw2-az3"];
    vec![
        bare("list", json!([zones("In", &["a", "b", "c"])])),
        bare("min-values", json!([arm(), min_values])),
        bare("open", json!([arm()])),
        bare("not-in", json!([zones("NotIn", &["b"])])),
        bare("ids", json!([{"key": "topology.k8s.aws/zone-id", "operator": "In", "values": ids}])),
        bare("single", json!([zones("In", &["a"])])),
    ]
}

/// A pool, what its operator wants, and what Kerf remembers.
#[derive(Clone)]
struct Sequence {
    state: ShiftState,
    pool: Value,
    wanted: Value,
    happened: usize,
}

/// What all stories share.
struct Setting {
    events: Vec<TestEvent>,
    zones: ZoneTable,
    used_zones: BTreeSet<ZoneName>,
}

impl Setting {
    fn new(events: Vec<TestEvent>) -> Setting {
        Setting { events, zones: zone_table(), used_zones: names(&["a", "b", "c", "d"]) }
    }

    fn plan(&self, sequence: &Sequence) -> Vec<Step> {
        let cluster = Cluster {
            zones: &self.zones,
            used_zones: &self.used_zones,
            node_class_zones: &BTreeMap::new(),
            pools: &[&sequence.pool],
            nodes: &[],
        };
        let options = World::new([]).options;
        Plan::new(&sequence.state, cluster, &options, &EditMemory::default(), at(1000)).steps
    }

    /// Plans and carries out.
    fn settle(&self, sequence: &mut Sequence) {
        for step in self.plan(sequence) {
            let Step::Pool(edit) = step else { panic!("only pools change, not {step:?}") };
            sequence.pool = edit.apply_to(&sequence.pool);
        }
    }

    /// Lets six things happen in every order, with the process killed or not after each. The same
    /// sequence reached in another way has the same future, and is followed once.
    fn explore(&self, pool: &Value) -> usize {
        let mut seen = BTreeSet::new();
        let mut open = vec![Sequence::new(pool)];
        for _ in 0..EVENTS_MAX {
            let mut next = Vec::new();
            for (sequence, event, is_killed) in self.ways_on(&open) {
                let mut sequence = sequence.clone();
                sequence.happens(event, &self.events[event]);
                if !is_killed {
                    self.settle(&mut sequence);
                }
                if seen.insert(sequence.key()) {
                    sequence.check();
                    self.check_end(sequence.clone());
                    next.push(sequence);
                }
            }
            open = next;
        }
        seen.len()
    }

    fn ways_on<'a>(
        &self,
        open: &'a [Sequence],
    ) -> impl Iterator<Item = (&'a Sequence, usize, bool)> {
        let count = self.events.len();
        let ways = move |sequence| {
            (0..count).flat_map(move |h| [(sequence, h, true), (sequence, h, false)])
        };
        open.iter().flat_map(ways).filter(|(sequence, event, _)| !sequence.has_happened(*event))
    }

    /// In the end every shift ends, and the pool is as its operator wants it.
    fn check_end(&self, mut sequence: Sequence) {
        for (number, event) in self.events.iter().enumerate() {
            if matches!(event, TestEvent::Message(..)) && !sequence.has_happened(number) {
                sequence.happens(number, event);
            }
        }
        assert_eq!(sequence.state.away(), BTreeSet::new());
        self.settle(&mut sequence);
        assert_eq!(sequence.pool, sequence.wanted);
        assert_eq!(self.plan(&sequence), []);
    }
}

impl Sequence {
    fn new(pool: &Value) -> Sequence {
        let state = ShiftState::default();
        Sequence { state, pool: pool.clone(), wanted: pool.clone(), happened: 0 }
    }

    fn has_happened(&self, event: usize) -> bool {
        self.happened & 1 << event != 0
    }

    fn happens(&mut self, number: usize, event: &TestEvent) {
        self.happened |= 1 << number;
        match event {
            TestEvent::Message(event, zone) => {
                self.state = self.state.apply(event, zone, at(1000)).0;
            }
            TestEvent::ZoneAdded => self.operator_edits(|values| values.push(json!(zone("d")))),
            TestEvent::ZoneRemoved => {
                self.operator_edits(|values| values.retain(|value| *value != json!(zone("b"))));
            }
            TestEvent::Replaced => self.pool = self.wanted.clone(),
            TestEvent::Reapplied => self.pool["spec"] = self.wanted["spec"].clone(),
        }
    }

    /// The operator edits the list that is there and means the same change to what is wanted. The
    /// API server refuses a list without values.
    fn operator_edits(&mut self, edit: impl Fn(&mut Vec<Value>)) {
        let list = "/spec/template/spec/requirements/0/values";
        let mut edited = self.pool.pointer(list).unwrap().as_array().unwrap().clone();
        edit(&mut edited);
        if !edited.is_empty() {
            *self.pool.pointer_mut(list).unwrap() = json!(edited);
            edit(self.wanted.pointer_mut(list).unwrap().as_array_mut().unwrap());
        }
    }

    /// Whatever happened, the API server would take the pool, and it has a zone.
    fn check(&self) {
        let requirements = &self.pool["spec"]["template"]["spec"]["requirements"];
        for entry in requirements.as_array().unwrap().iter().filter(|e| e["operator"] == "In") {
            let count = entry["values"].as_array().unwrap().len() as u64;
            assert!(count > 0 && entry["minValues"].as_u64().unwrap_or(1) <= count, "{entry}");
        }
    }

    fn key(&self) -> (usize, ShiftState, String) {
        (self.happened, self.state.clone(), format!("{} {}", self.pool, self.wanted))
    }
}

/// The number of ways to choose up to `taken` of `from`.
fn choices(from: usize, taken: usize) -> usize {
    let mut ways = 1;
    let each = (0..taken).map(|n| {
        ways = ways * (from - n) / (n + 1);
        ways
    });
    each.sum()
}

#[test]
fn six_happenings_in_every_order_with_a_kill_anywhere_leave_pools_as_wanted() {
    for pool in every_pool() {
        let is_edited_by_operator = pool["metadata"]["name"] == "list";
        let mut events = events();
        events.truncate(if is_edited_by_operator { 10 } else { 8 });
        let least = choices(events.len(), EVENTS_MAX);
        let stories = Setting::new(events).explore(&pool);
        println!("{}: {stories} different stories", pool["metadata"]["name"]);
        assert!(stories > least, "{stories} for {pool}, fewer than ways to choose what happens");
    }
}
