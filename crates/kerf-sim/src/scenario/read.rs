//! From a file to a scenario.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kerf_engine::time::Span;
use kerf_model::node_spec::NodeClassRef;

use super::document::{Calls, Cloud, Document, Faults};
use super::error::ScenarioError;
use super::{
    CallFaults, Catalogue, CloudPlan, FaultPlan, Scenario, Stock, pool, text, timeline, workload,
};
use crate::rng::Delay;

/// The region whose prices are known.
const REGION_DEFAULT: &str = "us-east-1";
/// The name of the one node class.
const NODE_CLASS: &str = "default";

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The text is no YAML, not of the right shape, or a field makes no sense.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let document: Document =
            serde_saphyr::from_str(text).map_err(|error| ScenarioError::Yaml(error.to_string()))?;
        // Whoever writes a file wants to hear of all mistakes at once.
        let mut errors = Vec::new();
        let cloud = or_note(cloud(&document.cloud), &mut errors);
        let class =
            cloud.as_ref().map_or(Catalogue::Kwok.node_class(), |it| it.catalogue.node_class());
        let pools = document.pools.iter().enumerate().filter_map(|(index, doc)| {
            or_note(pool::read(doc, &class, &format!("pools[{index}]")), &mut errors).map(Arc::new)
        });
        let pools: Vec<_> = pools.collect();
        let workloads = document.workloads.iter().enumerate().filter_map(|(index, doc)| {
            or_note(workload::read(doc, &format!("workloads[{index}]")), &mut errors).map(Arc::new)
        });
        let workloads: Vec<_> = workloads.collect();
        // Steps of a workload that cannot be read are not mistaken for it.
        let is_whole = errors.is_empty();
        let mut known: BTreeMap<Arc<str>, u32> =
            workloads.iter().map(|workload| (workload.name.clone(), workload.replicas)).collect();
        if known.len() < workloads.len() {
            errors.push(ScenarioError::field("workloads", "two have the same name"));
        }
        let fixed: BTreeSet<&str> =
            document.pools.iter().filter(|it| it.replicas.is_some()).map(|it| &*it.name).collect();
        let mut steps = Vec::new();
        for (index, doc) in document.timeline.iter().enumerate().filter(|_| is_whole) {
            let read = timeline::read(doc, &mut known, &fixed, &format!("timeline[{index}]"));
            steps.extend(or_note(read, &mut errors).into_iter().flatten());
        }
        steps.sort_by_key(|(at, _)| *at);
        let mut expectations = Vec::new();
        for (index, doc) in document.expect.iter().enumerate() {
            let read = timeline::expectation(doc, &format!("expect[{index}]"));
            expectations.extend(or_note(read, &mut errors));
        }
        expectations.sort_by_key(|(at, _)| *at);
        let length = text::span(&document.ends);
        let length = length.map_err(|error| ScenarioError::field("ends", error));
        let length = or_note(length, &mut errors);
        let faults = document.faults.as_ref().map(faults).transpose();
        let faults = or_note(faults, &mut errors).flatten().unwrap_or_default();
        let (cloud, length) = match (cloud, length, ScenarioError::all(errors)) {
            (Some(cloud), Some(length), None) => (cloud, length),
            (_, _, error) => return Err(error.expect("what is not there was noted")),
        };
        Ok(Self {
            name: document.name,
            about: document.about.trim().to_owned(),
            length,
            cloud,
            pools,
            workloads,
            timeline: steps,
            expectations,
            faults,
        })
    }
}

/// The value, or a note of what is wrong with it.
fn or_note<T>(read: Result<T, ScenarioError>, errors: &mut Vec<ScenarioError>) -> Option<T> {
    read.map_err(|error| errors.push(error)).ok()
}

impl Catalogue {
    /// The kind of node class its pools name, with the one name there is.
    #[must_use]
    pub fn node_class(&self) -> NodeClassRef {
        let (group, kind) = match self {
            Self::Aws { .. } => ("karpenter.k8s.aws", "EC2NodeClass"),
            Self::Kwok => ("karpenter.kwok.sh", "KWOKNodeClass"),
        };
        NodeClassRef { group: group.to_owned(), kind: kind.to_owned(), name: NODE_CLASS.to_owned() }
    }
}

fn cloud(doc: &Cloud) -> Result<CloudPlan, ScenarioError> {
    let delay = |text: &Option<String>, name: &str, default: Delay| match text {
        None => Ok(default),
        Some(text) => {
            text::delay(text).map_err(|error| ScenarioError::field(format!("cloud.{name}"), error))
        }
    };
    let catalogue = match doc.catalogue.as_deref() {
        Some("kwok") => Catalogue::Kwok,
        None | Some("aws") => {
            Catalogue::Aws { region: REGION_DEFAULT.to_owned(), families: doc.families.clone() }
        }
        Some(named) => match named.strip_prefix("aws:") {
            Some(region) => {
                Catalogue::Aws { region: region.to_owned(), families: doc.families.clone() }
            }
            None => {
                let problem = format!("{named:?} is not one of aws, aws:REGION, kwok");
                return Err(ScenarioError::field("cloud.catalogue", problem));
            }
        },
    };
    let stock = doc.stock.iter().map(|stock| Stock {
        instance_type: stock.instance_type.clone(),
        zone: stock.zone.clone(),
        capacity_type: stock.capacity.clone(),
        instances: stock.instances,
    });
    Ok(CloudPlan {
        catalogue,
        zones: doc.zones.clone(),
        launch: delay(&doc.launch, "launch", Delay::millis(1_000, 3_000))?,
        boot: delay(&doc.boot, "boot", Delay::millis(20_000, 40_000))?,
        ready: delay(&doc.ready, "ready", Delay::millis(3_000, 10_000))?,
        terminate: delay(&doc.terminate, "terminate", Delay::millis(10_000, 30_000))?,
        lag: delay(&doc.lag, "lag", Delay::millis(0, 0))?,
        stock: stock.collect(),
    })
}

fn faults(doc: &Faults) -> Result<FaultPlan, ScenarioError> {
    let wrong = |field: &str| {
        let field = format!("faults.{field}");
        move |problem: String| ScenarioError::field(field, problem)
    };
    let mut every: Vec<(super::Fault, Span)> = Vec::new();
    for (word, gap) in &doc.every {
        let fault = timeline::fault(word).map_err(wrong("every"))?;
        every.push((fault, text::span(gap).map_err(wrong("every"))?));
    }
    let calls = match &doc.calls {
        Calls::Word(word) if word == "all" => CallFaults::ALL,
        Calls::Word(word) => {
            return Err(wrong("calls")(format!("{word:?} is neither all nor a map of percents")));
        }
        Calls::Percent(percents) => {
            percents.iter().try_fold(CallFaults::default(), |mut calls, (word, percent)| {
                *calls.named(word).ok_or_else(|| unknown_call(word)).map_err(wrong("calls"))? =
                    (*percent).min(100);
                Ok(calls)
            })?
        }
    };
    Ok(FaultPlan { until: text::span(&doc.until).map_err(wrong("until"))?, calls, every })
}

fn unknown_call(word: &str) -> String {
    format!(
        "{word:?} is not one of conflict, unavailable, unheard, lost, doubled, late, throttled, \
         launchRefused, stillborn, slowBoot"
    )
}

impl CallFaults {
    fn named(&mut self, word: &str) -> Option<&mut u8> {
        Some(match word {
            "conflict" => &mut self.conflict,
            "unavailable" => &mut self.unavailable,
            "unheard" => &mut self.unheard,
            "lost" => &mut self.lost,
            "doubled" => &mut self.doubled,
            "late" => &mut self.late,
            "throttled" => &mut self.throttled,
            "launchRefused" => &mut self.launch_refused,
            "stillborn" => &mut self.stillborn,
            "slowBoot" => &mut self.slow_boot,
            _ => return None,
        })
    }
}
