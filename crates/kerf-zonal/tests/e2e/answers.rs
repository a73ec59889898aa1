//! EKS and ARC, as far as the daemon asks: fixed answers on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Paths begin with one of these; what follows is not looked at.
pub(crate) const CLUSTER: &str = "/clusters/";
pub(crate) const MANAGED: &str = "/managedresources/";
pub(crate) const SHIFTS: &str = "/zonalshifts";
pub(crate) const AUTOSHIFTS: &str = "/autoshifts";

type Answer = (&'static str, &'static str, Value);

/// A server of fixed answers.
pub(crate) struct Answers {
    address: SocketAddr,
    by_path: Arc<Mutex<BTreeMap<&'static str, Answer>>>,
}

impl Answers {
    /// Starts with a cluster in that network and no shift anywhere.
    pub(crate) fn start(arn: &str, vpc_id: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answers = Self { address: listener.local_addr().unwrap(), by_path: Arc::default() };
        let network = json!({"vpcId": vpc_id, "subnetIds": []});
        let cluster = json!({"arn": arn, "name": "prod", "resourcesVpcConfig": network});
        answers.set(CLUSTER, json!({"cluster": cluster}));
        answers.set_managed(json!([]));
        answers.set(SHIFTS, json!({"items": []}));
        answers.set(AUTOSHIFTS, json!({"items": []}));
        let by_path = answers.by_path.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                drop(answer(stream, &by_path));
            }
        });
        answers
    }

    pub(crate) fn endpoint_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers a path with this.
    pub(crate) fn set(&self, path: &'static str, body: Value) {
        self.by_path.lock().unwrap().insert(path, ("200 OK", "", body));
    }

    /// Lists these zonal shifts of the cluster.
    pub(crate) fn set_managed(&self, shifts: Value) {
        let body = json!({"arn": "arn:prod", "name": "prod", "appliedWeights": {},
            "zonalShifts": shifts, "autoshifts": []});
        self.set(MANAGED, body);
    }

    /// Knows nothing of a path.
    pub(crate) fn forget(&self, path: &'static str) {
        self.by_path.lock().unwrap().remove(path);
    }

    /// Refuses a path for want of permission.
    pub(crate) fn deny(&self, path: &'static str) {
        let refusal = ("403 Forbidden", "AccessDeniedException", json!({"message": "no"}));
        self.by_path.lock().unwrap().insert(path, refusal);
    }
}

fn answer(
    mut stream: TcpStream,
    by_path: &Mutex<BTreeMap<&'static str, Answer>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let found = by_path
        .lock()
        .unwrap()
        .iter()
        .find(|(key, _)| path.starts_with(**key))
        .map(|(_, answer)| answer.clone());
    let (status, error, body) =
        found.unwrap_or(("404 Not Found", "ResourceNotFoundException", json!({})));
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nx-amzn-ErrorType: {error}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
