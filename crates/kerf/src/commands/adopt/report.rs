//! What is printed.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::controller::Running;
use super::orders::Nodes;
use crate::commands::doctor::{Facts, definitions_in_the_way, name};
use crate::commands::lint::controller_findings;

/// Changes that are shown one by one.
const SHOWN_MAX: usize = 20;

/// What taking over comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) controller: Option<Running>,
    pub(super) nodes: Nodes,
    /// What Kerf would refuse or read otherwise in pools and classes.
    pub(super) objects: Vec<String>,
    /// What stands in the way in the cluster.
    pub(super) in_the_way: Vec<String>,
    /// What Karpenter would not take back.
    pub(super) back: Vec<String>,
}

impl Report {
    pub(super) fn new(facts: &Facts, nodes: Nodes) -> Self {
        Self {
            controller: Running::of(facts),
            nodes,
            objects: objects(facts),
            in_the_way: definitions_in_the_way(facts),
            back: back(facts),
        }
    }

    /// Whether nothing speaks against it.
    pub(super) fn changes_nothing(&self) -> bool {
        self.nodes.changes.is_empty() && self.objects.is_empty() && self.in_the_way.is_empty()
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        match &self.controller {
            Some(running) => {
                let who = if running.is_kerf { "Kerf" } else { "Karpenter" };
                let Running { deployment, image, lease, holder, .. } = running;
                let _ = writeln!(text, "controller   {who}: deployment {deployment}, {image}");
                let held = if holder.is_empty() { "nobody" } else { holder };
                let _ =
                    writeln!(text, "lease        {lease}, held by {held}; Kerf asks for the same");
                let known = running.known_settings;
                let _ = writeln!(text, "settings     {known} mean the same");
                for name in &running.unknown_settings {
                    let _ =
                        writeln!(text, "             {name} is no setting of Kerf: without effect");
                }
            }
            None => text.push_str("controller   none was found\n"),
        }
        let Nodes { count, changes, notes } = &self.nodes;
        let stay = count.saturating_sub(changes.len());
        let _ = writeln!(text, "nodes        {stay} of {count} stay as they are");
        for (subject, what) in changes.iter().take(SHOWN_MAX) {
            let _ = writeln!(text, "             {subject}  {what}");
        }
        if changes.len() > SHOWN_MAX {
            let more = changes.len() - SHOWN_MAX;
            let _ = writeln!(text, "             and {more} more: -o json shows all");
        }
        if !notes.is_empty() {
            let notes: Vec<String> =
                notes.iter().map(|(what, n)| format!("{n} × {what}")).collect();
            let _ = writeln!(text, "notes        {}", notes.join(", "));
        }
        section(&mut text, "objects", &self.objects, "pools and classes mean the same");
        section(&mut text, "definitions", &self.in_the_way, "nothing is in the way");
        section(&mut text, "back", &self.back, "Karpenter takes everything back");
        text.push_str(match self.changes_nothing() {
            true => "\nnothing changes; images, subnets and groups are compared once Kerf runs\n",
            false => "\nlook at the above first; docs/migrate-from-karpenter.md\n",
        });
        text
    }
}

fn section(text: &mut String, title: &str, lines: &[String], otherwise: &str) {
    let shown = if lines.is_empty() { vec![otherwise.to_owned()] } else { lines.to_vec() };
    for (index, line) in shown.iter().enumerate() {
        let title = if index == 0 { title } else { "" };
        let _ = writeln!(text, "{title:<12} {line}");
    }
}

/// What the controller would find wrong with pools and classes that the API server took.
fn objects(facts: &Facts) -> Vec<String> {
    let kinds = [
        ("nodepools", "karpenter.sh/v1", "NodePool"),
        ("ec2nodeclasses", "karpenter.k8s.aws/v1", "EC2NodeClass"),
    ];
    let mut lines = Vec::new();
    for (plural, version, kind) in kinds {
        for object in facts.all(plural) {
            let mut whole = object.clone();
            // Items of lists do not say what they are.
            whole["apiVersion"] = Value::from(version);
            whole["kind"] = Value::from(kind);
            let found = controller_findings(&whole).into_iter();
            let line = |it: kerf_lint::SemanticFinding| {
                format!("{kind} {}: {}: {}", name(object), it.field, it.message)
            };
            lines.extend(found.map(line));
        }
    }
    lines
}

/// Nodes of Provisioners belong to nobody whom Karpenter of today knows.
fn back(facts: &Facts) -> Vec<String> {
    let is_of_provisioner =
        |claim: &&Value| claim["metadata"]["ownerReferences"][0]["kind"] == "Provisioner";
    let count = facts.all("nodeclaims").iter().filter(is_of_provisioner).count();
    let line = || {
        format!(
            "{count} nodes belong to Provisioners, which Karpenter 1 does not know: apply what \
             kerf convert makes of them first"
        )
    };
    (count > 0).then(line).into_iter().collect()
}
