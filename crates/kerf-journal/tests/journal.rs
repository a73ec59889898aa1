//! What a journal looks like, and what a replay says of journals that are damaged or differ.

use std::sync::Arc;

use kerf_engine::event::{Event, Kind};
use kerf_engine::time::Time;
use kerf_engine::{Engine, Settings};
use kerf_journal::{Header, JournalError, JournaledEngine, MemoryJournal, Replay, ReplayReport};
use kerf_model::instance_type::InstanceType;
use serde_json::Value;

const START: Time = Time::from_seconds(1_767_225_600);

type Journaled = JournaledEngine<MemoryJournal>;

fn engine() -> Journaled {
    let settings = Settings::default();
    let journal = MemoryJournal::new(&Header::new("0.1.0", settings.clone()));
    JournaledEngine::new(Engine::new(settings), Some(journal))
}

fn text(engine: &Journaled) -> &str {
    engine.sink().map(MemoryJournal::text).expect("it has a journal")
}

/// An engine that knows its empty cluster and has asked the cloud for instances.
fn started() -> Journaled {
    let mut engine = engine();
    for kind in Kind::ALL {
        engine.handle(Event::Listed(kind), START);
    }
    assert!(!engine.decide(START).actions.is_empty(), "there is something to compare");
    engine
}

fn instance_type(name: &str) -> InstanceType {
    InstanceType {
        name: name.to_owned(),
        requirements: Default::default(),
        capacity: Default::default(),
        overhead: Default::default(),
        offerings: Default::default(),
    }
}

fn replayed(text: &str) -> ReplayReport {
    Replay::of(text).expect("it can be read")
}

#[test]
fn a_journal_replays_to_the_same_actions() {
    let engine = started();
    let report = replayed(text(&engine));
    assert_eq!(report.difference, None);
    assert_eq!((report.events, report.decisions), (Kind::ALL.len() as u64, 1));
    assert!(report.actions > 0 && report.skipped == 0);
    assert_eq!((report.from, report.to), (Some(START), Some(START)));
}

#[test]
fn a_journal_of_a_standby_that_takes_over_replays_to_the_same_actions() {
    let mut engine = engine();
    for kind in Kind::ALL {
        engine.handle(Event::Listed(kind), START);
        engine.stand_by(START);
    }
    assert!(!engine.decide(START).actions.is_empty(), "it looks at everything");
    let report = replayed(text(&engine));
    assert_eq!(report.difference, None);
    let forgotten = text(&engine).replace("\"stand_by\"", "\"decide\"");
    assert!(replayed(&forgotten).difference.is_some(), "standing by is part of what happened");
}

#[test]
fn the_first_action_that_differs_is_shown_with_its_event() {
    let engine = started();
    let tampered = text(&engine).replace("\"ListInstances\"", "\"ListNothing\"");
    let report = replayed(&tampered);
    let difference = report.difference.expect("it differs");
    assert_eq!(difference.at, START);
    assert_eq!(difference.line, tampered.lines().count() as u64);
    assert!(difference.event.expect("an event came before").contains("Listed"));
    let kind = |value: Option<Value>| value.expect("there is one")["kind"].clone();
    assert_eq!(kind(difference.expected), "ListNothing");
    assert_eq!(kind(difference.actual), "ListInstances");
}

#[test]
fn an_action_that_is_missing_differs() {
    let engine = started();
    let without: String = text(&engine)
        .split_inclusive('\n')
        .map(|line| match line.starts_with("{\"actions\"") {
            true => format!("{{\"decide\":{}}}\n", START.millis()),
            false => line.to_owned(),
        })
        .collect();
    let difference = replayed(&without).difference.expect("it differs");
    assert_eq!(difference.expected, None);
    assert!(difference.actual.is_some());
}

#[test]
fn a_last_line_that_breaks_off_is_no_error() {
    let engine = started();
    let whole = text(&engine);
    let report = replayed(&whole[..whole.len() - 5]);
    assert!(report.is_truncated);
    assert_eq!((report.difference, report.decisions), (None, 0));
    assert!(!replayed(whole).is_truncated);
}

#[test]
fn what_came_after_a_gap_is_skipped() {
    let engine = started();
    let whole = text(&engine);
    let (header, records) = whole.split_once('\n').expect("there are lines");
    let report = replayed(&format!("{header}\n{{\"gap\":7}}\n{records}"));
    assert_eq!(report.skipped, 7 + records.lines().count() as u64);
    assert_eq!((report.events, report.decisions), (0, 0));
}

#[test]
fn other_files_and_versions_are_refused() {
    let journal = |text: &str| Replay::of(text).expect_err("it cannot be read");
    assert_eq!(journal("apiVersion: v1\n"), JournalError::NotAJournal);
    assert_eq!(journal("{\"decide\":1}\n"), JournalError::NotAJournal);
    let newer = journal("{\"kerf_journal\":99,\"kerf_version\":\"7.0.0\"}\n");
    assert_eq!(newer, JournalError::Version { found: 99, kerf_version: "7.0.0".to_owned() });
    let engine = started();
    let damaged = format!("{}{{\"event\":{{\"Nothing\":1}},\"at\":0}}\n", text(&engine));
    let error = journal(&damaged);
    assert!(matches!(error, JournalError::Malformed { .. }), "{error}");
    let dangling = format!("{}{{\"event\":{{\"$\":9}},\"at\":0}}\n", text(&engine));
    assert!(journal(&dangling).to_string().contains("refers to a value"));
}

#[test]
fn the_replay_ends_where_it_is_told_to() {
    let mut engine = started();
    engine.handle(Event::Tick, Time::from_millis(START.millis() + 1));
    let mut replay = Replay::new(Some(START));
    for line in text(&engine).split_inclusive('\n') {
        replay.line(line).expect("it can be read");
    }
    assert!(replay.is_over() && replay.report().is_stopped);
    assert_eq!(replay.report().events, Kind::ALL.len() as u64);
}

/// Lists of instance types are large and change often in small ways.
#[test]
fn what_was_written_before_is_only_referred_to() {
    let mut engine = engine();
    let long = |number: usize| instance_type(&format!("m{number}.{}", "x".repeat(50)));
    let mut instance_types: Vec<InstanceType> = (0..100).map(long).collect();
    let mut offer = |instance_types: &[InstanceType]| {
        let before = text(&engine).len();
        let instance_types = Arc::from(instance_types);
        engine.handle(Event::Offered { pool: "a".into(), instance_types }, START);
        text(&engine).len() - before
    };
    let first = offer(&instance_types);
    let again = offer(&instance_types);
    instance_types[7].name.push('y');
    let changed = offer(&instance_types);
    assert!(again < 150, "{again} bytes for the same list again");
    assert!(changed < first / 5, "{changed} bytes of {first} for one type that changed");
    assert_eq!(replayed(text(&engine)).events, 3);
}
