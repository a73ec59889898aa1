//! Two clusters on a stand-in, and events about their instances.

use std::time::Duration;

use aws_sdk_ec2::types::{InstanceType, ResourceType, Tag, TagSpecification};
use kerf_aws::{Session, TimeOuts};
use kerf_testbed::AwsStandIn;

/// Instances of each cluster.
const INSTANCES: i32 = 100;
const CLUSTERS: [&str; 2] = ["blue", "green"];

pub(crate) struct Account {
    pub(crate) aws: AwsStandIn,
    pub(crate) session: Session,
    instances: Vec<String>,
    events: usize,
}

impl Account {
    pub(crate) async fn new() -> Self {
        let aws = AwsStandIn::start().unwrap();
        let time_outs =
            TimeOuts { connect: Duration::from_secs(20), call: Duration::from_secs(60) };
        let session = Session::of_stand_in(aws.endpoint_url(), "us-east-1", time_outs).await;
        let mut account = Self { aws, session, instances: Vec::new(), events: 0 };
        for cluster in CLUSTERS {
            account.queue(cluster).await;
            account.launch(cluster).await;
        }
        account
    }

    pub(crate) async fn queue(&self, name: &str) -> String {
        let client = aws_sdk_sqs::Client::new(self.session.sdk_config());
        client.create_queue().queue_name(name).send().await.unwrap().queue_url.unwrap()
    }

    async fn launch(&mut self, cluster: &str) {
        let client = aws_sdk_ec2::Client::new(self.session.sdk_config());
        let tag = Tag::builder().key("eks:eks-cluster-name").value(cluster).build();
        let tags = TagSpecification::builder().resource_type(ResourceType::Instance).tags(tag);
        let call = client.run_instances().image_id("ami-12c6146b");
        let call = call.instance_type(InstanceType::M5Large).tag_specifications(tags.build());
        let launched = call.min_count(INSTANCES).max_count(INSTANCES).send().await.unwrap();
        let ids = launched.instances().iter().map(|one| one.instance_id().unwrap().to_owned());
        self.instances.extend(ids);
    }

    /// New spot notices, about one instance after the other.
    pub(crate) fn notices(&mut self, count: usize) -> Vec<String> {
        let start = self.events;
        self.events += count;
        let notice = |number: usize| {
            let instance = &self.instances[number % self.instances.len()];
            format!(
                r#"{{"version":"0","id":"00000000-0000-4000-8000-{number:012x}","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","account":"123456789012","time":"2026-11-01T00:00:00Z","region":"us-east-1","resources":["arn:aws:ec2:us-east-1b:instance/{instance}"],"detail":{{"instance-id":"{instance}","instance-action":"terminate"}}}}"#
            )
        };
        (start..self.events).map(notice).collect()
    }

    /// How many messages the clusters' queues hold.
    pub(crate) async fn delivered(&self) -> u64 {
        let (queues, mut delivered) = (self.session.queues(), 0);
        for cluster in CLUSTERS {
            let url = queues.url(cluster).await.unwrap().unwrap();
            delivered += queues.depth(&url).await.unwrap().visible;
        }
        delivered
    }
}
