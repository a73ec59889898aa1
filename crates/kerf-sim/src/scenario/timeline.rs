//! What happens when, and what must then be the case.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use kerf_engine::time::Span;

use super::document as doc;
use super::error::ScenarioError;
use super::{Fault, text};

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A workload shall have so many pods.
    Scale {
        /// The name of a workload of the scenario.
        workload: Arc<str>,
        /// How many.
        to: u32,
    },
    /// A static pool shall have so many nodes.
    ScalePool {
        /// The name of a static pool of the scenario.
        pool: Arc<str>,
        /// How many.
        to: u32,
    },
    /// Somebody deletes a node or a claim, as with `kubectl delete`; the oldest of them.
    Delete(Victim),
    /// No pool may make nodes in a zone any more, as a zonal shift in NodePool mode has it; nodes
    /// that are there drift.
    LeaveZone(String),
    /// The zone may be used again.
    ReturnToZone(String),
    /// Something goes wrong.
    Fault(Fault),
    /// A note for whoever watches.
    Note(String),
}

/// What somebody deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The oldest node.
    Node,
    /// The oldest claim.
    Claim,
    /// Every node that is not ready.
    SilentNodes,
}

/// What must be the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Ready pods, by workload.
    pub running: BTreeMap<String, Count>,
    /// Pods without a node.
    pub pending: Option<Count>,
    /// Nodes.
    pub nodes: Option<Count>,
    /// Claims.
    pub claims: Option<Count>,
    /// Zones with nodes.
    pub zones: Option<Count>,
    /// What all instances cost together, in whole cents an hour.
    pub cents_per_hour: Option<Count>,
}

/// A number, or between two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least.
    pub least: u64,
    /// At most.
    pub most: u64,
}

/// Scaling over a while is done in steps this far apart.
const SCALE_STEP: Span = Span::from_minutes(1);

impl Count {
    /// Whether the number is meant.
    #[must_use]
    pub fn admits(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no number; write 3, 1..4 or ..4");
        let number = |text: &str| text.parse().map_err(|_| wrong());
        match text.split_once("..") {
            None => number(text).map(|exact| Self { least: exact, most: exact }),
            Some(("", most)) => Ok(Self { least: 0, most: number(most)? }),
            Some((least, "")) => Ok(Self { least: number(least)?, most: u64::MAX }),
            Some((least, most)) => Ok(Self { least: number(least)?, most: number(most)? }),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (least, most) if least == most => write!(f, "{least}"),
            (least, u64::MAX) => write!(f, "at least {least}"),
            (0, most) => write!(f, "at most {most}"),
            (least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// The steps of one line, by time. `known` says how many pods a workload had before, `fixed` names
/// the static pools.
pub(super) fn read(
    doc: &doc::Moment,
    known: &mut BTreeMap<Arc<str>, u32>,
    fixed: &BTreeSet<&str>,
    field: &str,
) -> Result<Vec<(Span, Step)>, ScenarioError> {
    let at = text::span(&doc.at).map_err(|error| ScenarioError::field(field, error))?;
    let wrong = |problem: String| ScenarioError::field(field, problem);
    let zone = match (&doc.leave_zone, &doc.return_to_zone) {
        (Some(zone), None) => Some(Step::LeaveZone(zone.clone())),
        (None, Some(zone)) => Some(Step::ReturnToZone(zone.clone())),
        _ => None,
    };
    match (&doc.scale, &doc.delete, &doc.fault, &doc.note) {
        (None, None, None, None) if zone.is_some() => {
            Ok(zone.into_iter().map(|step| (at, step)).collect())
        }
        (Some(name), None, None, None) => {
            let to = doc.to.ok_or_else(|| wrong("scale needs to: how many pods".to_owned()))?;
            if fixed.contains(name.as_str()) {
                return Ok(vec![(at, Step::ScalePool { pool: Arc::from(name.as_str()), to })]);
            }
            let Some((workload, from)) = known.get_key_value(name.as_str()) else {
                return Err(wrong(format!("there is no workload {name:?}, nor a static pool")));
            };
            let (workload, from) = (workload.clone(), *from);
            known.insert(workload.clone(), to);
            let over = doc.over.as_deref().map(text::span).transpose().map_err(wrong)?;
            Ok(scaling(&workload, at, from, to, over.unwrap_or_default()))
        }
        (None, Some(what), None, None) => match what.as_str() {
            "node" => Ok(vec![(at, Step::Delete(Victim::Node))]),
            "claim" => Ok(vec![(at, Step::Delete(Victim::Claim))]),
            "silent nodes" => Ok(vec![(at, Step::Delete(Victim::SilentNodes))]),
            _ => Err(wrong(format!("{what:?} is not one of node, claim, silent nodes"))),
        },
        (None, None, Some(word), None) => Ok(vec![(at, Step::Fault(fault(word).map_err(wrong)?))]),
        (None, None, None, Some(note)) => Ok(vec![(at, Step::Note(note.clone()))]),
        _ => Err(wrong(
            "say exactly one of scale, delete, fault, note, leaveZone, returnToZone".to_owned(),
        )),
    }
}

fn scaling(name: &Arc<str>, at: Span, from: u32, to: u32, over: Span) -> Vec<(Span, Step)> {
    let steps = (over.millis() / SCALE_STEP.millis()).max(1);
    let part = |step: u64| {
        let change = (i64::from(to) - i64::from(from)) * i64::try_from(step).unwrap_or(i64::MAX);
        let now = i64::from(from) + change / i64::try_from(steps).unwrap_or(i64::MAX);
        let to = u32::try_from(now).unwrap_or(0);
        let time = Span::from_millis(at.millis() + (step - 1) * SCALE_STEP.millis());
        (time, Step::Scale { workload: name.clone(), to })
    };
    (1..=steps).map(part).collect()
}

pub(super) fn fault(word: &str) -> Result<Fault, String> {
    let found = Fault::ALL.into_iter().find(|(_, known)| *known == word);
    found.map(|(fault, _)| fault).ok_or_else(|| {
        let known: Vec<_> = Fault::ALL.iter().map(|(_, word)| *word).collect();
        format!("{word:?} is not one of {}", known.join(", "))
    })
}

pub(super) fn expectation(
    doc: &doc::Expect,
    field: &str,
) -> Result<(Span, Expectation), ScenarioError> {
    let wrong = |error: String| ScenarioError::field(field, error);
    let count = |text: &Option<String>| text.as_deref().map(Count::from_str).transpose();
    let running = doc.running.iter().map(|(name, text)| Ok((name.clone(), text.parse()?)));
    let expectation = Expectation {
        running: running.collect::<Result<_, String>>().map_err(wrong)?,
        pending: count(&doc.pending).map_err(wrong)?,
        nodes: count(&doc.nodes).map_err(wrong)?,
        claims: count(&doc.claims).map_err(wrong)?,
        zones: count(&doc.zones).map_err(wrong)?,
        cents_per_hour: count(&doc.cents_per_hour).map_err(wrong)?,
    };
    Ok((text::span(&doc.at).map_err(wrong)?, expectation))
}
