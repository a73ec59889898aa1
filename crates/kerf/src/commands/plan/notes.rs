//! What a plan says beside the plan: what was passed over and assumed.

use std::collections::BTreeMap;

use kerf_engine::event::Key;
use kerf_engine::kubernetes_event::KubernetesEvent;
use kerf_model::pod::Pod;
use kerf_model::resources::{CPU, MEMORY};
use kerf_scheduler::Solution;

use super::input::Input;

/// Names in a line at most.
const NAMES_MAX: usize = 3;

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
    if !input.helm_tests.is_empty() {
        let tests = some(&input.helm_tests);
        notes.push(format!("left out, because only helm test runs them: {tests}"));
    }
    if !input.helm_hooks.is_empty() {
        let hooks = some(&input.helm_hooks);
        notes.push(format!(
            "planned for, though Helm runs them only while a release changes: {hooks}"
        ));
    }
    for (why, count) in pods_passed_over {
        let plural = if *count == 1 { "pod" } else { "pods" };
        notes.push(format!("{count} {plural} {why} not planned for"));
    }
    notes
}

/// Lines for pods that do not ask for what they will use.
pub(super) fn of_requests(pods: &[Pod]) -> Vec<String> {
    let lacks = |pod: &&Pod, resource: &str| pod.shape.requests.quantity(resource).is_zero();
    let line = |wanting: Vec<&Pod>, what: &str| {
        let names: Vec<String> =
            wanting.iter().map(|pod| format!("{}/{}", pod.shape.namespace, pod.name)).collect();
        let count = names.len();
        let (ask, whom) = if count == 1 { ("pod asks", "it") } else { ("pods ask", "them") };
        (count > 0).then(|| {
            format!("{count} {ask} for no {what}, so none is kept for {whom}: {}", some(&names))
        })
    };
    let filter = |cpu: bool, memory: bool| {
        let is_meant = |pod: &&Pod| lacks(pod, CPU) == cpu && lacks(pod, MEMORY) == memory;
        pods.iter().filter(is_meant).collect::<Vec<_>>()
    };
    let lines = [
        line(filter(true, true), "CPU and no memory"),
        line(filter(true, false), "CPU"),
        line(filter(false, true), "memory"),
    ];
    lines.into_iter().flatten().collect()
}

/// The first few names.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
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
