//! NodePools, NodeClaims and EC2NodeClasses of `v1beta1` to those of `v1` that mean the same.
//!
//! ```text
//!  NodePool ─────── class ───────────► NodePool
//!      └ kubelet ──────┐
//!  EC2NodeClass ───────┴─────────────► EC2NodeClass
//!  NodeClaim ─ class and expireAfter of its pool ─► NodeClaim
//! ```
//!
//! Most fields are the same in both versions, so what is not known to differ is carried over as it
//! stands. Whoever calls this judges the result by the schemas of `v1`: a field that neither version
//! has is refused there, by its place.

mod kubelet;
mod node_class;
mod node_pool;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::finding::{Findings, Kind, LegacyFinding};
use super::labels::OBSOLETE_ANNOTATIONS;

/// Annotations that are made anew: hashes are computed differently, and what conversion webhooks
/// remembered is in the objects themselves.
const OBSOLETE_BETA_ANNOTATIONS: [&str; 6] = [
    "karpenter.sh/nodepool-hash",
    "karpenter.sh/nodepool-hash-version",
    "karpenter.k8s.aws/ec2nodeclass-hash",
    "karpenter.k8s.aws/ec2nodeclass-hash-version",
    "compatibility.karpenter.sh/v1beta1-kubelet-conversion",
    "compatibility.karpenter.sh/v1beta1-nodeclass-reference",
];

/// What came of a conversion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvertedBeta {
    /// Objects of `v1`: classes, then pools, then claims, each in the order given. Classes that
    /// differ from another in their kubelet settings alone follow the classes that were given.
    pub objects: Vec<Value>,
    /// Errors and warnings.
    pub problems: Vec<LegacyFinding>,
}

/// An object and what is found about it.
struct BetaObject<'a> {
    name: String,
    value: &'a Value,
    findings: Findings,
}

/// The kind of an object that can be converted, if it is of `v1beta1`.
#[must_use]
pub fn beta_kind(object: &Value) -> Option<Kind> {
    match (object["apiVersion"].as_str()?, object["kind"].as_str()?) {
        ("karpenter.sh/v1beta1", "NodePool") => Some(Kind::NodePool),
        ("karpenter.sh/v1beta1", "NodeClaim") => Some(Kind::NodeClaim),
        ("karpenter.k8s.aws/v1beta1", "EC2NodeClass") => Some(Kind::EC2NodeClass),
        _ => None,
    }
}

/// Converts objects of `v1beta1`. Pools should be given together with their classes: kubelet
/// settings move from the former to the latter.
#[must_use]
pub fn convert_beta(objects: &[Value]) -> ConvertedBeta {
    let of = |kind: Kind| -> Vec<BetaObject<'_>> {
        let objects = objects.iter().filter(|object| beta_kind(object) == Some(kind));
        let mut objects: Vec<_> = objects.map(|object| BetaObject::of(kind, object)).collect();
        refuse_repeated_names(&mut objects);
        objects
    };
    let (mut classes, mut pools) = (of(Kind::EC2NodeClass), of(Kind::NodePool));
    let mut claims = of(Kind::NodeClaim);
    let placement = kubelet::place(&mut pools, &classes);
    let mut converted: Vec<Value> = Vec::new();
    for plan in &placement.classes {
        converted.extend(node_class::convert(&mut classes[plan.origin], plan));
    }
    for (pool, class) in pools.iter_mut().zip(&placement.class_of_pool) {
        converted.extend(node_pool::convert(pool, class));
    }
    for claim in &mut claims {
        converted.extend(node_pool::convert_claim(claim, &pools, &placement.class_of_pool));
    }
    let findings = [pools, classes, claims].into_iter().flatten();
    let problems = findings.flat_map(|object| object.findings.into_problems()).collect();
    ConvertedBeta { objects: converted, problems }
}

impl<'a> BetaObject<'a> {
    fn of(kind: Kind, value: &'a Value) -> Self {
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Self { findings: Findings::about(kind, &name), name, value }
    }

    /// The object without its status, of `v1` in name only.
    fn draft(&self) -> Value {
        let (mut draft, mut metadata) = (Map::new(), Map::new());
        let group = self.value["apiVersion"].as_str().and_then(|text| text.split_once('/'));
        let group = group.map_or("", |(group, _)| group);
        draft.insert("apiVersion".to_owned(), format!("{group}/v1").into());
        draft.insert("kind".to_owned(), self.value["kind"].clone());
        for field in ["name", "labels", "annotations", "finalizers"] {
            if let Some(value) = self.value["metadata"].get(field) {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|key, _| {
                let key = key.as_str();
                !OBSOLETE_ANNOTATIONS.contains(&key) && !OBSOLETE_BETA_ANNOTATIONS.contains(&key)
            });
        }
        metadata.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
        draft.insert("metadata".to_owned(), metadata.into());
        draft.insert("spec".to_owned(), self.value["spec"].clone());
        draft.into()
    }

    /// The finished object, if nothing keeps it from being converted.
    fn finish(&self, draft: Value) -> Option<Value> {
        self.findings.allow_conversion().then_some(draft)
    }
}

/// Manifests from several files may give one name twice; the first stands.
fn refuse_repeated_names(objects: &mut [BetaObject<'_>]) {
    let mut seen = BTreeSet::new();
    for object in objects {
        if !seen.insert(object.name.clone()) {
            let message = "another object of this kind has the same name; keep one of them";
            object.findings.error("metadata.name", message);
        }
    }
}

/// The fields of an object in a value, made where there is none.
fn fields<'v>(value: &'v mut Value, name: &str) -> &'v mut Map<String, Value> {
    let field = &mut value[name];
    if !field.is_object() {
        *field = Map::new().into();
    }
    field.as_object_mut().expect("it was made an object just now")
}
