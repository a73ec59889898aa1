//! Two clusters on a stand-in for AWS, with queues and instances, under names of their own.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use aws_sdk_ec2::types::{InstanceType, ResourceType, Tag, TagSpecification};
use aws_sdk_sqs::types::QueueAttributeName;
use kerf_aws::{Queues, Session, TimeOuts};
use kerf_notices::message::Record;
use kerf_notices::routing::RoutingSettings;
use kerf_router::{Executor, ExecutorSettings, Routing};
use kerf_testbed::AwsStandIn;

pub(crate) const REGION: &str = "us-east-1";
/// The account in which a stand-in keeps what is made with its own keys.
pub(crate) const ACCOUNT: &str = "123456789012";
/// A shared machine may be slow; no test here is about slowness.
pub(crate) const PATIENT: TimeOuts =
    TimeOuts { connect: Duration::from_secs(20), call: Duration::from_secs(60) };
pub(crate) const TIME: Duration = Duration::from_secs(120);

pub(crate) fn aws() -> &'static AwsStandIn {
    static AWS: OnceLock<AwsStandIn> = OnceLock::new();
    AWS.get_or_init(|| AwsStandIn::start().unwrap())
}

pub(crate) struct Place {
    pub(crate) session: Session,
    pub(crate) queues: Queues,
    prefix: String,
    pub(crate) urls: BTreeMap<String, String>,
    pub(crate) instances: BTreeMap<String, Vec<String>>,
}

impl Place {
    /// Clusters `a` and `b` with so many instances each.
    pub(crate) async fn new(prefix: &str, per_cluster: i32) -> Self {
        Self::in_region(REGION, prefix, per_cluster).await
    }

    /// The same in a region that no other test looks at: zonal shifts reach every queue of a region.
    pub(crate) async fn in_region(region: &str, prefix: &str, per_cluster: i32) -> Self {
        let session = Session::of_stand_in(aws().endpoint_url(), region, PATIENT).await;
        let queues = session.queues();
        let (urls, instances) = (BTreeMap::new(), BTreeMap::new());
        let mut place = Self { session, queues, prefix: prefix.to_owned(), urls, instances };
        for name in ["a", "b"] {
            place.queue(name, true).await;
            let tag = ("eks:eks-cluster-name".to_owned(), place.named(name));
            let ids = launch(&place.session, per_cluster, &[tag]).await;
            place.instances.insert(name.to_owned(), ids);
        }
        place
    }

    /// The name of a cluster or queue of this place.
    pub(crate) fn named(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    pub(crate) async fn queue(&mut self, name: &str, of_cluster: bool) -> String {
        let client = aws_sdk_sqs::Client::new(self.session.sdk_config());
        let full = self.named(name);
        let mut call = client.create_queue().queue_name(&full);
        if of_cluster {
            call = call.tags("kerf.sh/cluster", &full);
        }
        let url = call.send().await.unwrap().queue_url.unwrap();
        self.urls.insert(name.to_owned(), url.clone());
        url
    }

    /// A queue whose messages go to another when they are received a fourth time. They come again
    /// after eight seconds, longer than a batch is patient.
    pub(crate) async fn queue_with_dead_letters(&mut self, name: &str) -> String {
        let dead = self.queue(&format!("{name}-dead"), false).await;
        let client = aws_sdk_sqs::Client::new(self.session.sdk_config());
        let arn = format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{}", dead.rsplit('/').next().unwrap());
        let policy = serde_json::json!({"deadLetterTargetArn": arn, "maxReceiveCount": 3});
        let call = client.create_queue().queue_name(self.named(name));
        let call = call.attributes(QueueAttributeName::VisibilityTimeout, "8");
        let call = call.attributes(QueueAttributeName::RedrivePolicy, policy.to_string());
        let url = call.send().await.unwrap().queue_url.unwrap();
        self.urls.insert(name.to_owned(), url.clone());
        url
    }

    pub(crate) fn routing(&self) -> Routing {
        self.routing_over(&self.session)
    }

    pub(crate) fn routing_over(&self, session: &Session) -> Routing {
        let executor = Executor::new(session.clone(), ExecutorSettings::default());
        Routing::new(RoutingSettings::default(), executor)
    }

    /// Empties a queue.
    pub(crate) async fn contents(&self, name: &str) -> Vec<String> {
        emptied(&self.queues, &self.urls[name]).await
    }

    /// How much a queue holds, and what was received from it and not deleted.
    pub(crate) async fn depth(&self, name: &str) -> (u64, u64) {
        let depth = self.queues.depth(&self.urls[name]).await.unwrap();
        (depth.visible, depth.in_flight)
    }

    /// Fills a queue with messages.
    pub(crate) async fn fill(&self, name: &str, bodies: &[String]) {
        for chunk in bodies.chunks(10) {
            let messages = chunk.iter().map(|body| (body.clone(), vec![])).collect();
            assert!(self.queues.send(&self.urls[name], messages).await.unwrap().is_empty());
        }
    }
}

/// Launches instances that carry tags.
pub(crate) async fn launch(
    session: &Session,
    count: i32,
    tags: &[(String, String)],
) -> Vec<String> {
    let client = aws_sdk_ec2::Client::new(session.sdk_config());
    let tag = |(key, value): &(String, String)| Tag::builder().key(key).value(value).build();
    let tags = TagSpecification::builder()
        .resource_type(ResourceType::Instance)
        .set_tags(Some(tags.iter().map(tag).collect()))
        .build();
    let launched = client
        .run_instances()
        .image_id("ami-12c6146b")
        .instance_type(InstanceType::M5Large)
        .min_count(count)
        .max_count(count)
        .tag_specifications(tags)
        .send()
        .await
        .unwrap();
    launched.instances().iter().map(|one| one.instance_id().unwrap().to_owned()).collect()
}

/// Takes everything out of a queue.
pub(crate) async fn emptied(queues: &Queues, url: &str) -> Vec<String> {
    let mut bodies = Vec::new();
    loop {
        let messages = queues.receive(url, Duration::ZERO).await.unwrap();
        if messages.is_empty() {
            return bodies;
        }
        let receipts = messages.iter().map(|message| message.receipt.clone()).collect();
        queues.delete(url, receipts).await.unwrap();
        bodies.extend(messages.into_iter().map(|message| message.body));
    }
}

pub(crate) fn spot(event_id: &str, instance: &str) -> String {
    let detail = format!(r#"{{"instance-id":"{instance}","instance-action":"terminate"}}"#);
    event(event_id, "aws.ec2", "EC2 Spot Instance Interruption Warning", "[]", &detail)
}

pub(crate) fn state(event_id: &str, instance: &str, state: &str) -> String {
    let detail = format!(r#"{{"instance-id":"{instance}","state":"{state}"}}"#);
    event(event_id, "aws.ec2", "EC2 Instance State-change Notification", "[]", &detail)
}

pub(crate) fn health(event_id: &str, instances: &[&str]) -> String {
    let entities: Vec<_> =
        instances.iter().map(|id| format!(r#"{{"entityValue":"{id}"}}"#)).collect();
    let resources: Vec<_> = instances.iter().map(|id| format!("\"{id}\"")).collect();
    let detail = format!(
        r#"{{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[{}]}}"#,
        entities.join(",")
    );
    let resources = format!("[{}]", resources.join(","));
    event(event_id, "aws.health", "AWS Health Event", &resources, &detail)
}

pub(crate) fn event(
    event_id: &str,
    source: &str,
    detail_type: &str,
    resources: &str,
    detail: &str,
) -> String {
    format!(
        r#"{{"id":"{event_id}","source":"{source}","detail-type":"{detail_type}","resources":{resources},"detail":{detail}}}"#
    )
}

pub(crate) fn records(bodies: &[String]) -> Vec<Record> {
    let record =
        |(index, body): (usize, &String)| Record { id: format!("m{index}"), body: body.clone() };
    bodies.iter().enumerate().map(record).collect()
}
