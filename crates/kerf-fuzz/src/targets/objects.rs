//! Documents: API objects, manifests, files of settings, journals.

use std::fmt::Debug;

use kerf_api::convert::{
    capacity_buffer_from_model, capacity_buffer_to_model, node_claim_from_model,
    node_claim_to_model, node_overlay_from_model, node_overlay_to_model, node_pool_from_model,
    node_pool_to_model,
};
use kerf_api::ec2_node_class::{EC2NodeClass, validate_kubelet};
use kerf_api::legacy::{AWSNodeTemplate, Options, Provisioner, convert, convert_beta};
use kerf_api::validation::{label_rules, validate_node_pool};
use kerf_api::{FieldError, node_pool_hash};
use kerf_engine::Settings;
use kerf_engine::time::Time;
use kerf_journal::Replay;
use kerf_kube::{Manifests, SchedulerConfig};
use kerf_lint::{Catalogue, Colour, Input};
use kerf_scheduler::{CancelFlag, Effort, solve_within};
use kerf_sim::Scenario;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::utf8;

/// Larger problems take seconds and show nothing that small ones do not.
const PODS_MAX: usize = 60;
/// Numbers of replicas are cut to this, or every second input makes a million pods.
const REPLICAS_MAX: i64 = 20;
/// 2026-11-17T00:00:00Z.
const NOW: Time = Time::from_seconds(1_794_873_600);

/// Objects of the API. What Kerf reads it can write, and read again.
pub(super) fn api(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    survives(&value, node_pool_to_model, node_pool_from_model, |pool| {
        pool.hash.clear();
        pool.disruption.budgets.unreadable().is_empty()
    });
    survives(&value, node_claim_to_model, node_claim_from_model, |_| true);
    survives(&value, node_overlay_to_model, node_overlay_from_model, |_| true);
    survives(&value, capacity_buffer_to_model, capacity_buffer_from_model, |_| true);
    if let Ok(pool) = serde_json::from_value::<kerf_api::node_pool::NodePool>(value.clone()) {
        let _ = validate_node_pool(&pool.spec, &label_rules());
        let _ = node_pool_hash(&pool.spec.template);
    }
    if let Ok(class) = serde_json::from_value::<EC2NodeClass>(value) {
        let _ = validate_kubelet(&class.spec);
    }
}

fn survives<T: DeserializeOwned, M: PartialEq + Debug>(
    value: &Value,
    to_model: impl Fn(&T) -> Result<M, Vec<FieldError>>,
    from_model: impl Fn(&M) -> T,
    settle: impl Fn(&mut M) -> bool,
) {
    let Ok(object) = serde_json::from_value::<T>(value.clone()) else { return };
    let Ok(mut model) = to_model(&object) else { return };
    let again = to_model(&from_model(&model));
    let mut again = again.unwrap_or_else(|problems| panic!("not readable again: {problems:?}"));
    if settle(&mut model) && settle(&mut again) {
        assert_eq!(again, model);
    }
}

/// Objects of older versions, one on each line.
pub(super) fn legacy(bytes: &[u8]) {
    let values = lines(bytes);
    let _ = convert_beta(&values);
    let (mut provisioners, mut templates) = (Vec::<Provisioner>::new(), Vec::new());
    for value in values {
        provisioners.extend(serde_json::from_value::<Provisioner>(value.clone()));
        templates.extend(serde_json::from_value::<AWSNodeTemplate>(value));
    }
    let _ = convert(&provisioners, &templates, &Options::default());
}

/// Any bytes give a report with places in them.
pub(super) fn lint(bytes: &[u8]) {
    thread_local! {
        static CATALOGUE: Catalogue =
            Catalogue::new(&kerf_api::crds()).expect("the definitions of this build are good");
    }
    let inputs = [Input::new("x", bytes)];
    let report = CATALOGUE.with(|catalogue| kerf_lint::lint(&inputs, catalogue));
    assert!(kerf_lint::to_text(&report, Colour::Never).ends_with('\n'));
    assert!(serde_json::from_str::<Value>(&kerf_lint::to_json(&report)).is_ok());
    let _ = kerf_lint::objects(&inputs);
}

/// Files of simulated instance types.
pub(super) fn kwok_types(bytes: &[u8]) {
    let Some(types) = utf8(bytes).and_then(|text| kerf_catalog::from_json(text).ok()) else {
        return;
    };
    types.iter().for_each(|it| drop(it.allocatable()));
    let _ = kerf_catalog::to_json(&types);
}

/// How a cluster's scheduler spreads pods.
pub(super) fn scheduler_config(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice(bytes) {
        let _ = SchedulerConfig::from_value(value);
    }
}

/// Scenarios of the simulator; they are not played.
pub(super) fn scenario(bytes: &[u8]) {
    if let Some(scenario) = utf8(bytes).and_then(|text| Scenario::parse(text).ok()) {
        let _ = (scenario.times_past_end(), scenario.has_faults());
    }
}

/// Journals, replayed.
pub(super) fn journal(bytes: &[u8]) {
    if let Some(text) = utf8(bytes) {
        let _ = Replay::of(text);
    }
}

/// Manifests on the way that `kerf plan` takes them, one on each line.
pub(super) fn manifests(bytes: &[u8]) {
    let mut manifests = Manifests::default();
    for (source, mut value) in lines(bytes).into_iter().enumerate() {
        cut_replicas(&mut value);
        if value["kind"] == "NodePool" {
            let pool = kerf_kube::read(value);
            let pool = pool.map(|object| kerf_kube::Sourced { source, object });
            manifests.node_pools.extend(pool);
        } else if value["kind"] == "CapacityBuffer" {
            let buffer = kerf_kube::read(value);
            let buffer = buffer.map(|object| kerf_kube::Sourced { source, object });
            manifests.buffers.extend(buffer);
        } else {
            let _ = manifests.add(source, value);
        }
    }
    let Ok(mut observed) = manifests.observe(Settings::default(), Vec::new(), NOW) else { return };
    let pools: Vec<_> = observed.world().pools.keys().cloned().collect();
    thread_local! {
        static TYPES: std::sync::Arc<[kerf_model::instance_type::InstanceType]> =
            kerf_catalog::kwok().into_iter().step_by(12).collect();
    }
    observed.offer(pools.into_iter().map(|pool| (pool, TYPES.with(std::sync::Arc::clone))));
    let plan = observed.problem();
    if plan.problem.pods.len() <= PODS_MAX {
        let _ = solve_within(&plan.problem, Effort(2_000), &CancelFlag::default());
    }
}

/// One JSON value on each line; what is none is left out.
pub(super) fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = utf8(bytes).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Cuts numbers that pods are made by.
fn cut_replicas(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let makes_pods = ["replicas", "Replicas", "completions", "parallelism"];
                let makes_pods = makes_pods.iter().any(|word| name.contains(word));
                if let Some(number) = value.as_i64().filter(|number| *number > REPLICAS_MAX)
                    && makes_pods
                {
                    *value = Value::from(number % REPLICAS_MAX);
                }
                cut_replicas(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cut_replicas),
        _ => {}
    }
}
