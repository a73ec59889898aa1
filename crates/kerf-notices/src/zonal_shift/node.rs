//! Nodes in zones being avoided: protected from disruption, or emptied.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::zone::{ZoneId, ZoneName, ZoneTable};
use super::zone_requirement::{ZONE_ID_KEY, ZONE_KEY};

/// Annotation: what Kerf changed on a node to protect it, and only that is undone.
pub const PROTECTED: &str = "zonal-autoshift.eks.amazonaws.com/protected";
/// Taint that empties nodes in a zone being avoided.
pub const AWAY_ZONE_TAINT: &str = "zonal-autoshift.eks.amazonaws.com/away-zone";
const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
const NODE_POOL_LABEL: &str = "karpenter.sh/nodepool";

/// What is read of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeView {
    /// The node's name.
    pub name: String,
    /// The name of its zone, by its label.
    pub zone: Option<ZoneName>,
    /// The id of its zone, by its label.
    pub zone_id: Option<ZoneId>,
    /// The pool that made it; absent for nodes Kerf does not own.
    pub pool: Option<String>,
    is_cordoned: bool,
    is_do_not_disrupt: bool,
    protected_by: Option<Protection>,
    taints: Vec<Value>,
}

/// What Kerf changed on a node to protect it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Protection {
    annotation: bool,
    cordon: bool,
}

/// A change to a node, to be written as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeEdit {
    /// The node's name.
    pub node: String,
    /// What it is for.
    pub action: NodeAction,
    /// Annotations to set or, without a value, to remove.
    pub annotations: BTreeMap<String, Option<String>>,
    /// Whether to cordon or uncordon.
    pub unschedulable: Option<bool>,
    /// The taints from now on, if they change.
    pub taints: Option<Vec<Value>>,
}

/// What a change to a node is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeAction {
    /// Let what runs there run on.
    Protect,
    /// Take the protection back.
    Unprotect,
    /// Move what runs there away.
    Taint,
    /// Let pods run there again.
    Untaint,
}

impl NodeView {
    /// What a shift looks at. Of the taints, those that shifts set are enough, as pairs of key and
    /// effect.
    pub fn of<'a>(
        name: &str,
        labels: &BTreeMap<String, String>,
        annotations: &BTreeMap<String, String>,
        is_cordoned: bool,
        taints: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> NodeView {
        let taint = |(key, effect)| json!({"key": key, "effect": effect});
        NodeView {
            name: name.to_owned(),
            zone: labels.get(ZONE_KEY).map(|zone| ZoneName::new(zone)),
            zone_id: labels.get(ZONE_ID_KEY).map(|id| ZoneId::new(id)),
            pool: labels.get(NODE_POOL_LABEL).cloned(),
            is_cordoned,
            is_do_not_disrupt: annotations.get(DO_NOT_DISRUPT).is_some_and(|it| it == "true"),
            protected_by: annotations.get(PROTECTED).map(|text| Protection::read(text)),
            taints: taints.into_iter().map(taint).collect(),
        }
    }

    /// Its zone, by the label with the name or else by the one with the id.
    pub fn zone_in<'a>(&'a self, table: &'a ZoneTable) -> Option<&'a ZoneName> {
        self.zone.as_ref().or_else(|| table.name(self.zone_id.as_ref()?))
    }

    /// What protecting the node takes; nothing when Kerf did so before, even if somebody has
    /// undone it since: that is theirs to decide.
    pub(super) fn protect(&self) -> Option<NodeEdit> {
        if self.pool.is_none() || self.protected_by.is_some() {
            return None;
        }
        let ours = Protection { annotation: !self.is_do_not_disrupt, cordon: !self.is_cordoned };
        if ours == Protection::default() {
            return None;
        }
        let mut edit = self.edit(NodeAction::Protect);
        edit.annotations.insert(PROTECTED.to_owned(), Some(ours.to_string()));
        if ours.annotation {
            edit.annotations.insert(DO_NOT_DISRUPT.to_owned(), Some("true".to_owned()));
        }
        edit.unschedulable = ours.cordon.then_some(true);
        Some(edit)
    }

    /// What taking our protection back takes, leaving alone what others did.
    pub(super) fn unprotect(&self) -> Option<NodeEdit> {
        let ours = self.protected_by?;
        let mut edit = self.edit(NodeAction::Unprotect);
        edit.annotations.insert(PROTECTED.to_owned(), None);
        if ours.annotation && self.is_do_not_disrupt {
            edit.annotations.insert(DO_NOT_DISRUPT.to_owned(), None);
        }
        edit.unschedulable = (ours.cordon && self.is_cordoned).then_some(false);
        Some(edit)
    }

    /// What emptying the node takes.
    pub(super) fn taint(&self, zone: &ZoneName) -> Option<NodeEdit> {
        let taint = json!({"key": AWAY_ZONE_TAINT, "value": zone.as_str(), "effect": "NoExecute"});
        let is_there = self
            .taints
            .iter()
            .any(|t| t.get("key") == taint.get("key") && t.get("effect") == taint.get("effect"));
        let mut edit = self.edit(NodeAction::Taint);
        edit.taints = Some(self.taints.iter().cloned().chain([taint]).collect());
        (!is_there).then_some(edit)
    }

    /// What letting pods run there again takes.
    pub(super) fn untaint(&self) -> Option<NodeEdit> {
        let is_ours = |taint: &&Value| taint.get("key") == Some(&json!(AWAY_ZONE_TAINT));
        let others: Vec<_> = self.taints.iter().filter(|t| !is_ours(t)).cloned().collect();
        let is_changed = others.len() < self.taints.len();
        let mut edit = self.edit(NodeAction::Untaint);
        edit.taints = Some(others);
        is_changed.then_some(edit)
    }

    fn edit(&self, action: NodeAction) -> NodeEdit {
        NodeEdit {
            node: self.name.clone(),
            action,
            annotations: BTreeMap::new(),
            unschedulable: None,
            taints: None,
        }
    }
}

impl NodeAction {
    /// The word for it in `kerf_zonal_shift_node_edits_total{action}`.
    pub fn label(self) -> &'static str {
        match self {
            NodeAction::Protect => "protect",
            NodeAction::Unprotect => "unprotect",
            NodeAction::Taint => "taint",
            NodeAction::Untaint => "untaint",
        }
    }
}

impl Protection {
    fn read(text: &str) -> Protection {
        let mut parts = text.split(',').map(str::trim);
        let annotation = parts.clone().any(|part| part == "annotation");
        Protection { annotation, cordon: parts.any(|part| part == "cordon") }
    }
}

impl std::fmt::Display for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [(self.annotation, "annotation"), (self.cordon, "cordon")];
        let parts: Vec<_> = parts.iter().filter(|(is_ours, _)| *is_ours).map(|p| p.1).collect();
        f.write_str(&parts.join(","))
    }
}
