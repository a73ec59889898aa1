//! What the tests share: the CRDs of `tests/crds`, and kinds with one schema.
#![allow(dead_code, reason = "each test file uses a part")]

use kerf_lint::{Catalogue, Verdict};
use serde_json::{Value, json};

/// The catalogue of the test kinds.
pub(crate) fn catalogue() -> Catalogue {
    let crds = [include_str!("../crds/nodepool.json")]
        .map(|text| serde_json::from_str(text).expect("a CRD of the tests is a CRD"));
    Catalogue::new(&crds).expect("a CRD of the tests has a JSON form")
}

/// A catalogue of one kind, `Thing`, whose `spec` has the schema given.
pub(crate) fn catalogue_of(spec_schema: &Value) -> Catalogue {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.kerf.test"},
        "spec": {
            "group": "kerf.test",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "apiVersion": {"type": "string"},
                        "kind": {"type": "string"},
                        "metadata": {"type": "object"},
                        "spec": spec_schema,
                    },
                }},
            }],
        },
    });
    let crd = serde_json::from_value(crd).expect("the test's CRD is a CRD");
    Catalogue::new(&[crd]).expect("the test's CRD has a JSON form")
}

/// A `Thing` with this spec.
pub(crate) fn thing(spec: &Value) -> Value {
    json!({"apiVersion": "kerf.test/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec})
}

/// The verdict on a spec under a schema.
pub(crate) fn judged(spec_schema: &Value, spec: &Value) -> Verdict {
    catalogue_of(spec_schema).verdict(&thing(spec)).expect("a Thing is in the catalogue")
}

/// The problems as `field: rule`, in order of field.
pub(crate) fn in_short(verdict: &Verdict) -> Vec<String> {
    let problems = verdict.problems.iter();
    let mut lines: Vec<String> = problems.map(|p| format!("{}: {}", p.path, p.rule)).collect();
    lines.sort();
    lines
}
