//! The steps of a plan as actions.

use std::sync::Arc;

use kerf_model::taint::{Taint, TaintEffect};
use kerf_notices::zonal_shift::{
    AWAY_ZONE_TAINT, CopyEdit, NodeAction, NodeEdit, ShiftState, Step, ZoneId, ZoneTable,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{CordonChange, NodePatch, Subject};
use crate::notice::NoticeId;
use crate::observed::{NamespacedName, Node, Revision};

/// The state to store, at the version it was decided on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShiftStateWrite {
    /// The ConfigMap.
    pub name: NamespacedName,
    /// Its version; none while there is no ConfigMap.
    pub revision: Option<Revision>,
    /// Who wants which zone avoided.
    pub state: ShiftState,
    /// Ids and names of zones, for commands that have no AWS account to ask.
    pub zones: ZoneTable,
    /// A state that could not be read and is kept for a person to look at.
    pub damaged: Option<String>,
    /// Why it changed.
    pub cause: StoreCause,
}

/// Why the stored state changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreCause {
    /// By what ARC lists, by time, or because more zones are known.
    Correction {
        /// The zones avoided so far.
        before: Vec<ZoneId>,
    },
    /// By these messages.
    Messages(Vec<NoticeId>),
}

/// A change to a stand-in for a built-in pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyStep {
    /// The change.
    pub edit: CopyEdit,
    /// The identity a stand-in that is deleted must still have.
    pub uid: Option<Arc<str>>,
}

/// The object that a step is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum StepKey {
    Pool(String),
    Node(String),
}

impl StepKey {
    pub(crate) fn of(step: &Step) -> Self {
        match step {
            Step::Node(edit) => StepKey::Node(edit.node.clone()),
            Step::Pool(edit) => StepKey::Pool(edit.pool.name.clone()),
            Step::Copy(edit) => Self::of_copy(edit),
        }
    }

    fn of_copy(edit: &CopyEdit) -> Self {
        match edit {
            CopyEdit::Delete { pool } => StepKey::Pool(pool.name.clone()),
            CopyEdit::Create { object } | CopyEdit::Replace { object, .. } => {
                let name = object.pointer("/metadata/name").and_then(Value::as_str);
                StepKey::Pool(name.unwrap_or_default().to_owned())
            }
        }
    }
}

impl CopyStep {
    /// The pool it is about.
    pub(crate) fn subject(&self) -> Subject {
        match StepKey::of_copy(&self.edit) {
            StepKey::Pool(name) | StepKey::Node(name) => Subject::Pool(name.into()),
        }
    }
}

/// What a change to a node comes to. It counts only while the node is as it was: what somebody
/// else does meanwhile is theirs, and must not be undone as if it were ours.
pub(crate) fn node_patch(edit: &NodeEdit, node: &Node) -> NodePatch {
    let mut patch = NodePatch { revision: Some(node.meta.revision), ..NodePatch::default() };
    for (key, value) in &edit.annotations {
        match value {
            Some(value) => drop(patch.annotations.insert(key.clone(), value.clone())),
            None => drop(patch.annotations_removed.insert(key.clone())),
        }
    }
    patch.cordon = match edit.unschedulable {
        Some(true) => CordonChange::Cordon,
        Some(false) => CordonChange::Uncordon,
        None => CordonChange::None,
    };
    match edit.action {
        NodeAction::Taint => {
            patch.taints_added.extend(edit.taints.iter().flatten().find_map(taint))
        }
        NodeAction::Untaint => {
            let ours = node.taints.iter().filter(|taint| taint.key == AWAY_ZONE_TAINT);
            patch.taints_removed.extend(ours.cloned());
        }
        NodeAction::Protect | NodeAction::Unprotect => {}
    }
    patch
}

/// The taint that empties nodes, if this is one.
fn taint(taint: &Value) -> Option<Taint> {
    let text = |field: &str| taint.get(field).and_then(Value::as_str);
    (text("key")? == AWAY_ZONE_TAINT).then(|| Taint {
        key: AWAY_ZONE_TAINT.to_owned(),
        value: text("value").unwrap_or_default().to_owned(),
        effect: TaintEffect::NoExecute,
    })
}
