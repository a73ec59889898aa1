//! What was decided and what happened, recorded for whoever watches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use kerf_engine::action::{Action, Lane};
use kerf_engine::event::{Failure, Outcome};
use kerf_engine::kubernetes_event::{KubernetesEvent, Tone};
use kerf_engine::time::Time;
use kerf_model::labels::well_known::CAPACITY_TYPE;

use crate::cloud::CloudInstance;
use crate::scenario::Fault;

/// What was decided and what happened.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The last records, oldest first.
    pub records: VecDeque<Record>,
    /// How often each kind of action was ordered, by its name.
    pub actions: BTreeMap<&'static str, u64>,
    /// How often each Event was published, by its reason.
    pub kubernetes_events: BTreeMap<&'static str, u64>,
    /// How often calls failed, by the kind of failure.
    pub failures: BTreeMap<&'static str, u64>,
    /// How often something went wrong, by the name of the fault.
    pub faults: BTreeMap<&'static str, u64>,
    /// How many records there ever were.
    pub recorded: u64,
    /// A number that two runs only share if all their actions were the same.
    pub fingerprint: u64,
}

/// One decision, event or fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The virtual time of the entry.
    pub at: Time,
    /// Its kind.
    pub kind: RecordKind,
    /// What it is about.
    pub about: Arc<str>,
    /// The text for people.
    pub text: String,
}

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A step of the scenario.
    Step,
    /// A decision of the engine, by the name of its action.
    Decision(&'static str),
    /// An instance the cloud launched.
    Instance,
    /// An Event it published, by its reason.
    Event(&'static str),
    /// A warning Event, by its reason.
    Warning(&'static str),
    /// Something that went wrong in the cluster or the cloud.
    Fault,
}

/// Records kept; a long simulation has more than anybody reads.
const RECORDS_MAX: usize = 20_000;

impl Trace {
    pub(crate) fn note(&mut self, at: Time, text: String) {
        self.push(Record { at, kind: RecordKind::Step, about: Arc::from(""), text });
    }

    pub(crate) fn instance(&mut self, at: Time, instance: &CloudInstance) {
        let capacity_type = instance.instance.labels.get(CAPACITY_TYPE).map_or("", String::as_str);
        let (instance_type, price) = (&instance.instance_type, instance.price);
        let text = format!("{instance_type}, {capacity_type}, {price} $/hour");
        self.push(Record { at, kind: RecordKind::Instance, about: instance.claim.clone(), text });
    }

    pub(crate) fn fault(&mut self, at: Time, fault: Fault) {
        *self.faults.entry(fault.word()).or_default() += 1;
        let text = fault.word().to_owned();
        self.push(Record { at, kind: RecordKind::Fault, about: Arc::from(""), text });
    }

    pub(crate) fn record(&mut self, at: Time, kubernetes_event: &KubernetesEvent) {
        *self.kubernetes_events.entry(kubernetes_event.reason).or_default() += 1;
        let kind = match kubernetes_event.tone {
            Tone::Normal => RecordKind::Event(kubernetes_event.reason),
            Tone::Warning => RecordKind::Warning(kubernetes_event.reason),
        };
        let about = Arc::from(kubernetes_event.about.name());
        self.push(Record { at, kind, about, text: kubernetes_event.message.clone() });
    }

    pub(crate) fn order(&mut self, at: Time, action: &Action) {
        let info = action.kind.info();
        let (name, about) = (info.name, info.subject.to_string());
        *self.actions.entry(name).or_default() += 1;
        self.mix(at.millis().unsigned_abs());
        self.mix_text(name);
        self.mix_text(&about);
        let reason = action.reason.to_string();
        self.mix_text(&reason);
        if !info.is_bookkeeping && info.lane() != Lane::Solve {
            let kind = RecordKind::Decision(name);
            self.push(Record { at, kind, about: Arc::from(about), text: reason });
        }
    }

    pub(crate) fn outcome(&mut self, outcome: &Outcome) {
        if let Outcome::Failed(failure) = outcome {
            *self.failures.entry(failure_name(failure)).or_default() += 1;
        }
    }

    fn push(&mut self, record: Record) {
        self.recorded += 1;
        if self.records.len() == RECORDS_MAX {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }

    fn mix_text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.mix(u64::from(byte));
        }
    }

    fn mix(&mut self, number: u64) {
        self.fingerprint =
            (self.fingerprint ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    }
}

fn failure_name(failure: &Failure) -> &'static str {
    match failure {
        Failure::Conflict => "conflict",
        Failure::Refused { .. } => "refused",
        Failure::InsufficientCapacity { .. } => "insufficient capacity",
        Failure::NodeClassNotReady { .. } => "node class not ready",
        Failure::LaunchRefused { .. } => "launch refused",
        Failure::RebootNotImplemented { .. } => "reboot not implemented",
        Failure::RebootFailed { .. } => "reboot failed",
        Failure::Denied { .. } => "denied",
        Failure::Invalid { .. } => "invalid",
        Failure::Throttled { .. } => "throttled",
        Failure::Unavailable { .. } => "unavailable",
    }
}
