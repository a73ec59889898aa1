//! A stand-in for the instance metadata service of one instance: tokens, what the instance is, what
//! is announced about it, and faults.
//!
//! What it answers is set from a test, or over HTTP with any program:
//!
//! ```text
//! curl -X PUT    $URL/kerf/latest/meta-data/spot/instance-action -d '{"action":"terminate",…}'
//! curl -X DELETE $URL/kerf/latest/meta-data/spot/instance-action
//! curl -X POST   $URL/kerf/fault -d status        (or silence; nothing for none)
//! curl -X POST   $URL/kerf/forget-tokens
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::aws::http::{Reply, Request};
use crate::error::Result;
use crate::programs::listening::Listening;

/// Where what it answers is set.
const CONTROL: &str = "/kerf/";
const TOKEN_PATH: &str = "/latest/api/token";
const TOKEN_HEADER: &str = "x-aws-ec2-metadata-token";
const TTL_HEADER: &str = "x-aws-ec2-metadata-token-ttl-seconds";

/// A running stand-in. Dropping it ends it.
#[derive(Debug)]
pub struct ImdsStandIn {
    listening: Listening,
    state: Arc<Mutex<State>>,
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImdsFault {
    /// It answers every question with an error.
    Status,
    /// It takes questions and answers none.
    Silence,
}

#[derive(Debug, Default)]
struct State {
    answers: BTreeMap<String, String>,
    tokens: BTreeSet<String>,
    tokens_given: u64,
    fault: Option<ImdsFault>,
    asked: BTreeMap<String, u64>,
}

impl ImdsStandIn {
    /// Starts the metadata service of an instance, about which nothing is announced.
    pub fn start(instance_id: &str) -> Result<Self> {
        let identity = json!({"accountId": "123456789012", "availabilityZone": "us-east-1a",
            "instanceId": instance_id, "instanceType": "m5.large", "privateIp": "10.0.0.7",
            "region": "us-east-1"});
        let state = State {
            answers: [
                ("/latest/dynamic/instance-identity/document", identity.to_string()),
                ("/latest/meta-data/instance-id", instance_id.to_owned()),
                ("/latest/meta-data/instance-type", "m5.large".to_owned()),
                ("/latest/meta-data/instance-life-cycle", "spot".to_owned()),
                ("/latest/meta-data/local-hostname", "ip-10-0-0-7.ec2.internal".to_owned()),
                ("/latest/meta-data/local-ipv4", "10.0.0.7".to_owned()),
                ("/latest/meta-data/placement/availability-zone", "us-east-1a".to_owned()),
            ]
            .map(|(path, body)| (path.to_owned(), body))
            .into(),
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let listening = Listening::start(move |mut stream| {
            if let Ok(Some(request)) = Request::read(&mut stream) {
                let reply = lock(&shared).answer(&request);
                // Without a reply the connection is closed, as by a service that is gone.
                let _ = reply.map(|reply| reply.write(&mut stream));
            }
        })?;
        Ok(Self { listening, state })
    }

    /// What to set `INSTANCE_METADATA_URL` to.
    pub fn url(&self) -> String {
        self.listening.url()
    }

    /// What it answers from now on at a path below `/latest/meta-data/`.
    pub fn set(&self, path: &str, body: &str) {
        lock(&self.state).answers.insert(format!("/latest/meta-data/{path}"), body.to_owned());
    }

    /// There is nothing at a path below `/latest/meta-data/` from now on.
    pub fn remove(&self, path: &str) {
        lock(&self.state).answers.remove(&format!("/latest/meta-data/{path}"));
    }

    /// Fails from now on, or no longer.
    pub fn fail(&self, fault: Option<ImdsFault>) {
        lock(&self.state).fault = fault;
    }

    /// No token it gave is good any more.
    pub fn forget_tokens(&self) {
        lock(&self.state).tokens.clear();
    }

    /// How often it was asked for a path below `/latest/meta-data/`.
    pub fn asked(&self, path: &str) -> u64 {
        let path = format!("/latest/meta-data/{path}");
        lock(&self.state).asked.get(&path).copied().unwrap_or_default()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// The answer to a request; none if it shall have none.
    fn answer(&mut self, request: &Request) -> Option<Reply> {
        let (method, path) = (request.method.as_str(), request.path());
        if let Some(path) = path.strip_prefix(CONTROL) {
            return Some(self.control(method, path, &request.text));
        }
        *self.asked.entry(path.to_owned()).or_default() += 1;
        match self.fault {
            Some(ImdsFault::Silence) => return None,
            Some(ImdsFault::Status) => {
                return Some(Reply::text("503 Service Unavailable", String::new()));
            }
            None => {}
        }
        let token = request.header(TOKEN_HEADER);
        Some(match (method, path) {
            ("PUT", TOKEN_PATH) if request.header(TTL_HEADER).is_some() => {
                self.tokens_given += 1;
                let token = format!("token-{}", self.tokens_given);
                self.tokens.insert(token.clone());
                Reply::text("200 OK", token)
            }
            ("PUT", TOKEN_PATH) => Reply::text("400 Bad Request", String::new()),
            _ if token.is_none_or(|token| !self.tokens.contains(token)) => {
                Reply::text("401 Unauthorized", String::new())
            }
            _ => match self.answers.get(path) {
                Some(body) => Reply::text("200 OK", body.clone()),
                None => Reply::text("404 Not Found", String::new()),
            },
        })
    }

    fn control(&mut self, method: &str, path: &str, body: &str) -> Reply {
        match (method, path) {
            ("PUT", path) => drop(self.answers.insert(format!("/{path}"), body.to_owned())),
            ("DELETE", path) => drop(self.answers.remove(&format!("/{path}"))),
            ("POST", "fault") => {
                self.fault = match body {
                    "status" => Some(ImdsFault::Status),
                    "silence" => Some(ImdsFault::Silence),
                    _ => None,
                };
            }
            ("POST", "forget-tokens") => self.tokens.clear(),
            _ => return Reply::text("404 Not Found", String::new()),
        }
        Reply::text("200 OK", String::new())
    }
}
