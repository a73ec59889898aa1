//! Plain requests to a stand-in, for services that the router has no client of.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A stand-in and a region of it.
#[derive(Clone, Copy)]
pub(crate) struct Http<'a> {
    pub(crate) endpoint_url: &'a str,
    pub(crate) region: &'a str,
}

impl Http<'_> {
    /// A call in the older protocol: a form in, XML out.
    pub(crate) fn form(self, service: &str, form: &[(&str, &str)]) -> String {
        let coded = |text: &str| text.bytes().map(|b| format!("%{b:02X}")).collect::<String>();
        let body: Vec<_> =
            form.iter().map(|(key, value)| format!("{key}={}", coded(value))).collect();
        let headers = [("Content-Type", "application/x-www-form-urlencoded")];
        self.request("POST", "/", service, &headers, &body.join("&"))
    }

    /// A call in the newer protocol: JSON in, JSON out.
    pub(crate) fn json(self, service: &str, target: &str, body: &Value) -> Value {
        let headers = [("Content-Type", "application/x-amz-json-1.1"), ("X-Amz-Target", target)];
        let answer = self.request("POST", "/", service, &headers, &body.to_string());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{target}: {answer}");
        serde_json::from_str(body).unwrap()
    }

    pub(crate) fn get(self, service: &str, path: &str) -> String {
        self.request("GET", path, service, &[], "")
    }

    pub(crate) fn put(self, service: &str, path: &str, body: &str) -> String {
        self.request("PUT", path, service, &[], body)
    }

    /// Keys are not checked, but they tell the service and the region.
    fn request(
        self,
        method: &str,
        path: &str,
        service: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> String {
        let Self { endpoint_url, region } = self;
        let address = endpoint_url.strip_prefix("http://").unwrap();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\
             Authorization: AWS4-HMAC-SHA256 \
             Credential=testing/20260101/{region}/{service}/aws4_request, SignedHeaders=host, \
             Signature=unchecked\r\nContent-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}
