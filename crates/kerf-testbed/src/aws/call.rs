//! Calls to a stand-in without a client library, for tests that need a handful of them.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::aws::arc::ArcStandIn;
use crate::aws::stand_in::AwsStandIn;

/// What a body of parameters is called.
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

impl AwsStandIn {
    /// One call of SQS, as in `CreateQueue`.
    ///
    /// # Panics
    ///
    /// If it is refused: a test can do nothing but fail with the answer.
    pub fn sqs(&self, action: &str, body: &Value) -> Value {
        self.json("sqs", &format!("AmazonSQS.{action}"), body)
    }

    /// One call of a service that names its actions in a header, as in `AmazonSSM.GetParameter`.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn json(&self, service: &str, target: &str, body: &Value) -> Value {
        let headers =
            format!("X-Amz-Target: {target}\r\nContent-Type: application/x-amz-json-1.0\r\n");
        json(&call(self.endpoint_url(), service, "POST /", &headers, &body.to_string()))
    }

    /// One call of EC2 with its parameters, as in `Action=RunInstances&MinCount=1`; the answer is
    /// XML.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn ec2(&self, parameters: &str) -> String {
        self.query("ec2", parameters)
    }

    /// One call of a service that takes parameters and answers in XML.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn query(&self, service: &str, parameters: &str) -> String {
        call(self.endpoint_url(), service, "POST /", FORM, parameters)
    }

    /// What a service says to a call that it refuses.
    ///
    /// # Panics
    ///
    /// If it is not refused.
    pub fn refusal(&self, service: &str, line: &str, body: &str) -> String {
        let headers = if body.starts_with("Action=") { FORM } else { "" };
        let (is_well, answer) = ask(self.endpoint_url(), service, line, headers, body);
        assert!(!is_well, "{service}: {line}: not refused: {answer}");
        answer
    }

    /// One call of a service that speaks JSON, as in `POST /clusters` of `eks`.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn call(&self, service: &str, line: &str, body: &Value) -> Value {
        json(&call(self.endpoint_url(), service, line, "", &body.to_string()))
    }
}

impl ArcStandIn {
    /// One call of ARC, as in `DELETE /zonalshifts/ID`; nothing is sent where the body is null.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn call(&self, line: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        json(&call(&self.endpoint_url(), "arc-zonal-shift", line, "", &body))
    }
}

fn call(url: &str, service: &str, line: &str, headers: &str, body: &str) -> String {
    let (is_well, answer) = ask(url, service, line, headers, body);
    assert!(is_well, "{service}: {line}: {answer}");
    answer
}

/// Whether a call went well, and its answer. The signature is not looked at; only the service in it
/// is.
pub(crate) fn ask(
    url: &str,
    service: &str,
    line: &str,
    headers: &str,
    body: &str,
) -> (bool, String) {
    let address = url.strip_prefix("http://").expect("stand-ins speak plain HTTP");
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
         Authorization: AWS4-HMAC-SHA256 \
         Credential=testing/20260101/us-east-1/{service}/aws4_request, \
         SignedHeaders=host, Signature=unchecked\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let mut answer = String::new();
    let asked = TcpStream::connect(address).and_then(|mut stream| {
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut answer)
    });
    if let Err(error) = asked {
        return (false, error.to_string());
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.starts_with("HTTP/1.1 2"), body.to_owned())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
