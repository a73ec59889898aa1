//! Changes to pools, as data: each says what to write and can be carried out again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::pool::PoolKey;
use super::zone::ZoneName;

/// A change to a pool's zone requirements and annotations, to be written as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolEdit {
    /// The pool.
    pub pool: PoolKey,
    /// The version it was read at; with another the plan must be made anew.
    pub resource_version: Option<String>,
    /// Why it is changed.
    pub action: PoolAction,
    /// The zones the pool was kept out of so far.
    pub away_before: BTreeSet<ZoneName>,
    /// The zones the pool is kept out of from now on.
    pub away: BTreeSet<ZoneName>,
    /// The list of requirements, or none at all.
    pub requirements: Option<Vec<Value>>,
    /// Annotations to set or, without a value, to remove.
    pub annotations: BTreeMap<String, Option<String>>,
}

/// What a change to a pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolAction {
    /// Keep it out of a zone.
    Restrict,
    /// Give back what was taken.
    Restore,
    /// Stand in for a built-in pool.
    CreateCopy,
    /// Bring a stand-in up to date.
    UpdateCopy,
    /// Let a stand-in take no more nodes.
    RetireCopy,
    /// Remove a stand-in.
    DeleteCopy,
}

/// A change to a stand-in for a built-in pool of Auto Mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "verb")]
pub enum CopyEdit {
    /// Create this object; that it exists already is no error, the next plan sees to it.
    Create {
        /// The object.
        object: Value,
    },
    /// Replace the object, at the version it carries.
    Replace {
        /// The object.
        object: Value,
        /// Whether it is brought up to date or retired.
        action: PoolAction,
    },
    /// Delete the pool; its nodes are drained as with any pool.
    Delete {
        /// The pool.
        pool: PoolKey,
    },
}

impl PoolEdit {
    /// The JSON merge patch that carries the edit out; the server refuses it when the pool has
    /// changed since.
    pub fn merge_patch(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(version) = &self.resource_version {
            metadata.insert("resourceVersion".to_owned(), json!(version));
        }
        metadata.insert("annotations".to_owned(), json!(self.annotations));
        let pointer = self.pool.requirements_pointer();
        let nested = pointer.rsplit('/').filter(|name| !name.is_empty());
        let spec = nested.fold(json!(self.requirements), |inner, name| json!({ name: inner }));
        let mut patch = Map::from_iter([("metadata".to_owned(), Value::Object(metadata))]);
        if let Value::Object(spec) = spec {
            patch.extend(spec);
        }
        Value::Object(patch)
    }

    /// The pool as it is once the edit is carried out, but for what the server counts.
    pub fn apply_to(&self, pool: &Value) -> Value {
        let mut patch = self.merge_patch();
        if let Some(metadata) = patch["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        let mut edited = merged(pool, &patch);
        // The server keeps no empty map of annotations.
        if let Some(metadata) = edited["metadata"].as_object_mut()
            && metadata.get("annotations").is_some_and(|a| a.as_object().is_some_and(Map::is_empty))
        {
            metadata.remove("annotations");
        }
        edited
    }
}

impl PoolAction {
    /// The word for it in `kerf_zonal_shift_nodepool_edits_total{action}`.
    pub fn label(self) -> &'static str {
        match self {
            PoolAction::Restrict => "restrict",
            PoolAction::Restore => "restore",
            PoolAction::CreateCopy => "create-copy",
            PoolAction::UpdateCopy => "update-copy",
            PoolAction::RetireCopy => "retire-copy",
            PoolAction::DeleteCopy => "delete-copy",
        }
    }
}

impl CopyEdit {
    /// What the change is for.
    pub fn action(&self) -> PoolAction {
        match self {
            CopyEdit::Create { .. } => PoolAction::CreateCopy,
            CopyEdit::Replace { action, .. } => *action,
            CopyEdit::Delete { .. } => PoolAction::DeleteCopy,
        }
    }
}

/// RFC 7386: objects merge, `null` removes, everything else replaces.
fn merged(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut result = target.as_object().cloned().unwrap_or_default();
    for (name, value) in patch {
        if value.is_null() {
            result.remove(name);
        } else {
            let inner = merged(result.get(name).unwrap_or(&Value::Null), value);
            result.insert(name.clone(), inner);
        }
    }
    Value::Object(result)
}
