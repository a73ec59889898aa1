//! Rules about what may change once an object is stored.

use serde_json::{Value, json};

use crate::server::Server;

/// A change to a stored object, and part of the refusal if it is refused.
type Change = (&'static str, Value, Option<&'static str>);

async fn judge(object: Value, changes: Vec<Change>) {
    let server = Server::connect().await;
    server.create(&object).await.unwrap();
    for (sentence, patch, refusal) in changes {
        match (server.patch_verdict(&object, &patch).await, refusal) {
            (Ok(()), None) => {}
            (Err(message), Some(part)) => assert!(message.contains(part), "{sentence}: {message}"),
            (answer, _) => panic!("{sentence}: {answer:?}"),
        }
    }
}

fn pool(name: &str, more: Value) -> Value {
    let mut object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": []
        }}}
    });
    for (key, value) in more.as_object().unwrap() {
        object["spec"][key] = value.clone();
    }
    object
}

fn class_ref(field: &str, value: &str) -> Value {
    json!({"spec": {"template": {"spec": {"nodeClassRef": {field: value}}}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dynamic_pool_stays_dynamic_and_keeps_the_kind_of_its_class() {
    let changes = vec![
        ("weight may change", json!({"spec": {"weight": 5}}), None),
        ("limits may change", json!({"spec": {"limits": {"cpu": 10}}}), None),
        ("another class is fine", class_ref("name", "other"), None),
        (
            "another group is not",
            class_ref("group", "karpenter.k8s.aws"),
            Some("group is immutable"),
        ),
        ("another kind is not", class_ref("kind", "EC2NodeClass"), Some("kind is immutable")),
        ("replicas cannot be added", json!({"spec": {"replicas": 1}}), Some("cannot transition")),
    ];
    judge(pool("updates-dynamic", json!({})), changes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_static_pool_stays_static() {
    let changes = vec![
        ("replicas may change", json!({"spec": {"replicas": 7}}), None),
        ("replicas may be zero", json!({"spec": {"replicas": 0}}), None),
        ("replicas cannot go", json!({"spec": {"replicas": null}}), Some("cannot transition")),
        ("a weight cannot come", json!({"spec": {"weight": 1}}), Some("'weight' is not supported")),
        ("a node limit may come", json!({"spec": {"limits": {"nodes": "9"}}}), None),
        ("a cpu limit may not", json!({"spec": {"limits": {"cpu": "9"}}}), Some("limits.nodes")),
    ];
    judge(pool("updates-static", json!({"replicas": 3})), changes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_spec_of_a_claim_never_changes() {
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "updates-claim"},
        "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [{"key": "a", "operator": "Exists"}]
        }
    });
    let immutable = Some("spec is immutable");
    let changes = vec![
        ("labels may change", json!({"metadata": {"labels": {"a": "b"}}}), None),
        ("the same again is no change", json!({"spec": {"expireAfter": "720h"}}), None),
        ("expiry", json!({"spec": {"expireAfter": "1h"}}), immutable),
        ("requirements", json!({"spec": {"requirements": []}}), immutable),
        ("class", json!({"spec": {"nodeClassRef": {"name": "other"}}}), immutable),
        ("requests", json!({"spec": {"resources": {"requests": {"cpu": "1"}}}}), immutable),
    ];
    judge(claim, changes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_kinds_have_no_rule_about_changes() {
    let overlay = json!({
        "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
        "metadata": {"name": "updates-overlay"}, "spec": {"requirements": [], "price": "1"}
    });
    let other_price = json!({"spec": {"price": null, "priceAdjustment": "-10%"}});
    judge(overlay, vec![("price may become an adjustment", other_price, None)]).await;
    let class = json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": {"name": "updates-class"},
        "spec": {
            "role": "node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": {"a": "b"}}],
            "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]
        }
    });
    let changes = vec![
        ("another image", json!({"spec": {"amiSelectorTerms": [{"alias": "al2023@v1"}]}}), None),
        ("role to profile", json!({"spec": {"role": null, "instanceProfile": "p"}}), None),
    ];
    judge(class, changes).await;
}
