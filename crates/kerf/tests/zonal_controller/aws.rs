//! The account: a cluster, a queue, and zonal shifts.

use std::io::{Read, Write};
use std::net::TcpStream;

use kerf_testbed::{ArcStandIn, AwsStandIn};
use serde_json::{Value, json};

pub(crate) const CLUSTER: &str = "demo";
const ARN: &str = "arn:aws:eks:us-east-1:123456789012:cluster/demo";
/// The id of `us-east-1a` in the stand-in's account.
pub(crate) const ZONE_A_ID: &str = "use1-az6";
const ZONAL_SHIFTS: &str = "/zonalshifts";

/// An account with one EKS cluster.
pub(crate) struct Account {
    aws: AwsStandIn,
    arc: ArcStandIn,
}

impl Account {
    pub(crate) fn open() -> Self {
        let this = Self { aws: AwsStandIn::start().unwrap(), arc: ArcStandIn::start().unwrap() };
        let cluster = json!({"name": CLUSTER, "roleArn": "arn:aws:iam::123456789012:role/eks",
            "resourcesVpcConfig": {"subnetIds": []}});
        let made = this.call(this.aws.endpoint_url(), "eks", "POST /clusters", "", &cluster);
        assert_eq!(made["cluster"]["arn"], ARN, "{made}");
        this
    }

    /// The variables that lead a program here.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let aws = self.aws.environment().map(|(name, value)| (name, value.to_owned()));
        aws.into_iter().chain([self.arc.environment()]).collect()
    }

    /// Shifts the cluster away from a zone; the id of the shift.
    pub(crate) fn shift_away(&self, zone_id: &str) -> String {
        let shift = json!({"resourceIdentifier": ARN, "awayFrom": zone_id, "expiresIn": "1h",
            "comment": "drill"});
        let line = format!("POST {ZONAL_SHIFTS}");
        let made = self.call(&self.arc.endpoint_url(), "arc-zonal-shift", &line, "", &shift);
        made["zonalShiftId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn cancel(&self, shift: &str) {
        let line = format!("DELETE {ZONAL_SHIFTS}/{shift}");
        let ended = self.call(&self.arc.endpoint_url(), "arc-zonal-shift", &line, "", &Value::Null);
        assert_eq!(ended["status"], "CANCELED", "{ended}");
    }

    /// A queue's URL.
    pub(crate) fn queue(&self) -> String {
        let made = self.sqs("CreateQueue", &json!({"QueueName": "demo-zonal-shift"}));
        made["QueueUrl"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&self, queue_url: &str, body: &Value) {
        let message = json!({"QueueUrl": queue_url, "MessageBody": body.to_string()});
        let sent = self.sqs("SendMessage", &message);
        assert!(sent["MessageId"].is_string(), "{sent}");
    }

    fn sqs(&self, action: &str, body: &Value) -> Value {
        let target = format!(
            "X-Amz-Target: AmazonSQS.{action}\r\nContent-Type: application/x-amz-json-1.0\r\n"
        );
        self.call(self.aws.endpoint_url(), "sqs", "POST /", &target, body)
    }

    /// The signature is not looked at; only the service in it is.
    fn call(&self, url: &str, service: &str, line: &str, headers: &str, body: &Value) -> Value {
        let address = url.strip_prefix("http://").unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
             Authorization: AWS4-HMAC-SHA256 \
             Credential=testing/20260101/us-east-1/{service}/aws4_request, \
             SignedHeaders=host, Signature=unchecked\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 2"), "{line}: {answer}");
        serde_json::from_str(body).unwrap()
    }
}
