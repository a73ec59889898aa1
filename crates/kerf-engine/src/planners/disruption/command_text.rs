//! A command in a line, as people and scripts know it from Karpenter's Events:
//! `Underutilized/default-x2v8k-1767225600000: replace: nodepools=[default]: [ip-1, ip-2] -> [1 replacement]`.

use std::collections::BTreeSet;

use super::candidates::Candidate;
use super::metrics::decision;
use crate::command::Command;

/// The command as one of its nodes is told of it: all of it where that is the only one.
pub(super) fn for_node(
    command: &Command,
    candidates: &[Candidate<'_>],
    node: &Candidate<'_>,
) -> String {
    let decision = decision(command, false);
    match command.candidates.len() {
        0 | 1 => whole(command, candidates, decision),
        nodes => {
            let node = &node.node.meta.name;
            format!("{decision}: [{node}] (part of {nodes}-node consolidation)")
        }
    }
}

fn whole(command: &Command, candidates: &[Candidate<'_>], decision: &str) -> String {
    let pools: BTreeSet<&str> = candidates.iter().map(|it| it.pool.spec.name.as_str()).collect();
    let pools = pools.into_iter().collect::<Vec<_>>().join(",");
    let nodes = candidates.iter().map(|it| &*it.node.meta.name).collect::<Vec<_>>().join(", ");
    let (reason, id) = (command.reason, &command.id.0);
    let launched = match command.replacements.len() {
        0 => String::new(),
        1 => " -> [1 replacement]".to_owned(),
        count => format!(" -> [{count} replacements]"),
    };
    format!("{reason}/{id}: {decision}: nodepools=[{pools}]: [{nodes}]{launched}")
}

/// What it saves an hour, where that is known.
pub(super) fn saving(command: &Command) -> String {
    const MICROS_PER_CENT: u64 = 10_000;
    command.saving.map_or_else(String::new, |saving| {
        let cents = (saving.micros_per_hour() + MICROS_PER_CENT / 2) / MICROS_PER_CENT;
        format!(" (savings: ${}.{:02})", cents / 100, cents % 100)
    })
}
