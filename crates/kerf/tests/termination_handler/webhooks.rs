//! Who else is told of what happens to a node.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::account::{self, MANAGED, Queue, rebalance, spot};
use crate::cluster::{apply, node, pod};
use crate::process::Handler;

/// What was posted: head and body.
type Posted = Arc<Mutex<Vec<(String, String)>>>;

/// Takes everything that is posted to it, as a server or as a proxy, and answers with a status.
fn receiver(status: &'static str) -> (String, Posted) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let posted = Posted::default();
    let shared = Arc::clone(&posted);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            shared.lock().unwrap().extend(take(stream, status));
        }
    });
    (address, posted)
}

fn take(mut stream: TcpStream, status: &str) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 || line == "\r\n" {
            break;
        }
        if let Some(count) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = count.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    Some((head, String::from_utf8(body).ok()?))
}

#[test]
fn two_events_of_a_node_are_told_once_through_the_proxy_with_the_template_of_a_file() {
    let (queue, (proxy, posted)) = (Queue::new("webhook"), receiver("200 OK"));
    let instance = account::instances(1, &[(MANAGED, "")]).remove(0);
    let mut node = node("webhook-node", &instance);
    node["metadata"]["labels"]["team"] = json!("web");
    apply(&[node, pod("webhook-pod", "webhook-node")]);
    let file = std::env::temp_dir().join(format!("kerf-webhook-{}.tpl", std::process::id()));
    let template = "{\"node\": {{ .NodeName | toJson }}, \"team\": {{ .NodeLabels.team | quote }}, \
                    \"pods\": {{ toJson .Pods }}{{ if eq .Kind \"SPOT_ITN\" }}, \"soon\": true{{ end }}}";
    std::fs::write(&file, template).unwrap();
    let env = [
        ("AWS_REGION", "us-east-1"),
        ("WEBHOOK_URL", "http://hooks.invalid/nth"),
        ("WEBHOOK_PROXY", &format!("tcp://{proxy}")),
        ("WEBHOOK_HEADERS", r#"{"Content-type": "application/json", "X-Key": "secret"}"#),
        ("WEBHOOK_TEMPLATE", "{{ .Kind }}"),
        ("WEBHOOK_TEMPLATE_FILE", file.to_str().unwrap()),
    ];
    let handler = Handler::start(&queue, &env);
    queue.send(&[spot(&instance.id), rebalance(&instance.id)]);
    handler.wait_said("INF Node successfully cordoned and drained node_name=webhook-node ", 2);
    handler.wait("both messages are deleted", || queue.depth() == 0);
    assert_eq!(handler.said("INF Webhook Success: Notification Sent!\n"), 1);
    let all = posted.lock().unwrap().clone();
    let [(head, body)] = &all[..] else { panic!("{all:?}") };
    assert!(head.starts_with("POST http://hooks.invalid/nth HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("x-key: secret\r\n"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["node"], &body["team"]), (&json!("webhook-node"), &json!("web")));
    assert_eq!(body["pods"], json!(["default/webhook-pod"]));
    assert_eq!(handler.said("secret"), 0, "headers are not shown");
    assert!(handler.end());
    let _ = std::fs::remove_file(file);
}

#[test]
fn whoever_is_told_may_refuse_and_both_phases_have_the_default_body() {
    let (queue, (address, posted)) = (Queue::new("webhook-both"), receiver("500 Oops"));
    let instance = account::instances(1, &[(MANAGED, "")]).remove(0);
    apply(&[node("webhook-both", &instance)]);
    let url = format!("http://{address}/");
    let env = [("AWS_REGION", "us-east-1"), ("WEBHOOK_URL", &*url), ("WEBHOOK_PHASE", "both")];
    let handler = Handler::start(&queue, &env);
    queue.send(&[spot(&instance.id)]);
    handler.wait_said("INF Node successfully cordoned and drained node_name=webhook-both ", 1);
    handler.wait("the message is deleted all the same", || queue.depth() == 0);
    let all = posted.lock().unwrap().clone();
    assert_eq!(all.len(), 2, "{all:?}");
    for (head, body) in &all {
        assert!(head.starts_with("POST / HTTP/1.1\r\n"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        let text = body["text"].as_str().unwrap();
        let begin = "[NTH][Instance Interruption] EventID: spot-itn-event-3165";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.contains(&format!(" - Kind: SPOT_ITN - Instance: {} - Node: ", instance.id)));
    }
    assert!(handler.end());
}

#[test]
fn a_template_that_cannot_work_stops_the_start() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kerf"));
    command.args(["nth", "--node-name=n", "--webhook-url=http://127.0.0.1:1/"]);
    command.arg("--webhook-template={{ .NoSuchField }}");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("there is no field NoSuchField"), "{said}");
}
