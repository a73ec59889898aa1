//! The account: clusters, queues, instances, and zonal shifts.

use kerf_testbed::{ArcStandIn, AwsStandIn};
use serde_json::{Value, json};

pub(crate) const CLUSTER: &str = "demo";
const ARN: &str = "arn:aws:eks:us-east-1:123456789012:cluster/demo";
/// The id of `us-east-1a` in the stand-in's account.
pub(crate) const ZONE_A_ID: &str = "use1-az6";

/// An account with one EKS cluster.
pub(crate) struct Account {
    pub(crate) aws: AwsStandIn,
    arc: ArcStandIn,
    detours: Vec<(&'static str, String)>,
}

impl Account {
    pub(crate) fn open() -> Self {
        let (aws, arc) = (AwsStandIn::start().unwrap(), ArcStandIn::start().unwrap());
        let this = Self { aws, arc, detours: Vec::new() };
        let cluster = json!({"name": CLUSTER, "roleArn": "arn:aws:iam::123456789012:role/eks",
            "resourcesVpcConfig": {"subnetIds": []}});
        let made = this.aws.call("eks", "POST /clusters", &cluster);
        assert_eq!(made["cluster"]["arn"], ARN, "{made}");
        this
    }

    /// The variables that lead a program here.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let aws = self.aws.environment().map(|(name, value)| (name, value.to_owned()));
        let straight = aws.into_iter().chain([self.arc.environment()]);
        straight.chain(self.detours.iter().cloned()).collect()
    }

    /// Leads programs to another address, by the variable of a service.
    pub(crate) fn through(&mut self, variable: &'static str, endpoint_url: String) {
        self.detours.push((variable, endpoint_url));
    }

    /// Shifts the cluster away from a zone; the id of the shift.
    pub(crate) fn shift_away(&self, zone_id: &str) -> String {
        let shift = json!({"resourceIdentifier": ARN, "awayFrom": zone_id, "expiresIn": "1h",
            "comment": "drill"});
        let made = self.arc.call("POST /zonalshifts", &shift);
        made["zonalShiftId"].as_str().unwrap().to_owned()
    }

    /// What ARC lists while it practises.
    pub(crate) fn practise(&self, zone_id: &str) -> String {
        let shift = json!({"resourceIdentifier": ARN, "awayFrom": zone_id, "expiresIn": "1h",
            "shiftType": "PRACTICE_RUN"});
        let made = self.arc.call("POST /zonalshifts", &shift);
        made["zonalShiftId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn cancel(&self, shift: &str) {
        let ended = self.arc.call(&format!("DELETE /zonalshifts/{shift}"), &Value::Null);
        assert_eq!(ended["status"], "CANCELED", "{ended}");
    }

    /// The URL of a new queue.
    pub(crate) fn queue(&self, name: &str) -> String {
        let made = self.aws.sqs("CreateQueue", &json!({"QueueName": name}));
        made["QueueUrl"].as_str().unwrap().to_owned()
    }

    /// The URL of a new queue of the cluster of that name, tagged as its stack tags it.
    pub(crate) fn cluster_queue(&self, name: &str) -> String {
        let queue = json!({"QueueName": name, "tags": {"kerf.sh/cluster": name}});
        self.aws.sqs("CreateQueue", &queue)["QueueUrl"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&self, queue_url: &str, body: &Value) {
        self.send_text(queue_url, &body.to_string());
    }

    pub(crate) fn send_text(&self, queue_url: &str, body: &str) {
        let message = json!({"QueueUrl": queue_url, "MessageBody": body});
        let sent = self.aws.sqs("SendMessage", &message);
        assert!(sent["MessageId"].is_string(), "{sent}");
    }

    /// How many messages a queue holds, hidden ones included.
    pub(crate) fn depth(&self, queue_url: &str) -> u32 {
        let names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"];
        let asked = json!({"QueueUrl": queue_url, "AttributeNames": names});
        let answer = self.aws.sqs("GetQueueAttributes", &asked);
        let number = |name: &str| answer["Attributes"][name].as_str().unwrap().parse::<u32>();
        names.iter().map(|name| number(name).unwrap()).sum()
    }

    /// The id of a new instance of a cluster.
    pub(crate) fn instance(&self, cluster: &str) -> String {
        let answer = self.aws.ec2(&format!(
            "Action=RunInstances&Version=2016-11-15&ImageId=ami-12c6146b&MinCount=1&MaxCount=1\
             &TagSpecification.1.ResourceType=instance\
             &TagSpecification.1.Tag.1.Key=eks%3Aeks-cluster-name\
             &TagSpecification.1.Tag.1.Value={cluster}"
        ));
        let (_, rest) = answer.split_once("<instanceId>").unwrap();
        rest.split_once("</instanceId>").unwrap().0.to_owned()
    }
}
