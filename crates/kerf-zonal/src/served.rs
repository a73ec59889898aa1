//! The kinds of objects a shift is about, as far as this API server serves them.

use std::time::Duration;

use kerf_kube::ServedKinds;
use kerf_runtime::FailureLog;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::info;

use crate::api_call::{ApiFailure, call};

/// How often the API server is asked which kinds it serves: definitions may come later.
const DISCOVER_EVERY: Duration = Duration::from_secs(60);
/// How soon after it gave no answer.
const DISCOVER_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Kinds of pools, with the versions Kerf can edit, the best first.
const POOLS: [Wanted; 2] = [
    Wanted { group: "karpenter.sh", kind: "NodePool", versions: &["v1", "v1beta1"] },
    Wanted { group: "karpenter.sh", kind: "Provisioner", versions: &["v1alpha5"] },
];

/// Kinds of node classes, whose status has subnets.
const NODE_CLASSES: [Wanted; 3] = [
    Wanted { group: "karpenter.k8s.aws", kind: "EC2NodeClass", versions: &["v1", "v1beta1"] },
    Wanted { group: "karpenter.k8s.aws", kind: "AWSNodeTemplate", versions: &["v1alpha1"] },
    Wanted { group: AUTO_MODE_GROUP, kind: "NodeClass", versions: &["v1"] },
];

/// The API group whose presence means EKS Auto Mode.
const AUTO_MODE_GROUP: &str = "eks.amazonaws.com";

/// Objects in one page of a list.
const PAGE: u32 = 500;

struct Wanted {
    group: &'static str,
    kind: &'static str,
    versions: &'static [&'static str],
}

/// Finds out which kinds are served, and says so whenever that changes, until `stop` turns true.
pub(crate) async fn discover_kinds(
    client: Client,
    failures: FailureLog,
    served: watch::Sender<Option<ServedKinds>>,
    mut stop: watch::Receiver<bool>,
) {
    const WHAT: &str = "kinds";
    loop {
        let pause = match discover(&client).await {
            Ok(kinds) => {
                if kinds.pools.is_empty() {
                    let message =
                        "this cluster has no NodePools: their definition is not installed";
                    failures.failed(WHAT, "not installed", message);
                } else {
                    failures.recovered(WHAT);
                }
                served.send_if_modified(|known| replace(known, kinds));
                DISCOVER_EVERY
            }
            Err(failure) => {
                let message = format!("which kinds there are is not known: {failure}");
                failures.failed(WHAT, "unknown", message);
                DISCOVER_AGAIN_AFTER
            }
        };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = sleep(pause) => {}
        }
    }
}

fn replace(known: &mut Option<ServedKinds>, kinds: ServedKinds) -> bool {
    if known.as_ref() == Some(&kinds) {
        return false;
    }
    let served = kinds.pools.iter().chain(&kinds.node_classes);
    let served: Vec<_> = served.map(|kind| kind.plural.as_str()).collect();
    info!(kinds = served.join(","), auto_mode = kinds.is_auto_mode, "watching");
    *known = Some(kinds);
    true
}

/// Asks the API server what it serves.
pub(crate) async fn discover(client: &Client) -> Result<ServedKinds, ApiFailure> {
    let groups = call(client.list_api_groups()).await?;
    let serves = |group: &str, version: &str| {
        let found = groups.groups.iter().find(|one| one.name == group);
        found.is_some_and(|one| one.versions.iter().any(|v| v.version == version))
    };
    let mut kinds = ServedKinds::default();
    let wanted = POOLS.iter().map(|wanted| (wanted, true));
    for (wanted, is_pool) in wanted.chain(NODE_CLASSES.iter().map(|wanted| (wanted, false))) {
        for version in wanted.versions.iter().filter(|version| serves(wanted.group, version)) {
            if let Some(found) = wanted.find(client, version).await? {
                let list = if is_pool { &mut kinds.pools } else { &mut kinds.node_classes };
                list.push(found);
                break;
            }
        }
    }
    kinds.is_auto_mode = kinds.node_classes.iter().any(|kind| kind.group == AUTO_MODE_GROUP);
    Ok(kinds)
}

impl Wanted {
    async fn find(
        &self,
        client: &Client,
        version: &str,
    ) -> Result<Option<ApiResource>, ApiFailure> {
        let group_version = format!("{}/{version}", self.group);
        let served = match call(client.list_api_group_resources(&group_version)).await {
            Ok(served) => served,
            // Its last definition is being removed.
            Err(ApiFailure::NotFound) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let found = served.resources.into_iter().find(|one| one.kind == self.kind);
        Ok(found.map(|found| ApiResource {
            group: self.group.to_owned(),
            version: version.to_owned(),
            api_version: group_version,
            kind: self.kind.to_owned(),
            plural: found.name,
        }))
    }
}

/// The kind of nodes.
pub(crate) fn nodes() -> ApiResource {
    ApiResource::erase::<k8s_openapi::api::core::v1::Node>(&())
}

/// Every object of a kind.
pub(crate) async fn list(client: &Client, kind: &ApiResource) -> Result<Vec<Value>, ApiFailure> {
    let api = Api::<DynamicObject>::all_with(client.clone(), kind);
    let (mut found, mut params) = (Vec::new(), ListParams::default().limit(PAGE));
    loop {
        let page = call(api.list(&params)).await?;
        found.extend(page.items.into_iter().map(|object| as_value(object, kind)));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(found),
        }
    }
}

/// An object as JSON, without what only the server uses. Items of a list do not name their kind.
pub(crate) fn as_value(mut object: DynamicObject, kind: &ApiResource) -> Value {
    object.metadata.managed_fields = None;
    let mut value = json!(object);
    value["apiVersion"] = json!(kind.api_version);
    value["kind"] = json!(kind.kind);
    value
}
