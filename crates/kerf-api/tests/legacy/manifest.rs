//! Objects written as YAML, and what comes of them.

use kerf_api::legacy::{AWSNodeTemplate, Converted, LegacyFinding, Options, Provisioner, convert};
use serde_json::Value;

/// A Provisioner called `p` with this spec; unless the spec says otherwise it uses template `t`.
pub(crate) fn provisioner(spec: &str) -> Provisioner {
    provisioner_named("p", spec)
}

/// A Provisioner with this name and spec.
pub(crate) fn provisioner_named(name: &str, spec: &str) -> Provisioner {
    let mut spec = yaml(spec);
    let fields = spec.as_object_mut().expect("a spec is a mapping");
    if !fields.contains_key("provider") && !fields.contains_key("providerRef") {
        fields.insert("providerRef".into(), yaml("{name: t}"));
    }
    object("karpenter.sh/v1alpha5", "Provisioner", name, spec)
}

/// An AWSNodeTemplate called `t` with this spec; selectors are added unless it has some.
pub(crate) fn template(spec: &str) -> AWSNodeTemplate {
    template_named("t", spec)
}

/// An AWSNodeTemplate with this name and spec.
pub(crate) fn template_named(name: &str, spec: &str) -> AWSNodeTemplate {
    let mut spec = yaml(spec);
    let fields = spec.as_object_mut().expect("a spec is a mapping");
    if !fields.contains_key("launchTemplate") {
        fields.entry("securityGroupSelector").or_insert_with(|| yaml("{team: a}"));
    }
    fields.entry("subnetSelector").or_insert_with(|| yaml("{team: a}"));
    object("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", name, spec)
}

fn object<T: serde::de::DeserializeOwned>(
    api_version: &str,
    kind: &str,
    name: &str,
    spec: Value,
) -> T {
    let object = serde_json::json!({
        "apiVersion": api_version, "kind": kind, "metadata": { "name": name }, "spec": spec,
    });
    serde_json::from_value(object).expect("the manifest decodes")
}

/// What the text says.
pub(crate) fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("the test writes YAML")
}

/// Options of a cluster whose nodes have a role.
pub(crate) fn with_role() -> Options {
    Options { role: Some("node-role".into()), ..Options::default() }
}

/// The spec of the NodePool that a Provisioner with this spec becomes.
pub(crate) fn pool_of(spec: &str) -> Value {
    let converted = convert(&[provisioner(spec)], &[template("{}")], &with_role());
    assert!(converted.is_complete(), "{spec}: {:?}", converted.problems);
    serde_json::to_value(&converted.node_pools[0].spec).expect("a NodePool encodes")
}

/// The spec of the EC2NodeClass that a template with this spec becomes.
pub(crate) fn class_of(spec: &str) -> Value {
    class_with(spec, &with_role())
}

/// The same with other options.
pub(crate) fn class_with(spec: &str, options: &Options) -> Value {
    let converted = convert(&[], &[template(spec)], options);
    assert!(converted.is_complete(), "{spec}: {:?}", converted.problems);
    serde_json::to_value(&converted.node_classes[0].spec).expect("an EC2NodeClass encodes")
}

/// The errors, each as `field: message`.
pub(crate) fn errors(problems: &[LegacyFinding]) -> Vec<String> {
    problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| format!("{}: {}", problem.field, problem.message))
        .collect()
}

/// Asserts that the conversion refuses something, naming the field and saying why.
pub(crate) fn assert_refused(converted: &Converted, field: &str, words: &str) {
    let errors = errors(&converted.problems);
    let is_named = |error: &String| error.starts_with(field) && error.contains(words);
    assert!(errors.iter().any(is_named), "wanted {field}: …{words}…, got {errors:?}");
}
