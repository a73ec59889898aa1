//! The router's rules, one scenario each, in an account that a test describes in a few lines.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

use std::collections::BTreeMap;

use kerf_notices::message::{InstanceId, Record};
use kerf_notices::routing::{
    Batch, Discovery, EntryId, EntryOutcome, Limits, Lookup, QueueQuestion, Report, Router, Scope,
    SendBatch, Settings, StaticMap, Step, TaggedInstance, Trouble, Unrouted, Verdict, Via,
};

const I1: &str = "i-00000000000000001";
const I2: &str = "i-00000000000000002";
const I3: &str = "i-00000000000000003";

/// A pretend account. Queues are named after their cluster.
#[derive(Default)]
struct Account {
    tags: BTreeMap<InstanceId, Vec<(String, String)>>,
    queues: BTreeMap<String, Vec<String>>,
    table: BTreeMap<String, String>,
    lookups: Vec<Lookup>,
    sends: Vec<SendBatch>,
    questions: Vec<QueueQuestion>,
    discoveries: Vec<Discovery>,
    /// Says what goes wrong with a lookup at a moment.
    lookup_fault: Option<fn(&Lookup, u64) -> Option<Trouble>>,
    /// Says what goes wrong with a message to a queue.
    send_fault: Option<fn(&str, usize) -> Option<Trouble>>,
    entry_fault: Option<fn(&str) -> Option<EntryOutcome>>,
    discovery_fault: Option<Trouble>,
    now_ms: u64,
}

fn url(name: &str) -> String {
    format!("https://sqs.test/{name}")
}

impl Account {
    fn with_clusters(names: &[&str]) -> Self {
        let queues = names.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
        Self { queues, ..Self::default() }
    }

    fn own(&mut self, id: &str, cluster: &str) {
        self.tag(id, &[("eks:eks-cluster-name", cluster)]);
    }

    fn tag(&mut self, id: &str, tags: &[(&str, &str)]) {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        self.tags.insert(id.parse().unwrap(), tags.collect());
    }

    fn route(&mut self, router: &mut Router, bodies: &[String]) -> Report {
        let records = bodies.iter().enumerate();
        let records =
            records.map(|(index, body)| Record { id: format!("m{index}"), body: body.clone() });
        let limits = Limits { deadline_ms: self.now_ms + 10_000, seed: 5 };
        let mut batch = Batch::open(router, records.collect(), limits, self.now_ms);
        loop {
            match batch.step(router, self.now_ms) {
                Step::Done => return batch.finish(),
                Step::WaitUntil(moment_ms) => {
                    assert!(moment_ms > self.now_ms, "waiting for the past");
                    self.now_ms = moment_ms;
                }
                Step::Ask(ask) => {
                    for lookup in ask.lookups {
                        let answer = self.describe(&lookup);
                        batch.learn_owners(router, lookup, answer, self.now_ms);
                    }
                    for question in ask.queues {
                        let answer = self.queue(&question);
                        batch.learn_queue(router, question, answer, self.now_ms);
                    }
                    for how in ask.discoveries {
                        let answer = self.discover(how);
                        batch.learn_clusters(router, how, answer, self.now_ms);
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

    fn describe(&mut self, lookup: &Lookup) -> Result<Vec<TaggedInstance>, Trouble> {
        assert!(lookup.ids.len() <= 200);
        self.lookups.push(lookup.clone());
        if let Some(trouble) = self.lookup_fault.and_then(|fault| fault(lookup, self.now_ms)) {
            return Err(trouble);
        }
        let known =
            |id: &InstanceId| Some(TaggedInstance { id: *id, tags: self.tags.get(id)?.clone() });
        Ok(lookup.ids.iter().filter_map(known).collect())
    }

    fn queue(&mut self, question: &QueueQuestion) -> Result<Option<String>, Trouble> {
        self.questions.push(question.clone());
        Ok(match question {
            QueueQuestion::Table { cluster } => self.table.get(cluster.name.as_ref()).cloned(),
            QueueQuestion::Named { name, .. } => self.queues.contains_key(name).then(|| url(name)),
        })
    }

    fn discover(&mut self, how: Discovery) -> Result<Vec<(String, String)>, Trouble> {
        self.discoveries.push(how);
        match (&self.discovery_fault, how) {
            (Some(trouble), _) => Err(trouble.clone()),
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
    ) -> Result<Vec<(EntryId, EntryOutcome)>, Trouble> {
        assert!(send.entries.len() <= 10);
        let fault = self.send_fault.and_then(|fault| fault(&send.queue, self.sends.len()));
        if let Some(trouble) = fault {
            return Err(trouble);
        }
        let name = send.queue.rsplit('/').next().unwrap();
        let Some(queue) = self.queues.get_mut(name) else { return Err(Trouble::NoQueue) };
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

    fn contents(&self, name: &str) -> &[String] {
        &self.queues[name]
    }
}

fn router() -> Router {
    Router::new(Settings::default())
}

fn router_with(settings: &[(&str, &str)]) -> Router {
    let get = |name: &str| {
        settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    };
    Router::new(Settings::from_lookup(get).unwrap())
}

fn event(id: &str, source: &str, detail_type: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","source":"{source}","detail-type":"{detail_type}","account":"111122223333","region":"eu-west-1",{more}}}"#
    )
}

fn spot(event_id: &str, instance: &str) -> String {
    let more = format!(r#""detail":{{"instance-id":"{instance}"}}"#);
    event(event_id, "aws.ec2", "EC2 Spot Instance Interruption Warning", &more)
}

fn state(event_id: &str, instance: &str, state: &str) -> String {
    let more = format!(r#""detail":{{"instance-id":"{instance}","state":"{state}"}}"#);
    event(event_id, "aws.ec2", "EC2 Instance State-change Notification", &more)
}

fn health(event_id: &str, instances: &[&str]) -> String {
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

fn zonal(event_id: &str, resources: &str) -> String {
    let more = format!(r#""resources":[{resources}],"detail":{{}}"#);
    event(event_id, "aws.arc-zonal-shift", "Autoshift In Progress", &more)
}

fn verdicts(report: &Report) -> Vec<String> {
    report.outcomes.iter().map(|outcome| outcome.verdict.to_string()).collect()
}

// The acceptance list of the specification, by its numbers.

#[test]
fn check_1_a_spot_notice_arrives_unchanged_in_the_queue_of_its_cluster_only() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    let body = spot("e1", I1);
    let report = account.route(&mut router(), std::slice::from_ref(&body));
    assert_eq!(account.contents("a"), [body]);
    assert!(account.contents("b").is_empty());
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(report.outcomes[0].clusters[..], ["a".into()]);
}

#[test]
fn check_2_ten_notices_for_one_cluster_cost_one_lookup_and_one_send() {
    let mut account = Account::with_clusters(&["a", "b"]);
    let ids: Vec<_> = (0..10).map(|n| format!("i-0000000000000010{n}")).collect();
    ids.iter().for_each(|id| account.own(id, "b"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!((report.lookup_calls, report.send_calls), (1, 1));
    assert_eq!((account.lookups.len(), account.sends.len()), (1, 1));
    assert_eq!(account.lookups[0].via, Via::Instances);
    assert_eq!(account.contents("b").len(), 10);
}

#[test]
fn check_3_a_health_event_for_two_clusters_and_a_stranger_is_split() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let report = account.route(&mut router(), &[health("e", &[I1, I3, I2])]);
    assert_eq!(account.contents("a"), [health("e", &[I1])]);
    assert_eq!(account.contents("b"), [health("e", &[I2])]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn a_health_event_for_one_cluster_stays_as_it_is() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "a");
    let body = health("e", &[I1, I2, I3]);
    account.route(&mut router(), std::slice::from_ref(&body));
    assert_eq!(account.contents("a"), [body]);
}

#[test]
fn check_4_each_form_of_tag_routes_and_stronger_forms_win() {
    type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);
    let table: [Case; 16] = [
        (&[("eks:eks-cluster-name", "a")], &["a"]),
        (&[("eks:cluster-name", "a")], &["a"]),
        (&[("aws:eks:cluster-name", "a")], &["a"]),
        (&[("kubernetes.io/cluster/a", "owned")], &["a"]),
        (&[("kubernetes.io/cluster/a", "shared")], &["a"]),
        (&[("kubernetes.io/cluster/a", "1")], &["a"]),
        (&[("alpha.eksctl.io/cluster-name", "a")], &["a"]),
        (&[("k8s.io/cluster/a", "anything")], &["a"]),
        (&[("KubernetesCluster", "a")], &["a"]),
        (&[("kubernetes.io/cluster/a", "owned"), ("kubernetes.io/cluster/b", "shared")], &["a"]),
        (
            &[("kubernetes.io/cluster/a", "owned"), ("kubernetes.io/cluster/b", "owned")],
            &["a", "b"],
        ),
        (&[("kubernetes.io/cluster/a", "shared"), ("kubernetes.io/cluster/b", "1")], &["a", "b"]),
        (&[("eks:eks-cluster-name", "a"), ("eks:cluster-name", "b")], &["a"]),
        (&[("aws:eks:cluster-name", "b"), ("eks:cluster-name", "a")], &["a"]),
        (&[("alpha.eksctl.io/cluster-name", "b"), ("kubernetes.io/cluster/a", "1")], &["a"]),
        (&[("KubernetesCluster", "b"), ("k8s.io/cluster/a", "")], &["a", "b"]),
    ];
    for (tags, expected) in table {
        let mut account = Account::with_clusters(&["a", "b"]);
        account.tag(I1, tags);
        let report = account.route(&mut router(), &[spot("e", I1)]);
        let reached: Vec<_> =
            ["a", "b"].into_iter().filter(|name| !account.contents(name).is_empty()).collect();
        assert_eq!(reached, expected, "{tags:?}");
        assert_eq!(report.outcomes[0].ambiguous, expected.len() > 1, "{tags:?}");
    }
    for tags in
        [&[("kubernetes.io/cluster/a", "no")][..], &[("Name", "a")], &[("eks:cluster-name", "")]]
    {
        let mut account = Account::with_clusters(&["a"]);
        account.tag(I1, tags);
        let report = account.route(&mut router(), &[spot("e", I1)]);
        assert_eq!(report.outcomes[0].verdict, Verdict::Unrouted(Unrouted::NoTag), "{tags:?}");
    }
}

#[test]
fn check_5_running_is_dropped_and_a_forgotten_instance_is_remembered() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    let report = account.route(&mut router, &[state("e1", I1, "running"), spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["dropped: other-state", "routed"]);
    account.tags.clear();
    account.now_ms += 3_600_000;
    let report = account.route(&mut router, &[state("e3", I1, "terminated")]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!((report.lookup_calls, report.cache_hits), (0, 1));
}

#[test]
fn check_6_an_unknown_instance_among_fifty_hurts_nobody() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..50).map(|n| format!("i-000000000000001{n:02}")).collect();
    ids.iter().skip(1).for_each(|id| account.own(id, "a"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!(account.contents("a").len(), 49);
    assert_eq!(report.failures().count(), 0);
    assert_eq!(report.outcomes[0].verdict, Verdict::Unrouted(Unrouted::NoTag));
}

#[test]
fn check_7_a_missing_queue_is_no_failure_and_a_broken_one_fails_only_its_own() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let bodies = [spot("e1", I1), spot("e2", I2)];
    let report = account.route(&mut router(), &bodies);
    assert_eq!(verdicts(&report), ["routed", "unrouted: no-queue"]);

    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    account.send_fault =
        Some(|queue, _| queue.ends_with("/b").then(|| Trouble::Unavailable("down".to_owned())));
    let mut router = router();
    let report = account.route(&mut router, &bodies);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    assert_eq!(account.contents("a").len(), 1);
    // Only the failed one is delivered again, and then it arrives.
    account.send_fault = None;
    let report = account.route(&mut router, &bodies[1..]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (1, 1));
}

#[test]
fn check_8_batches_are_split_by_bytes() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let padding = "x".repeat(100_000);
    let bodies: Vec<_> = (0..7)
        .map(|n| {
            let more = format!(r#""detail":{{"instance-id":"{I1}","x":"{padding}"}}"#);
            event(&format!("e{n}"), "aws.ec2", "EC2 Spot Instance Interruption Warning", &more)
        })
        .collect();
    account.route(&mut router(), &bodies);
    let sizes: Vec<_> = account.sends.iter().map(|send| send.entries.len()).collect();
    assert_eq!(sizes, [2, 2, 2, 1], "two of 100 kB fit in 262,144 bytes");
    assert_eq!(account.contents("a").len(), 7);

    let huge = event(
        "h",
        "aws.ec2",
        "EC2 Spot Instance Interruption Warning",
        &format!(r#""detail":{{"instance-id":"{I1}","x":"{}"}}"#, "x".repeat(262_000)),
    );
    account.route(&mut router(), &[huge]);
    assert_eq!(account.contents("a").len(), 8, "one that is over the bound goes alone");
}

#[test]
fn check_9_three_seconds_of_throttling_delay_a_batch_and_nothing_else() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.lookup_fault = Some(|_, now_ms| (now_ms < 3_000).then_some(Trouble::Throttled));
    let report = account.route(&mut router(), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert!((3_000..5_000).contains(&account.now_ms), "{}", account.now_ms);
    assert!(report.lookup_calls <= 8, "back-off spares the service: {}", report.lookup_calls);
}

#[test]
fn throttling_without_end_costs_half_the_time_and_fails_only_who_needs_the_answer() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    account.route(&mut router, &[spot("e0", I1)]);
    account.lookup_fault = Some(|_, _| Some(Trouble::Throttled));
    let started_ms = account.now_ms;
    let report = account.route(&mut router, &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    assert!(account.now_ms - started_ms <= 5_000);
    assert_eq!(account.contents("a").len(), 2);
}

#[test]
fn check_10_a_duplicate_is_delivered_once_in_one_batch_and_in_the_next() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    let twice = [spot("e1", I1), spot("e1", I1)];
    let report = account.route(&mut router, &twice);
    assert_eq!(verdicts(&report), ["routed", "routed"]);
    assert_eq!((report.outcomes[0].suppressed, report.outcomes[1].suppressed), (0, 1));
    account.now_ms += 599_000;
    account.route(&mut router, &twice[..1]);
    assert_eq!(account.contents("a").len(), 1);
    account.now_ms += 2_000;
    account.route(&mut router, &twice[..1]);
    assert_eq!(account.contents("a").len(), 2, "after ten minutes it is news again");
}

#[test]
fn a_duplicate_shares_the_fate_of_the_delivery_it_rides_on() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.send_fault = Some(|_, _| Some(Trouble::Denied("sqs:SendMessage".to_owned())));
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e1", I1)]);
    assert_eq!(report.failures().count(), 2);
    assert_eq!(report.denied, ["sqs:SendMessage"], "one message for one missing permission");
}

#[test]
fn check_11_a_zonal_shift_reaches_every_known_queue_or_the_named_clusters() {
    let mut account = Account::with_clusters(&["a", "b", "c"]);
    let map = format!(r#"{{"z":"{}"}}"#, url("zed"));
    account.queues.insert("zed".to_owned(), vec![]);
    let mut router = router_with(&[("CLUSTER_QUEUES", &map)]);
    let report = account.route(&mut router, &[zonal("e1", "")]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert!(account.queues.values().all(|queue| queue.len() == 1), "{:?}", account.queues);
    assert_eq!(account.discoveries, [Discovery::Tags]);

    let named = zonal("e2", r#""arn:aws:eks:eu-west-1:111122223333:cluster/b""#);
    account.route(&mut router, &[named, zonal("e3", "")]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (2, 3));
    assert_eq!(account.discoveries.len(), 1, "what was found is believed for ten minutes");
}

#[test]
fn without_the_right_to_search_a_zonal_shift_reaches_the_clusters_that_are_listed() {
    let mut account = Account::with_clusters(&["a", "b"]);
    let map = format!(r#"{{"a":"{}"}}"#, url("a"));
    account.discovery_fault = Some(Trouble::Denied("sqs:ListQueues on *".to_owned()));
    let report = account.route(&mut router_with(&[("CLUSTER_QUEUES", &map)]), &[zonal("e1", "")]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (1, 0));
    assert_eq!(report.denied, ["sqs:ListQueues on *"]);
    let mut nobody = Account::default();
    let report = nobody.route(&mut router(), &[zonal("e1", "")]);
    assert_eq!(verdicts(&report), ["unrouted: no-clusters"]);
}

// Lookups.

#[test]
fn a_failed_lookup_is_tried_by_tags_and_then_one_by_one() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "a");
    account.lookup_fault = Some(|lookup, _| {
        (lookup.via != Via::Tags).then(|| Trouble::Unavailable("zone impaired".to_owned()))
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(verdicts(&report), ["routed", "routed"]);

    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.own(I2, "a");
    account.lookup_fault = Some(|lookup, _| {
        let hopeless = lookup.ids.contains(&I2.parse().unwrap());
        (lookup.via != Via::Single || hopeless).then(|| Trouble::Unavailable("503".to_owned()))
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I2)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m1"]);
    let ways: Vec<_> = account.lookups.iter().map(|lookup| lookup.via).collect();
    assert_eq!(ways, [Via::Instances, Via::Tags, Via::Single, Via::Single]);
}

#[test]
fn a_service_that_is_down_is_not_asked_for_each_of_two_hundred() {
    let mut account = Account::with_clusters(&["a"]);
    account.lookup_fault = Some(|_, _| Some(Trouble::Unavailable("503".to_owned())));
    let bodies: Vec<_> =
        (0..200).map(|n| spot(&format!("e{n}"), &format!("i-00000000000000{n:03}"))).collect();
    let report = account.route(&mut router(), &bodies);
    assert_eq!(report.failures().count(), 200);
    // One call each way, then one round of singles.
    assert_eq!(report.lookup_calls, 2 + 10);
}

#[test]
fn five_hundred_instances_are_three_lookups_and_strangers_are_not_asked_for_again_at_once() {
    let mut account = Account::with_clusters(&["a"]);
    let bodies: Vec<_> =
        (0..500).map(|n| spot(&format!("e{n}"), &format!("i-00000000000000{n:03}"))).collect();
    let mut router = router();
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 3);
    account.now_ms += 29_000;
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 0);
    account.now_ms += 2_000;
    assert_eq!(account.route(&mut router, &bodies).lookup_calls, 3, "tags may have followed");
}

#[test]
fn a_thousand_instances_together_cost_five_lookups_cold_and_none_warm() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..1_000).map(|n| format!("i-00000000000000{n:03}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies =
        |round: u32| ids.iter().map(|id| spot(&format!("{round}{id}"), id)).collect::<Vec<_>>();
    let mut router = router();
    assert_eq!(account.route(&mut router, &bodies(1)).lookup_calls, 5);
    assert_eq!(account.route(&mut router, &bodies(2)).lookup_calls, 0);
    // A batch asks for its own misses only: ten batches of a hundred are ten calls.
    let mut fresh = Router::new(Settings::default());
    let few = bodies(3);
    let calls = few.chunks(100).map(|few| account.route(&mut fresh, few).lookup_calls);
    assert_eq!(calls.sum::<u64>(), 10);
}

#[test]
fn a_cache_for_one_instance_still_routes_a_batch_of_many() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..9).map(|n| format!("i-0000000000000010{n}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies: Vec<_> = ids.iter().map(|id| spot(&format!("e{id}"), id)).collect();
    let report = account.route(&mut router_with(&[("CACHE_SIZE", "1")]), &bodies);
    assert_eq!((account.contents("a").len(), report.lookup_calls), (9, 1));
}

#[test]
fn a_health_event_with_a_failed_lookup_is_not_sent_in_part() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    account.own(I2, "b");
    let mut router = router();
    account.route(&mut router, &[spot("e0", I1)]);
    account.lookup_fault = Some(|_, _| Some(Trouble::Unavailable("503".to_owned())));
    let body = health("e1", &[I1, I2]);
    let report = account.route(&mut router, std::slice::from_ref(&body));
    assert_eq!((report.failures().count(), account.contents("a").len()), (1, 1));
    account.lookup_fault = None;
    account.route(&mut router, &[body]);
    assert_eq!((account.contents("a").len(), account.contents("b").len()), (2, 1));
}

#[test]
fn check_12_a_core_routes_far_more_than_two_thousand_events_a_second() {
    let mut account = Account::with_clusters(&["a"]);
    let ids: Vec<_> = (0..200).map(|n| format!("i-00000000000000{n:03}")).collect();
    ids.iter().for_each(|id| account.own(id, "a"));
    let bodies = |round: u32| {
        let body = |id: &String| spot(&format!("{round}-{id}"), id);
        ids.iter().map(body).collect::<Vec<_>>()
    };
    let mut router = router();
    account.route(&mut router, &bodies(0));
    let rounds: Vec<_> = (1..=20).map(bodies).collect();
    // The fastest round: whatever else the machine does must not decide.
    let fastest = rounds.iter().map(|bodies| {
        let started = std::time::Instant::now();
        assert_eq!(account.route(&mut router, bodies).lookup_calls, 0, "the cache is warm");
        started.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < std::time::Duration::from_millis(100), "200 events took {fastest:?}");
    assert_eq!(account.contents("a").len(), 21 * 200);
}

// Queues.

#[test]
fn queues_come_from_the_map_then_the_table_then_the_names() {
    let mut account = Account::with_clusters(&["m", "t", "n", "Karpenter-k"]);
    for (id, cluster) in [(I1, "by-map"), (I2, "by-table"), (I3, "n"), ("i-00000004", "k")] {
        account.own(id, cluster);
    }
    account.table.insert("by-table".to_owned(), url("t"));
    let map = format!(r#"{{"by-map":"{}"}}"#, url("m"));
    let mut router = router_with(&[("CLUSTER_QUEUES", &map), ("CLUSTER_TABLE", "clusters")]);
    let bodies = [I1, I2, I3, "i-00000004"].map(|id| spot(id, id));
    let report = account.route(&mut router, &bodies);
    assert_eq!(verdicts(&report), ["routed"; 4]);
    assert!(account.queues.values().all(|queue| queue.len() == 1), "{:?}", account.queues);
    let asked = account.questions.len();
    let again = [I2, I3].map(|id| spot(&format!("again-{id}"), id));
    account.route(&mut router, &again);
    assert_eq!(account.questions.len(), asked, "URLs are believed for ten minutes");
}

#[test]
fn absence_of_a_queue_is_believed_for_a_minute() {
    let mut account = Account::with_clusters(&[]);
    account.own(I1, "late");
    let mut router = router();
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.insert("late".to_owned(), vec![]);
    account.now_ms += 59_000;
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
    account.now_ms += 2_000;
    let report = account.route(&mut router, &[spot("e3", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn a_queue_that_moved_is_found_again_within_the_batch() {
    let mut account = Account::with_clusters(&["old"]);
    account.own(I1, "a");
    account.table.insert("a".to_owned(), url("old"));
    let mut router = router_with(&[("CLUSTER_TABLE", "clusters")]);
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.clear();
    account.queues.insert("new".to_owned(), vec![]);
    account.table.insert("a".to_owned(), url("new"));
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
    assert_eq!(account.contents("new").len(), 1);
}

#[test]
fn a_queue_that_was_deleted_makes_its_cluster_one_without_router() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let mut router = router();
    account.route(&mut router, &[spot("e1", I1)]);
    account.queues.clear();
    let report = account.route(&mut router, &[spot("e2", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
}

#[test]
fn a_listed_queue_that_does_not_exist_fails_its_messages() {
    let mut account = Account::with_clusters(&[]);
    account.own(I1, "a");
    let map = format!(r#"{{"a":"{}"}}"#, url("gone"));
    let report = account.route(&mut router_with(&[("CLUSTER_QUEUES", &map)]), &[spot("e", I1)]);
    assert_eq!(
        verdicts(&report),
        ["failed: could not send to https://sqs.test/gone: the queue does not exist"]
    );
}

#[test]
fn a_route_may_ask_for_a_tag_and_for_kinds() {
    let mut account = Account::with_clusters(&["pro", "rest"]);
    account.tag(I1, &[("eks:eks-cluster-name", "a"), ("karpenter.sh/nodepool", "default")]);
    account.tag(I2, &[("eks:eks-cluster-name", "a")]);
    account.tag(I3, &[("eks:eks-cluster-name", "a"), ("karpenter.sh/provisioner-name", "old")]);
    let map = format!(
        r#"{{"a":[{{"url":"{}","requireTag":"karpenter.sh/nodepool"}},{{"url":"{}","kinds":["spot","health"]}}]}}"#,
        url("pro"),
        url("rest")
    );
    let mut router = router_with(&[("CLUSTER_QUEUES", &map)]);
    let bodies = [spot("e1", I1), spot("e2", I2), spot("e3", I3), state("e4", I2, "stopped")];
    let report = account.route(&mut router, &bodies);
    assert_eq!(account.contents("pro"), [bodies[0].clone(), bodies[2].clone()]);
    assert_eq!(account.contents("rest"), [bodies[1].clone()]);
    assert_eq!(verdicts(&report)[3], "unrouted: no-route");
}

#[test]
fn a_tag_that_no_queue_can_be_named_after_asks_for_nothing() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "../../a b?");
    let report = account.route(&mut router(), &[spot("e", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"]);
    assert!(account.questions.is_empty());
}

// What belongs to nobody, other accounts, poison, switches.

#[test]
fn what_belongs_to_nobody_goes_to_its_own_queue_if_there_is_one() {
    let mut account = Account::with_clusters(&["a", "nobody"]);
    account.own(I1, "a");
    let unrouted = url("nobody");
    let mut router = router_with(&[("UNROUTED_QUEUE_URL", &unrouted)]);
    let report = account.route(&mut router, &[spot("e1", I2), health("e2", &[I1, I3])]);
    assert_eq!(verdicts(&report), ["unrouted: no-tag", "routed"]);
    assert_eq!(account.contents("nobody"), [spot("e1", I2), health("e2", &[I3])]);
    assert_eq!(account.contents("a"), [health("e2", &[I1])]);
}

#[test]
fn another_accounts_events_need_a_role_and_a_listed_queue() {
    let mut account = Account::with_clusters(&["a", "b"]);
    account.own(I1, "a");
    let home = Scope::new("999900001111", "eu-west-1");
    let mut settings = Settings { home, ..Settings::default() };
    let report = account.route(&mut Router::new(settings.clone()), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: other-account"]);
    settings.has_account_role = true;
    let report = account.route(&mut Router::new(settings.clone()), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["unrouted: no-queue"], "a queue of that name is ours");
    assert_eq!(account.lookups.last().unwrap().scope.account, "111122223333");
    let map = format!(r#"{{"a":"{}"}}"#, url("b"));
    settings.static_map = StaticMap::from_json(&map).unwrap();
    let report = account.route(&mut Router::new(settings), &[spot("e1", I1)]);
    assert_eq!(verdicts(&report), ["routed"]);
}

#[test]
fn the_same_instance_id_in_two_regions_is_two_instances() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let elsewhere = spot("e2", I1).replace("eu-west-1", "us-east-1");
    let report = account.route(&mut router(), &[spot("e1", I1), elsewhere]);
    assert_eq!(report.lookup_calls, 2);
    assert_ne!(account.lookups[0].scope, account.lookups[1].scope);
}

#[test]
fn poison_is_counted_and_circles_only_on_request() {
    let mut account = Account::with_clusters(&["a"]);
    let poison = ["{".to_owned(), "[]".to_owned()];
    let report = account.route(&mut router(), &poison);
    assert_eq!(report.failures().count(), 0);
    assert_eq!(report.outcomes[0].verdict.reason(), "not-json");
    let report = account.route(&mut router_with(&[("POISON_TO_DLQ", "true")]), &poison);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0", "m1"]);
}

#[test]
fn kinds_can_be_switched_off() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    let body = spot("e", I1)
        .replace("Spot Instance Interruption Warning", "Instance Rebalance Recommendation");
    let report = account.route(&mut router_with(&[("FORWARD_REBALANCE", "false")]), &[body]);
    assert_eq!(verdicts(&report), ["dropped: not-forwarded"]);
}

#[test]
fn a_sender_fault_fails_the_message_and_its_neighbours_arrive() {
    let mut account = Account::with_clusters(&["a"]);
    account.own(I1, "a");
    account.entry_fault = Some(|body| {
        body.contains("\"e1\"").then(|| EntryOutcome::Failed {
            sender_fault: true,
            why: "InvalidMessageContents".to_owned(),
        })
    });
    let report = account.route(&mut router(), &[spot("e1", I1), spot("e2", I1)]);
    assert_eq!(report.failures().collect::<Vec<_>>(), ["m0"]);
    assert_eq!(account.contents("a"), [spot("e2", I1)]);
}

#[test]
fn a_batch_whose_time_is_over_fails_what_is_open() {
    let mut router = router();
    let record = Record { id: "m0".to_owned(), body: spot("e", I1) };
    let limits = Limits { deadline_ms: 100, seed: 0 };
    let mut batch = Batch::open(&mut router, vec![record], limits, 0);
    assert!(matches!(batch.step(&mut router, 0), Step::Ask(_)));
    assert_eq!(batch.step(&mut router, 100), Step::Done);
    assert_eq!(batch.finish().failures().collect::<Vec<_>>(), ["m0"]);
}

#[test]
fn settings_say_what_is_wrong_with_them() {
    let table = [
        ("CLUSTER_QUEUES", "[]", "not a map"),
        ("CLUSTER_QUEUES", r#"{"a":"queue"}"#, "is not the URL of a queue"),
        (
            "CLUSTER_QUEUES",
            r#"{"a":[{"url":"https://x/y","kinds":["sport"]}]}"#,
            "the kinds are spot",
        ),
        ("QUEUE_NAME_TEMPLATE", "karpenter", "must contain {cluster}"),
        ("MAX_BATCH_BYTES", "1", "from 1024 to 1048576"),
        ("CACHE_SIZE", "many", "is not a whole number"),
        ("POISON_TO_DLQ", "yes", "neither true nor false"),
        ("UNROUTED_QUEUE_URL", "nobody", "is not the URL of a queue"),
    ];
    for (name, value, expected) in table {
        let get = |asked: &str| (asked == name).then(|| value.to_owned());
        let error = Settings::from_lookup(get).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains(expected), "{error}");
    }
}
