use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kerf_engine::event::{Event, Kind};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use kerf_journal::{JournaledEngine, Replay, ReplayReport};
use kerf_model::instance_type::InstanceType;

use super::super::files::read_order;
use super::super::files::tests::Folder;
use super::*;

const START: Time = Time::from_seconds(1_767_225_600);
/// A record takes microseconds; the machine may be compiling at the same time.
const SOON: Duration = Duration::from_secs(60);

fn engine(bounds: Bounds, path: &Path) -> JournaledEngine<JournalWriter> {
    let files = JournalFiles::open(path).expect("it can be made");
    let settings = Settings::default();
    let header = Header::new("0.1.0", settings.clone());
    let writer = JournalWriter::start_within(bounds, files, header).expect("it can be written");
    let mut engine = JournaledEngine::new(Engine::new(settings), Some(writer));
    for kind in Kind::ALL {
        engine.handle(Event::Listed(kind), START);
    }
    engine
}

/// Goes on, a second a step, until the files show something.
fn run_until(engine: &mut JournaledEngine<JournalWriter>, is_seen: impl Fn() -> bool) {
    let (deadline, mut now) = (Instant::now() + SOON, START);
    while !is_seen() {
        assert!(Instant::now() < deadline, "it is not seen within {SOON:?}");
        now = Time::from_millis(now.millis() + 1_000);
        engine.handle(Event::Tick, now);
        engine.decide(now);
        std::thread::yield_now();
    }
}

fn replayed(path: &Path) -> ReplayReport {
    let mut replay = Replay::new(None);
    for file in read_order(path).expect("it is there") {
        let text = fs::read_to_string(file).expect("it can be read");
        text.split_inclusive('\n').for_each(|line| replay.line(line).expect("it is a journal's"));
    }
    replay.report().clone()
}

#[test]
fn a_full_segment_is_followed_by_one_that_replays_alone() {
    let folder = Folder::new("journal-segments");
    let bounds = Bounds { segment_bytes: 2_000, ..BOUNDS };
    let mut engine = engine(bounds, &folder.0);
    run_until(&mut engine, || read_order(&folder.0).is_ok_and(|files| files.len() == 4));
    drop(engine);
    let report = replayed(&folder.0);
    assert_eq!((&report.difference, report.skipped), (&None, 0));
    assert!(report.segments >= 4 && report.states >= 3 && report.actions > 0, "{report:?}");
    let last = read_order(&folder.0).expect("there are some").pop().expect("there is one");
    let alone = replayed(&last);
    assert_eq!((&alone.difference, alone.skipped, alone.segments), (&None, 0, 1));
}

#[test]
fn records_that_come_too_fast_leave_a_gap_after_which_the_replay_goes_on() {
    let folder = Folder::new("journal-gap");
    let path = folder.0.join("gap.jsonl");
    let bounds = Bounds { records_waiting: 4, ..BOUNDS };
    let mut engine = engine(bounds, &path);
    // Writing this takes much longer than handing over what follows.
    let types = (0..5_000).map(|number| InstanceType {
        name: format!("type-{number}"),
        requirements: Default::default(),
        capacity: Default::default(),
        overhead: Default::default(),
        offerings: Default::default(),
    });
    engine.handle(Event::Offered { pool: "a".into(), instance_types: types.collect() }, START);
    for _ in 0..100 {
        engine.handle(Event::Tick, START);
    }
    let states = || fs::read_to_string(&path).is_ok_and(|text| text.contains("\n{\"state\":"));
    run_until(&mut engine, states);
    drop(engine);
    let report = replayed(&path);
    assert_eq!(&report.difference, &None);
    assert!(report.skipped > 0 && report.states > 0, "{report:?}");
}
