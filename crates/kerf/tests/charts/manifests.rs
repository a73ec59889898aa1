//! Rendered manifests as values.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kerf_testbed::{Helm, Result};
use serde_json::Value;

use crate::CHART;

pub(crate) static HELM: LazyLock<Helm> = LazyLock::new(|| Helm::ready().unwrap());

/// The objects that the chart gives for these values.
pub(crate) fn try_render(values: &str) -> Result<Vec<Value>> {
    let text = HELM.template("karpenter", CHART, values, &["--namespace=karpenter"])?;
    Ok(read(&text))
}

/// The same where it must go well.
pub(crate) fn render(values: &str) -> Vec<Value> {
    try_render(values).unwrap()
}

/// Every document of a YAML text.
pub(crate) fn read(text: &str) -> Vec<Value> {
    let documents = text.split("\n---\n").map(|one| one.trim_start_matches("---\n"));
    let read =
        |one| serde_saphyr::from_str::<Value>(one).unwrap_or_else(|why| panic!("{why}: {one}"));
    documents.map(read).filter(|one| !one.is_null()).collect()
}

/// The one object of a kind and name.
pub(crate) fn object<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let is_it = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}"))
}

/// The plain variables of the controller's container.
pub(crate) fn environment(deployment: &Value) -> BTreeMap<String, String> {
    let variables = &deployment["spec"]["template"]["spec"]["containers"][0]["env"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let variables = variables.as_array().unwrap().iter();
    variables.filter_map(|one| Some((text(&one["name"])?, text(&one["value"])?))).collect()
}
