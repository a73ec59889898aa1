//! A proxy in front of a stand-in that makes some calls fail, by rule.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::aws::token_buckets::{CallKind, TokenBuckets};
use crate::error::Result;
use crate::programs::listening::Listening;

/// A call larger than this is not one of ours.
const REQUEST_BYTES_MAX: usize = 4 << 20;

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is refused as one too many.
    Throttle,
    /// The service answers 503.
    Unavailable,
    /// A permission is missing.
    Deny,
    /// The credentials have expired.
    Expire,
    /// It is passed on late.
    Slow(Duration),
    /// The connection closes without an answer.
    HangUp,
}

/// Which calls a fault happens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRule {
    /// A piece of the call, such as `SendMessageBatch` or `Action=DescribeInstances`.
    pub contains: String,
    /// Every how many matching calls: 1 is each, 20 is five in a hundred.
    pub every: u64,
    /// How often at most.
    pub at_most: u64,
    /// What happens.
    pub fault: Fault,
}

/// A running proxy. Dropping it ends it.
#[derive(Debug)]
pub struct FaultProxy {
    listening: Listening,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    upstream: String,
    rules: Mutex<Vec<(FaultRule, u64, u64)>>,
    /// Since when calls of EC2 are limited, what is left, and what was refused.
    limits: Mutex<Option<(Instant, TokenBuckets, Vec<String>)>>,
    injected: AtomicU64,
    passed: AtomicU64,
}

impl FaultProxy {
    /// Starts a proxy in front of `endpoint_url` (`http://HOST:PORT`).
    pub fn start(endpoint_url: &str) -> Result<Self> {
        let upstream = endpoint_url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let shared = Arc::new(Shared {
            upstream,
            rules: Mutex::new(Vec::new()),
            limits: Mutex::new(None),
            injected: AtomicU64::new(0),
            passed: AtomicU64::new(0),
        });
        let serving = Arc::clone(&shared);
        let listening = Listening::start(move |client| drop(carry(client, &serving)))?;
        Ok(Self { listening, shared })
    }

    /// What to set `AWS_ENDPOINT_URL` to.
    pub fn endpoint_url(&self) -> String {
        self.listening.url()
    }

    /// Puts these rules in the place of all others; counting starts anew.
    pub fn set_rules(&self, rules: Vec<FaultRule>) {
        let rules = rules.into_iter().map(|rule| (rule, 0, 0)).collect();
        *self.shared.rules.lock().expect("no holder panics") = rules;
    }

    /// From now on takes calls of EC2 at the rates that EC2 takes them, starting with full buckets;
    /// others are answered `RequestLimitExceeded`.
    pub fn limit_ec2(&self) {
        let limits = (Instant::now(), TokenBuckets::full(), Vec::new());
        *self.shared.limits.lock().expect("no holder panics") = Some(limits);
    }

    /// The actions that were refused since the limits began, in order.
    pub fn throttled(&self) -> Vec<String> {
        let limits = self.shared.limits.lock().expect("no holder panics");
        limits.as_ref().map(|(_, _, refused)| refused.clone()).unwrap_or_default()
    }

    /// How many calls had a fault.
    pub fn injected(&self) -> u64 {
        self.shared.injected.load(Ordering::Relaxed)
    }

    /// How many calls were passed on.
    pub fn passed(&self) -> u64 {
        self.shared.passed.load(Ordering::Relaxed)
    }
}

fn carry(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(request) = read_request(&mut BufReader::new(client.try_clone()?))? else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&request);
    if shared.is_too_many(&text) {
        let answer = refusal(&request, "503 Service Unavailable", "RequestLimitExceeded");
        return client.write_all(answer.as_bytes());
    }
    let fault = shared.fault_for(&text);
    if fault.is_some() {
        shared.injected.fetch_add(1, Ordering::Relaxed);
    }
    let answer = match fault {
        None => None,
        Some(Fault::HangUp) => return Ok(()),
        Some(Fault::Slow(by)) => {
            thread::sleep(by);
            None
        }
        Some(Fault::Throttle) => Some(refusal(&request, "400 Bad Request", "RequestLimitExceeded")),
        Some(Fault::Deny) => Some(refusal(&request, "400 Bad Request", "AccessDenied")),
        Some(Fault::Expire) => Some(refusal(&request, "400 Bad Request", "ExpiredToken")),
        Some(Fault::Unavailable) => {
            Some(refusal(&request, "503 Service Unavailable", "Unavailable"))
        }
    };
    if let Some(answer) = answer {
        return client.write_all(answer.as_bytes());
    }
    shared.passed.fetch_add(1, Ordering::Relaxed);
    let mut upstream = TcpStream::connect(&shared.upstream)?;
    upstream.write_all(&request)?;
    io::copy(&mut upstream, &mut client)?;
    Ok(())
}

/// One whole request, told to close its connection afterwards. `None`: the client said nothing.
fn read_request(client: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let (mut head, mut body_bytes) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if client.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let lower = line.to_ascii_lowercase();
        if let Some(length) = lower.strip_prefix("content-length:") {
            body_bytes = length.trim().parse().unwrap_or(0);
        }
        if line == "\r\n" {
            head.extend_from_slice(b"Connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") {
            head.extend_from_slice(line.as_bytes());
        }
    }
    let mut body = vec![0; usize::min(body_bytes, REQUEST_BYTES_MAX)];
    client.read_exact(&mut body)?;
    head.extend_from_slice(&body);
    Ok(Some(head))
}

/// A refusal as EC2 writes it, or as SQS does where the call was JSON.
fn refusal(request: &[u8], status: &str, code: &str) -> String {
    let is_json = request.windows(10).any(|piece| piece == b"x-amz-json");
    let body = match is_json {
        true => format!("{{\"__type\":\"{code}\",\"message\":\"injected\"}}"),
        false => format!(
            "<Response><Errors><Error><Code>{code}</Code><Message>injected</Message></Error>\
             </Errors><RequestID>0</RequestID></Response>"
        ),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The action of a call of EC2.
fn ec2_action(request: &str) -> Option<&str> {
    let (head, body) = request.split_once("\r\n\r\n")?;
    let is_ec2 = head.contains("/ec2/aws4_request");
    let parameter = body.split('&').find_map(|one| one.strip_prefix("Action="));
    parameter.filter(|_| is_ec2)
}

impl Shared {
    /// Whether a call of EC2 comes too fast after others.
    fn is_too_many(&self, request: &str) -> bool {
        let mut limits = self.limits.lock().expect("no holder panics");
        let Some((since, buckets, refused)) = limits.as_mut() else { return false };
        let Some(action) = ec2_action(request) else { return false };
        let is_too_many = !buckets.take(CallKind::of(action), since.elapsed());
        if is_too_many {
            refused.push(action.to_owned());
        }
        is_too_many
    }

    fn fault_for(&self, request: &str) -> Option<Fault> {
        let mut rules = self.rules.lock().expect("no holder panics");
        for (rule, seen, injected) in rules.iter_mut() {
            if !request.contains(&rule.contains) {
                continue;
            }
            *seen += 1;
            if *injected < rule.at_most && seen.is_multiple_of(rule.every.max(1)) {
                *injected += 1;
                return Some(rule.fault.clone());
            }
        }
        None
    }
}
