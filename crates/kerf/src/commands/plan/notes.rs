//! What a plan says beside the plan: what was passed over and assumed.

use std::collections::BTreeMap;

use kerf_engine::event::Key;
use kerf_engine::kubernetes_event::KubernetesEvent;
use kerf_scheduler::Solution;

use super::input::Input;

/// A line for each thing a reader should know.
pub(super) fn of(input: &Input, pods_passed_over: &BTreeMap<&'static str, usize>) -> Vec<String> {
    let mut notes = input.warnings.clone();
    if let Some(count) = input.passed_over.get("CronJob") {
        let plural = if *count == 1 { "" } else { "s" };
        notes.push(format!("{count} CronJob{plural} skipped: its pods come and go by the clock"));
    }
    let others = input.passed_over.iter().filter(|(kind, _)| kind.as_str() != "CronJob");
    let others: Vec<String> = others.map(|(kind, count)| format!("{count} {kind}")).collect();
    if !others.is_empty() {
        notes.push(format!("no say in the plan: {}", others.join(", ")));
    }
    for (why, count) in pods_passed_over {
        let plural = if *count == 1 { "pod" } else { "pods" };
        notes.push(format!("{count} {plural} {why} not planned for"));
    }
    notes
}

/// A line for what the controller would tell about an object.
pub(super) fn of_event(event: &KubernetesEvent) -> String {
    match &event.about {
        Key::Pool(pool) => format!("NodePool {pool}: {}", event.message),
        _ => event.message.clone(),
    }
}

/// A line for what the answer gave up.
pub(super) fn of_solution(solution: &Solution) -> Option<String> {
    let relaxed = solution.new_nodes.iter().filter(|node| node.min_values_relaxed).count();
    match relaxed {
        0 => None,
        1 => Some("1 node has fewer values to choose from than minValues asks for".to_owned()),
        _ => Some(format!(
            "{relaxed} nodes have fewer values to choose from than minValues asks for"
        )),
    }
}
