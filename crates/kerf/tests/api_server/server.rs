//! A real API server that serves Kerf's kinds, and what it answers to one object.

use http::Request;
use kerf_testbed::{ControlPlane, Options, Shared};
use kube::Client;
use serde_json::Value;
use std::sync::OnceLock;

static CONTROL_PLANE: Shared = Shared::new(Options::api_server);
static DEFINED: OnceLock<()> = OnceLock::new();

/// The API server, with Kerf's definitions established.
pub(crate) fn control_plane() -> &'static ControlPlane {
    let control_plane = CONTROL_PLANE.get();
    DEFINED.get_or_init(|| {
        control_plane.apply_files(&["deploy/crds"]).unwrap();
    });
    control_plane
}

/// A path from the root of the workspace.
pub(crate) fn in_workspace(path: &str) -> String {
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    format!("{package}/../../{path}")
}

/// A connection to the API server. Each test has its own, because each has its own runtime.
pub(crate) struct Server {
    client: Client,
}

impl Server {
    /// Connects, starting the server if this is the first test to ask.
    pub(crate) async fn connect() -> Self {
        Self { client: control_plane().client().await.expect("a client") }
    }

    /// What the server says to an object that is created with strict field validation but not
    /// stored: nothing, or its message.
    pub(crate) async fn verdict(&self, object: &Value) -> Result<(), String> {
        self.send("POST", &collection(object), object, "dryRun=All").await
    }

    /// Stores an object.
    pub(crate) async fn create(&self, object: &Value) -> Result<(), String> {
        self.send("POST", &collection(object), object, "").await
    }

    /// Merges a patch into the object of that name, without storing the result.
    pub(crate) async fn patch_verdict(&self, object: &Value, patch: &Value) -> Result<(), String> {
        let name = object["metadata"]["name"].as_str().expect("a name");
        let path = format!("{}/{name}", collection(object));
        self.send("PATCH", &path, patch, "dryRun=All").await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        query: &str,
    ) -> Result<(), String> {
        let content = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("{path}?fieldValidation=Strict&{query}"))
            .header("Content-Type", content)
            .body(body.to_string().into_bytes())
            .expect("a request");
        match self.client.request_text(request).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) => Err(status.message.clone()),
            Err(other) => panic!("no verdict on {body}: {other}"),
        }
    }
}

/// The path of the collection an object belongs to. Every plural of Kerf's kinds but the classes'
/// is the kind with an `s`.
fn collection(object: &Value) -> String {
    let text = |key: &str| object[key].as_str().expect("an object has apiVersion and kind");
    let kind = text("kind").to_lowercase();
    let plural = if kind.ends_with("class") { format!("{kind}es") } else { format!("{kind}s") };
    let namespace = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/namespaces/{namespace}"),
        None => String::new(),
    };
    format!("/apis/{}{namespace}/{plural}", text("apiVersion"))
}
