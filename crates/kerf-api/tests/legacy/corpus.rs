//! The manifests that a real API server judges are judged alike by the controller, and survive
//! being decoded and encoded.

use kerf_api::legacy::{
    AWSNodeTemplate, LegacyFinding, Provisioner, validate_aws_node_template, validate_provisioner,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::manifest::errors;

/// What the API server refuses and the controller forgives.
const REFUSED_BY_THE_API_SERVER_ALONE: [&str; 4] = [
    // A taint without an effect decodes as one with an empty effect, which is admitted.
    "a-taint-without-an-effect",
    // A trailing comma is forgiven: it never selected anything.
    "subnets-by-an-empty-id-in-the-newer-spelling",
    "security-groups-by-an-empty-id-in-the-newer-spelling",
    "images-by-an-empty-id-in-the-newer-spelling",
];

fn judged<T: DeserializeOwned + Serialize>(file: &str, judge: fn(&T) -> Vec<LegacyFinding>) {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it for tests");
    let text = std::fs::read_to_string(format!("{root}/tests/corpus/{file}")).expect("a corpus");
    let documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("a corpus is YAML");
    assert!(documents.len() > 50, "{file} has only {} documents", documents.len());
    for document in documents {
        let name = document["metadata"]["name"].as_str().expect("a name").to_owned();
        let is_accepted = document["metadata"]["annotations"]["kerf.test/expect"] == "accepted";
        let object: T = match serde_json::from_value(document.clone()) {
            Ok(object) => object,
            Err(problem) => {
                assert!(!is_accepted, "{name} does not decode: {problem}");
                continue;
            }
        };
        let errors = errors(&judge(&object));
        if is_accepted {
            assert!(errors.is_empty(), "{name} is accepted, but: {errors:?}");
            let encoded = serde_json::to_value(&object).expect("objects encode");
            assert_eq!(encoded, document, "{name} lost something");
        } else if !REFUSED_BY_THE_API_SERVER_ALONE.contains(&name.as_str()) {
            assert!(!errors.is_empty(), "{name} is rejected by the API server alone");
        }
    }
}

#[test]
fn the_controller_judges_provisioners_as_the_api_server_does() {
    judged::<Provisioner>("provisioner.yaml", validate_provisioner);
}

#[test]
fn the_controller_judges_templates_as_the_api_server_does() {
    judged::<AWSNodeTemplate>("awsnodetemplate.yaml", validate_aws_node_template);
}
