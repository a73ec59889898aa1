//! A pretend account: events as they come, answers as AWS would give them.

use kerf_notices::message::Record;
use kerf_notices::routing::{
    Ask, Batch, EntryOutcome, Limits, Router, RoutingSettings, Step, TaggedInstance,
};
use kerf_notices::zonal_shift::UnixSeconds;

const INSTANCES: usize = 20_000;
const CLUSTERS: usize = 20;

/// The function's default.
pub(crate) const BATCH: usize = 200;

/// A router, the next event's number, and the calls to EC2 so far.
pub(crate) struct Account {
    router: Router,
    events: usize,
    lookups: u64,
}

impl Account {
    /// A router that knows nothing.
    pub(crate) fn cold() -> Self {
        // All of it happens at one moment.
        let settings =
            RoutingSettings { messages_per_minute_max: u32::MAX, ..RoutingSettings::default() };
        Self { router: Router::new(settings), events: 0, lookups: 0 }
    }

    /// A router that knows every instance and queue: each was the subject of one event.
    pub(crate) fn warm() -> Self {
        let mut account = Self::cold();
        let batches = account.batches(INSTANCES / BATCH);
        assert_eq!(account.route(batches), INSTANCES);
        account
    }

    /// Batches of new events about known instances, about 400 bytes each, as EventBridge sends them.
    pub(crate) fn batches(&mut self, count: usize) -> Vec<Vec<Record>> {
        (0..count).map(|_| (0..BATCH).map(|_| self.record()).collect()).collect()
    }

    /// The calls to EC2 that events about the first instances cost, so many routed together.
    pub(crate) fn lookups_for(&mut self, events: usize, together: usize) -> u64 {
        self.events = self.events.next_multiple_of(INSTANCES);
        let before = self.lookups;
        let records: Vec<_> = (0..events).map(|_| self.record()).collect();
        assert_eq!(self.route(records.chunks(together).map(<[Record]>::to_vec)), events);
        self.lookups - before
    }

    fn record(&mut self) -> Record {
        // A new id each time, so that nothing is taken for a duplicate.
        let number = self.events;
        self.events += 1;
        let instance = format!("i-0{:016x}", number % INSTANCES);
        let body = format!(
            r#"{{"version":"0","id":"00000000-0000-4000-8000-{number:012x}","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","account":"111122223333","time":"2026-11-01T00:00:00Z","region":"eu-west-1","resources":["arn:aws:ec2:eu-west-1b:instance/{instance}"],"detail":{{"instance-id":"{instance}","instance-action":"terminate"}}}}"#
        );
        Record { id: format!("{number:036}"), body }
    }

    /// Routes batches one after the other and gives how many events reached their queue.
    pub(crate) fn route(&mut self, batches: impl IntoIterator<Item = Vec<Record>>) -> usize {
        let mut routed = 0;
        for records in batches {
            let time = UnixSeconds::parse("2026-11-01T00:00:02Z");
            let limits = Limits { deadline_ms: 10_000, seed: 1, time };
            let mut batch = Batch::open(&mut self.router, records, limits, 0);
            loop {
                match batch.step(&mut self.router, 0) {
                    Step::Done => break,
                    Step::WaitUntil(_) => unreachable!("nothing fails here"),
                    Step::Ask(ask) => self.answer(&mut batch, ask),
                    Step::Send(sends) => {
                        for send in sends {
                            let stored = send.entries.iter();
                            let stored = stored.map(|id| (*id, EntryOutcome::Accepted)).collect();
                            batch.learn_sent(&mut self.router, &send, Ok(stored), 0);
                        }
                    }
                }
            }
            let report = batch.finish();
            assert_eq!(report.failures().count(), 0);
            self.lookups += report.lookup_calls;
            routed += report.outcomes.iter().filter(|one| one.verdict.word() == "routed").count();
        }
        routed
    }

    fn answer(&mut self, batch: &mut Batch, ask: Ask) {
        for lookup in ask.lookups {
            let tagged = lookup.ids.iter().enumerate().map(|(index, id)| {
                let name = format!("cluster-{}", index % CLUSTERS);
                TaggedInstance { id: *id, tags: vec![("eks:eks-cluster-name".to_owned(), name)] }
            });
            let tagged = tagged.collect();
            batch.learn_owners(&mut self.router, lookup, Ok(tagged), 0);
        }
        for query in ask.queues {
            let url = format!("https://sqs.eu-west-1.amazonaws.com/111122223333/{query:?}");
            batch.learn_queue(&mut self.router, query, Ok(Some(url)), 0);
        }
    }
}

/// A batch as the function is handed it.
pub(crate) fn payload(batch: &[Record]) -> String {
    let record = |record: &Record| {
        serde_json::json!({"messageId": record.id, "receiptHandle": "r".repeat(180),
        "body": record.body, "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {}, "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-west-1:111122223333:central"})
    };
    let records: Vec<_> = batch.iter().map(record).collect();
    serde_json::json!({ "Records": records }).to_string()
}
