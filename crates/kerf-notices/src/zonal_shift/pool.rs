//! A NodePool as the API server has it, read for what a shift changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Annotation: names of the zones a pool is kept out of, sorted, with commas between.
pub const AWAY_ZONES: &str = "zonal-autoshift.eks.amazonaws.com/away-zones";
/// Annotation: the zone requirements as they were, or `null` if there were none.
pub const ORIGINAL_ZONES: &str = "zonal-autoshift.eks.amazonaws.com/original-zones";
/// Annotation: the zone requirements as Kerf wrote them.
pub const APPLIED_ZONES: &str = "zonal-autoshift.eks.amazonaws.com/applied-zones";
/// Annotation: `"true"` on pools that shifts must not change.
pub const IGNORE: &str = "zonal-autoshift.eks.amazonaws.com/ignore";
/// Label: the built-in pool that a pool stands in for.
pub const COPY_OF: &str = "zonal-autoshift.eks.amazonaws.com/copy-of";

/// The API group of EKS Auto Mode's node classes.
const AUTO_MODE_GROUP: &str = "eks.amazonaws.com";
/// The pools Auto Mode brings along; they cannot be edited.
const BUILT_IN_POOLS: [&str; 2] = ["general-purpose", "system"];

/// Which object a pool is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolKey {
    /// `karpenter.sh/v1`, or an older version that is served.
    pub api_version: String,
    /// `NodePool`, once `Provisioner`.
    pub kind: String,
    /// The pool's name.
    pub name: String,
}

/// Which node class a pool uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeClassKey {
    /// The API group, such as `karpenter.k8s.aws`.
    pub group: String,
    /// The class's name.
    pub name: String,
}

/// What is read of a pool.
#[derive(Clone, Debug)]
pub(super) struct Pool<'a> {
    pub(super) key: PoolKey,
    pub(super) object: &'a Value,
    pub(super) annotations: BTreeMap<&'a str, &'a str>,
    /// Absent when the pool has no list at all.
    pub(super) requirements: Option<&'a Vec<Value>>,
    pub(super) node_class: Option<NodeClassKey>,
}

impl<'a> Pool<'a> {
    /// Reads a pool; an error says which part is not what the API promises.
    pub(super) fn read(object: &'a Value) -> Result<Pool<'a>, &'static str> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let key = PoolKey {
            api_version: text("/apiVersion").unwrap_or_default().to_owned(),
            kind: text("/kind").unwrap_or_default().to_owned(),
            name: text("/metadata/name").ok_or("it has no name")?.to_owned(),
        };
        let requirements = match object.pointer(key.requirements_pointer()) {
            None | Some(Value::Null) => None,
            Some(Value::Array(entries)) => Some(entries),
            Some(_) => return Err("its requirements are not a list"),
        };
        let annotations = object.pointer("/metadata/annotations").and_then(Value::as_object);
        let annotations = annotations.into_iter().flatten();
        let annotations =
            annotations.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        Ok(Pool {
            node_class: key.node_class(object),
            annotations: annotations.collect(),
            requirements,
            object,
            key,
        })
    }

    /// Whether somebody asked that shifts leave the pool alone.
    pub(super) fn is_ignored(&self) -> bool {
        self.annotations.get(IGNORE) == Some(&"true")
    }

    /// Whether Auto Mode owns the pool, so that only a copy can be changed.
    pub(super) fn is_built_in(&self) -> bool {
        let is_auto_mode =
            self.node_class.as_ref().is_some_and(|class| class.group == AUTO_MODE_GROUP);
        is_auto_mode && BUILT_IN_POOLS.contains(&self.key.name.as_str())
    }

    /// The built-in pool this one stands in for.
    pub(super) fn copy_of(&self) -> Option<&'a str> {
        self.object.pointer("/metadata/labels")?.get(COPY_OF)?.as_str()
    }

    pub(super) fn weight(&self) -> i64 {
        self.object.pointer("/spec/weight").and_then(Value::as_i64).unwrap_or(0)
    }

    pub(super) fn resource_version(&self) -> Option<String> {
        let version = self.object.pointer("/metadata/resourceVersion")?;
        version.as_str().map(str::to_owned)
    }
}

impl PoolKey {
    /// Where the requirements are in the object.
    pub(super) fn requirements_pointer(&self) -> &'static str {
        if self.is_provisioner() {
            "/spec/requirements"
        } else {
            "/spec/template/spec/requirements"
        }
    }

    fn is_provisioner(&self) -> bool {
        self.kind == "Provisioner"
    }

    fn node_class(&self, object: &Value) -> Option<NodeClassKey> {
        if self.is_provisioner() {
            let name = object.pointer("/spec/providerRef/name")?.as_str()?;
            return Some(NodeClassKey::new("karpenter.k8s.aws", name));
        }
        let class = object.pointer("/spec/template/spec/nodeClassRef")?;
        let text = |field: &str| class.get(field).and_then(Value::as_str);
        // Before v1 the reference had `apiVersion` where it now has `group`.
        let version = text("apiVersion").unwrap_or_default();
        let group = text("group").unwrap_or(version.split('/').next().unwrap_or_default());
        Some(NodeClassKey::new(group, text("name")?))
    }
}

impl NodeClassKey {
    /// The class of this group and name.
    pub fn new(group: &str, name: &str) -> NodeClassKey {
        NodeClassKey { group: group.to_owned(), name: name.to_owned() }
    }
}

impl fmt::Display for PoolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
