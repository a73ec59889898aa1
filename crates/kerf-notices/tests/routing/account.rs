//! A pretend account, a router for it, and the events that come from it.

use std::collections::BTreeMap;

use kerf_notices::message::{InstanceId, Record};
use kerf_notices::routing::{
    Batch, CallFailure, Discovery, EntryId, EntryOutcome, FoundQueue, Limits, Lookup, QueueQuery,
    Report, Router, RoutingSettings, SendBatch, Step, TaggedInstance,
};
use kerf_notices::zonal_shift::UnixSeconds;

pub(crate) const I1: &str = "i-00000000000000001";
pub(crate) const I2: &str = "i-00000000000000002";
pub(crate) const I3: &str = "i-00000000000000003";

/// A pretend account. Queues are named after their cluster.
#[derive(Default)]
pub(crate) struct Account {
    pub(crate) tags: BTreeMap<InstanceId, Vec<(String, String)>>,
    pub(crate) queues: BTreeMap<String, Vec<String>>,
    pub(crate) table: BTreeMap<String, String>,
    pub(crate) lookups: Vec<Lookup>,
    pub(crate) sends: Vec<SendBatch>,
    pub(crate) queries: Vec<QueueQuery>,
    pub(crate) discoveries: Vec<Discovery>,
    /// Says what goes wrong with a lookup at a moment.
    pub(crate) lookup_fault: Option<fn(&Lookup, u64) -> Option<CallFailure>>,
    /// Says what goes wrong with a message to a queue.
    pub(crate) send_fault: Option<fn(&str, usize) -> Option<CallFailure>>,
    pub(crate) entry_fault: Option<fn(&str) -> Option<EntryOutcome>>,
    pub(crate) discovery_fault: Option<CallFailure>,
    /// Whether a search for clusters gets no answer.
    pub(crate) searches_hang: bool,
    /// Queues without a tag that says whose they are.
    pub(crate) not_tagged: Vec<&'static str>,
    pub(crate) time: Option<UnixSeconds>,
    pub(crate) now_ms: u64,
}

pub(crate) fn url(name: &str) -> String {
    format!("https://sqs.test/{name}")
}

impl Account {
    pub(crate) fn with_clusters(names: &[&str]) -> Self {
        let queues = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
        Self { queues, ..Self::default() }
    }

    pub(crate) fn own(&mut self, id: &str, cluster: &str) {
        self.tag(id, &[("eks:eks-cluster-name", cluster)]);
    }

    pub(crate) fn tag(&mut self, id: &str, tags: &[(&str, &str)]) {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        self.tags.insert(id.parse().unwrap(), tags.collect());
    }

    pub(crate) fn route(&mut self, router: &mut Router, bodies: &[String]) -> Report {
        let records = bodies.iter().enumerate();
        let records =
            records.map(|(index, body)| Record { id: format!("m{index}"), body: body.clone() });
        let limits = Limits { deadline_ms: self.now_ms + 10_000, seed: 5, time: self.time };
        let mut batch = Batch::open(router, records.collect(), limits, self.now_ms);
        loop {
            match batch.step(router, self.now_ms) {
                Step::Done => return batch.finish(),
                Step::WaitUntil(moment_ms) => {
                    assert!(moment_ms > self.now_ms, "waiting for the past");
                    if !(batch.awaits_clusters() && self.search(router)) {
                        self.now_ms = moment_ms;
                    }
                }
                Step::Ask(ask) => {
                    for lookup in ask.lookups {
                        let answer = self.describe(&lookup);
                        batch.learn_owners(router, lookup, answer, self.now_ms);
                    }
                    for query in ask.queues {
                        let answer = self.queue(&query);
                        batch.learn_queue(router, query, answer, self.now_ms);
                    }
                }
                Step::Send(sends) => {
                    for send in sends {
                        let answer = self.send(&batch, &send);
                        batch.learn_sent(router, &send, answer, self.now_ms);
                        self.sends.push(send);
                    }
                }
            }
        }
    }

    fn describe(&mut self, lookup: &Lookup) -> Result<Vec<TaggedInstance>, CallFailure> {
        assert!(lookup.ids.len() <= 200);
        self.lookups.push(lookup.clone());
        if let Some(failure) = self.lookup_fault.and_then(|fault| fault(lookup, self.now_ms)) {
            return Err(failure);
        }
        let known =
            |id: &InstanceId| Some(TaggedInstance { id: *id, tags: self.tags.get(id)?.clone() });
        Ok(lookup.ids.iter().filter_map(known).collect())
    }

    fn queue(&mut self, query: &QueueQuery) -> Result<FoundQueue, CallFailure> {
        self.queries.push(query.clone());
        Ok(match query {
            QueueQuery::Table { cluster } => self.table.get(cluster.name.as_ref()).cloned().into(),
            QueueQuery::Named { name, .. } if self.not_tagged.contains(&name.as_str()) => {
                FoundQueue::NotTagged
            }
            QueueQuery::Named { name, .. } => {
                self.queues.contains_key(name).then(|| url(name)).into()
            }
        })
    }

    /// Answers the searches that are due, if there are any and they are answered at all.
    pub(crate) fn search(&mut self, router: &mut Router) -> bool {
        if self.searches_hang {
            return false;
        }
        let due = router.searches_due(self.now_ms);
        for how in &due {
            let answer = self.discover(*how);
            router.learn_clusters(*how, answer, self.now_ms);
        }
        !due.is_empty()
    }

    fn discover(&mut self, how: Discovery) -> Result<Vec<(String, String)>, CallFailure> {
        self.discoveries.push(how);
        match (&self.discovery_fault, how) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Discovery::Table) => Ok(self.table.clone().into_iter().collect()),
            (None, Discovery::Tags) => {
                Ok(self.queues.keys().map(|name| (name.clone(), url(name))).collect())
            }
        }
    }

    fn send(
        &mut self,
        batch: &Batch,
        send: &SendBatch,
    ) -> Result<Vec<(EntryId, EntryOutcome)>, CallFailure> {
        assert!(send.entries.len() <= 10);
        let fault = self.send_fault.and_then(|fault| fault(&send.queue, self.sends.len()));
        if let Some(failure) = fault {
            return Err(failure);
        }
        let name = send.queue.rsplit('/').next().unwrap();
        let Some(queue) = self.queues.get_mut(name) else { return Err(CallFailure::NoQueue) };
        let mut outcomes = Vec::new();
        for id in &send.entries {
            let outgoing = batch.outgoing(*id).unwrap();
            let fault = self.entry_fault.and_then(|fault| fault(outgoing.body));
            if fault.is_none() {
                queue.push(outgoing.body.to_owned());
            }
            outcomes.push((*id, fault.unwrap_or(EntryOutcome::Accepted)));
        }
        Ok(outcomes)
    }

    pub(crate) fn contents(&self, name: &str) -> &[String] {
        &self.queues[name]
    }
}

pub(crate) fn router() -> Router {
    Router::new(RoutingSettings::default())
}

pub(crate) fn router_with(settings: &[(&str, &str)]) -> Router {
    let get = |name: &str| {
        settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    Router::new(RoutingSettings::from_lookup(get).unwrap())
}

pub(crate) fn event(id: &str, source: &str, detail_type: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","source":"{source}","detail-type":"{detail_type}","account":"111122223333","region":"eu-west-1",{more}}}"#
    )
}

pub(crate) fn spot(event_id: &str, instance: &str) -> String {
    let more = format!(r#""detail":{{"instance-id":"{instance}"}}"#);
    event(event_id, "aws.ec2", "EC2 Spot Instance Interruption Warning", &more)
}

pub(crate) fn state(event_id: &str, instance: &str, state: &str) -> String {
    let more = format!(r#""detail":{{"instance-id":"{instance}","state":"{state}"}}"#);
    event(event_id, "aws.ec2", "EC2 Instance State-change Notification", &more)
}

pub(crate) fn health(event_id: &str, instances: &[&str]) -> String {
    let entities: Vec<_> =
        instances.iter().map(|id| format!(r#"{{"entityValue":"{id}"}}"#)).collect();
    let resources: Vec<_> = instances.iter().map(|id| format!("\"{id}\"")).collect();
    let more = format!(
        r#""resources":[{}],"detail":{{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{}]}}"#,
        resources.join(","),
        entities.join(",")
    );
    event(event_id, "aws.health", "AWS Health Event", &more)
}

pub(crate) fn zonal(event_id: &str, resources: &str) -> String {
    let more = format!(r#""resources":[{resources}],"detail":{{}}"#);
    event(event_id, "aws.arc-zonal-shift", "Autoshift In Progress", &more)
}

pub(crate) fn verdicts(report: &Report) -> Vec<String> {
    report.outcomes.iter().map(|outcome| outcome.verdict.to_string()).collect()
}
