//! What a watch makes of what a server sends.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// One answer of the server: its status, and its body line by line.
type Answer = (u16, Vec<Value>);

/// A server that gives these answers in turn and then none. Returns where it is, and the paths it
/// was asked for.
async fn server(answers: Vec<Answer>) -> (String, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (asked, paths) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for (status, lines) in answers {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(connection.read_u8().await.unwrap());
            }
            let request = String::from_utf8(request).unwrap();
            asked.send(request.split(' ').nth(1).unwrap().to_owned()).unwrap();
            let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
            let body = lines.join("\n");
            let head = format!(
                "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        }
        std::future::pending::<()>().await;
    });
    (address, paths)
}

/// What a watch of that server tells, so many changes, in short.
async fn told(address: &str, count: usize) -> Vec<String> {
    let (updates, mut changes) = mpsc::channel(16);
    let client = Client::try_from(kube::Config::new(address.parse().unwrap())).unwrap();
    let watch = Watch {
        resource: "configmaps".to_owned(),
        api: Api::<ConfigMap>::all(client),
        fields: None,
        need: Need::Required,
        wrap: |change| WatchUpdate::ZonalShift(ShiftUpdate::ConfigMap(change)),
        updates,
        health: Health::default(),
    };
    let running = tokio::spawn(watch.run());
    let mut told = Vec::new();
    while told.len() < count {
        let Some(WatchUpdate::ZonalShift(ShiftUpdate::ConfigMap(change))) = changes.recv().await
        else {
            panic!("the watch ended: {told:?}")
        };
        told.push(match change {
            Change::Relisting => "relisting".to_owned(),
            Change::Is(map) => format!("is {}", map.name_any()),
            Change::Was(map) => format!("was {}", map.name_any()),
            Change::Listed(at) => format!("listed at {}", at.unwrap().0),
            Change::Heard => "heard".to_owned(),
        });
    }
    running.abort();
    told
}

fn map(name: &str, version: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name, "resourceVersion": version.to_string() },
    })
}

fn event(kind: &str, object: Value) -> Value {
    json!({ "type": kind, "object": object })
}

fn bookmark(version: u64, annotations: Value) -> Value {
    let metadata = json!({ "resourceVersion": version.to_string(), "annotations": annotations });
    let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata });
    event("BOOKMARK", object)
}

fn status(code: u16) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": "no", "reason": "No", "code": code,
    })
}

#[tokio::test]
async fn a_bookmark_is_heard_and_a_watch_cut_off_is_not() {
    let list = vec![
        event("ADDED", map("a", 5)),
        bookmark(7, json!({ LIST_END: "true" })),
        bookmark(9, json!({})),
        event("MODIFIED", map("a", 11)),
    ];
    let gone = vec![event("ERROR", status(410))];
    let again = vec![bookmark(20, json!({ LIST_END: "true" }))];
    let (address, mut paths) = server(vec![(200, list), (200, gone), (200, again)]).await;
    let told = told(&address, 7).await;
    let expected =
        ["relisting", "is a", "listed at 7", "heard", "is a", "relisting", "listed at 20"];
    assert_eq!(told, expected);
    let first = paths.recv().await.unwrap();
    assert!(first.contains("sendInitialEvents=true"), "{first}");
    assert!(first.contains("timeoutSeconds=40"), "it must end for being heard: {first}");
    let second = paths.recv().await.unwrap();
    assert!(second.contains("resourceVersion=11") && !second.contains("sendInitial"), "{second}");
    assert!(second.contains("allowWatchBookmarks=true"), "{second}");
    assert!(paths.recv().await.unwrap().contains("sendInitialEvents=true"));
}

#[tokio::test]
async fn a_server_without_streaming_lists_is_asked_for_pages_of_one_version() {
    let page = |name: &str, next: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMapList",
            "metadata": { "resourceVersion": "8", "continue": next }, "items": [map(name, 3)],
        })
    };
    let answers = vec![
        (422, vec![status(422)]),
        (200, vec![page("a", "more")]),
        (200, vec![page("b", "")]),
        (200, vec![event("DELETED", map("a", 12))]),
    ];
    let (address, mut paths) = server(answers).await;
    let expected = ["relisting", "is a", "is b", "listed at 8", "was a"];
    assert_eq!(told(&address, 5).await, expected);
    paths.recv().await.unwrap();
    assert!(paths.recv().await.unwrap().contains("limit=100"));
    assert!(paths.recv().await.unwrap().contains("continue=more"));
    assert!(paths.recv().await.unwrap().contains("resourceVersion=8"));
}
