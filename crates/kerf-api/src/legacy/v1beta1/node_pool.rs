//! A NodePool or a NodeClaim of `v1beta1` to one of `v1`.

use serde_json::{Map, Value, json};

use super::{BetaObject, fields};

/// The default of a pool without `expireAfter`, then and now.
const EXPIRE_AFTER_DEFAULT: &str = "720h";
/// Which pool a claim belongs to.
const POOL_LABEL: &str = "karpenter.sh/nodepool";

/// Converts a pool, which uses the class of that name from now on.
pub(super) fn convert(pool: &mut BetaObject<'_>, class: &str) -> Option<Value> {
    let mut draft = pool.draft();
    let disruption = disruption(pool);
    fields(&mut draft, "spec").insert("disruption".to_owned(), disruption.into());
    let expire_after = expire_after(pool);
    let template = fields(fields_of(&mut draft, &["spec", "template"]), "spec");
    template_spec(template, class);
    template.insert("expireAfter".to_owned(), expire_after);
    pool.finish(draft)
}

/// Converts a claim. Its pool says when it expires, and which class it has by now.
pub(super) fn convert_claim(
    claim: &mut BetaObject<'_>,
    pools: &[BetaObject<'_>],
    class_of_pool: &[String],
) -> Option<Value> {
    let mut draft = claim.draft();
    let spec = fields(&mut draft, "spec");
    let own_class = spec.get("nodeClassRef").and_then(|it| it["name"].as_str());
    let own_class = own_class.unwrap_or_default().to_owned();
    let pool = claim.value["metadata"]["labels"][POOL_LABEL].as_str();
    let pool = pool.and_then(|name| pools.iter().position(|pool| pool.name == name));
    match pool {
        Some(index) => {
            template_spec(spec, &class_of_pool[index]);
            spec.insert("expireAfter".to_owned(), expire_after(&pools[index]));
        }
        None => {
            template_spec(spec, &own_class);
            let message = "is that of its NodePool, which is not among the input; without it a \
                           claim expires after 720h";
            claim.findings.warning("spec.expireAfter", message);
        }
    }
    let message = "is left out, because a cluster writes its own; claims are made by the \
                   controller, so apply this one only where its node runs";
    claim.findings.warning("status", message);
    claim.finish(draft)
}

/// What templates and claims have in common: the reference to the class, and no kubelet.
fn template_spec(spec: &mut Map<String, Value>, class: &str) {
    spec.remove("kubelet");
    let reference = spec.get("nodeClassRef").cloned().unwrap_or_default();
    let text = |field: &str| reference[field].as_str().filter(|text| !text.is_empty());
    let group = text("apiVersion").map(|version| version.split('/').next().unwrap_or_default());
    let reference = json!({
        "group": group.unwrap_or("karpenter.k8s.aws"),
        "kind": text("kind").unwrap_or("EC2NodeClass"),
        "name": class,
    });
    spec.insert("nodeClassRef".to_owned(), reference);
}

/// Under-used nodes were consolidated at once; how long an empty one stays had to be said.
fn disruption(pool: &mut BetaObject<'_>) -> Map<String, Value> {
    let given = pool.value["spec"]["disruption"].as_object().cloned();
    let mut disruption = given.unwrap_or_default();
    disruption.remove("expireAfter");
    let policy = disruption.get("consolidationPolicy").and_then(Value::as_str);
    match policy.unwrap_or("WhenUnderutilized") {
        "WhenUnderutilized" => {
            let policy = "WhenEmptyOrUnderutilized";
            disruption.insert("consolidationPolicy".to_owned(), policy.into());
            disruption.insert("consolidateAfter".to_owned(), "0s".into());
        }
        _ if disruption.contains_key("consolidateAfter") => {}
        _ => {
            let message = "must be set where empty nodes are taken away; write a time or Never";
            pool.findings.error("spec.disruption.consolidateAfter", message);
        }
    }
    disruption
}

fn expire_after(pool: &BetaObject<'_>) -> Value {
    let given = pool.value["spec"]["disruption"].get("expireAfter");
    given.cloned().unwrap_or_else(|| EXPIRE_AFTER_DEFAULT.into())
}

fn fields_of<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Value {
    path.iter().fold(value, |value, name| {
        fields(value, name);
        &mut value[*name]
    })
}
