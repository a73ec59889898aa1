//! The definitions as the API server serves them: defaults, columns, short names, subresources.

use serde_json::{Value, json};

use crate::server::{Server, control_plane};

/// Reads one object as the server stored it.
fn stored(resource: &str) -> Value {
    let text = control_plane().kubectl(&["get", resource, "--output=json"]).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The header line of `kubectl get`.
fn columns(arguments: &[&str]) -> Vec<String> {
    let text = control_plane().kubectl(arguments).unwrap();
    text.lines().next().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn named(api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
    let metadata = match kind {
        "CapacityBuffer" => json!({"name": name, "namespace": "default"}),
        _ => json!({"name": name}),
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec})
}

fn class_ref() -> Value {
    json!({"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_gets_its_defaults() {
    let server = Server::connect().await;
    let spec = json!({"template": {"spec": {"nodeClassRef": class_ref(), "requirements": []}}});
    server.create(&named("karpenter.sh/v1", "NodePool", "defaults", &spec)).await.unwrap();
    let pool = stored("nodepool/defaults");
    assert_eq!(
        pool["spec"]["disruption"],
        json!({
            "budgets": [{"nodes": "10%"}],
            "consolidateAfter": "0s",
            "consolidationPolicy": "WhenEmptyOrUnderutilized"
        })
    );
    assert_eq!(pool["spec"]["template"]["spec"]["expireAfter"], "720h");
    assert_eq!(columns(&["get", "nodepools"]), ["NAME", "NODECLASS", "NODES", "READY", "AGE"]);
    assert_eq!(
        columns(&["get", "nodepools", "--output=wide"]),
        ["NAME", "NODECLASS", "NODES", "READY", "AGE", "WEIGHT", "CPU", "MEMORY"]
    );
}

/// Also where `disruption` is there and says something else, in static pools too.
#[tokio::test(flavor = "multi_thread")]
async fn a_pool_that_says_only_how_many_may_go_consolidates_at_once() {
    let server = Server::connect().await;
    for (name, replicas) in [("budgets-only", None), ("static-budgets-only", Some(2))] {
        let template = json!({"spec": {"nodeClassRef": class_ref(), "requirements": []}});
        let mut spec = json!({"disruption": {"budgets": [{"nodes": "3"}]}, "template": template});
        if let Some(replicas) = replicas {
            spec["replicas"] = json!(replicas);
        }
        server.create(&named("karpenter.sh/v1", "NodePool", name, &spec)).await.unwrap();
        assert_eq!(
            stored(&format!("nodepool/{name}"))["spec"]["disruption"],
            json!({
                "budgets": [{"nodes": "3"}],
                "consolidateAfter": "0s",
                "consolidationPolicy": "WhenEmptyOrUnderutilized"
            })
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_pool_is_scaled_like_a_deployment() {
    let server = Server::connect().await;
    let template = json!({"spec": {"nodeClassRef": class_ref(), "requirements": []}});
    let spec = json!({"replicas": 2, "template": template});
    server.create(&named("karpenter.sh/v1", "NodePool", "scaled", &spec)).await.unwrap();
    control_plane().kubectl(&["scale", "nodepool/scaled", "--replicas=5"]).unwrap();
    assert_eq!(stored("nodepool/scaled")["spec"]["replicas"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_overlays_and_buffers_show_their_columns() {
    let server = Server::connect().await;
    let spec = json!({"nodeClassRef": class_ref(), "requirements": []});
    server.create(&named("karpenter.sh/v1", "NodeClaim", "columns", &spec)).await.unwrap();
    assert_eq!(stored("nodeclaim/columns")["spec"]["expireAfter"], "720h");
    assert_eq!(
        columns(&["get", "nodeclaims", "--output=wide"]),
        [
            "NAME",
            "TYPE",
            "CAPACITY",
            "ZONE",
            "NODE",
            "READY",
            "AGE",
            "IMAGEID",
            "ID",
            "NODEPOOL",
            "NODECLASS",
            "DRIFTED"
        ]
    );
    let spec = json!({"requirements": []});
    server.create(&named("karpenter.sh/v1alpha1", "NodeOverlay", "columns", &spec)).await.unwrap();
    assert_eq!(columns(&["get", "overlays", "--output=wide"]), ["NAME", "READY", "AGE", "WEIGHT"]);
    let spec = json!({"podTemplateRef": {"name": "a"}, "replicas": 1});
    let buffer = named("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "columns", &spec);
    server.create(&buffer).await.unwrap();
    assert_eq!(
        stored("capacitybuffer/columns")["spec"]["provisioningStrategy"],
        "buffer.x-k8s.io/active-capacity"
    );
    assert_eq!(
        columns(&["get", "cb"]),
        [
            "NAME",
            "STRATEGY",
            "PODTEMPLATE",
            "REPLICAS",
            "CONDITIONSTYPE",
            "CONDITIONSSTATUS",
            "CONDITIONSREASON",
            "AGE"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn node_classes_show_their_columns_and_short_names() {
    let server = Server::connect().await;
    let spec = json!({
        "role": "node",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]
    });
    server.create(&named("karpenter.k8s.aws/v1", "EC2NodeClass", "columns", &spec)).await.unwrap();
    assert_eq!(
        stored("ec2nc/columns")["spec"]["metadataOptions"],
        json!({
            "httpEndpoint": "enabled", "httpProtocolIPv6": "disabled",
            "httpPutResponseHopLimit": 1, "httpTokens": "required"
        })
    );
    assert_eq!(columns(&["get", "ec2ncs", "--output=wide"]), ["NAME", "READY", "AGE", "ROLE"]);
    let class = named("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "columns", &json!({}));
    server.create(&class).await.unwrap();
    let conditions = &stored("kwoknc/columns")["status"]["conditions"];
    assert_eq!(conditions[0]["type"], "Ready");
    assert_eq!(conditions[0]["status"], "True");
}

/// The short way people look at everything of Kerf at once.
#[tokio::test(flavor = "multi_thread")]
async fn one_category_shows_every_kind() {
    let names = control_plane()
        .kubectl(&["api-resources", "--categories=karpenter", "--output=name"])
        .unwrap();
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "awsnodetemplates.karpenter.k8s.aws",
            "ec2nodeclasses.karpenter.k8s.aws",
            "kwoknodeclasses.karpenter.kwok.sh",
            "nodeclaims.karpenter.sh",
            "nodeoverlays.karpenter.sh",
            "nodepools.karpenter.sh",
            "provisioners.karpenter.sh",
        ]
    );
}
