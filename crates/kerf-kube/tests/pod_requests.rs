//! What pods need, recorded from the reference, read through the API's own types.

use std::path::Path;

use k8s_openapi::api::core::v1::Pod;
use kerf_kube::{Origin, pod_from_api};
use serde_json::Value;

#[test]
fn every_recorded_pod_needs_what_the_reference_computes() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/recorded/pod_requests.json");
    let text = std::fs::read_to_string(path).expect("the recording is in the tree");
    let recording: Value = serde_json::from_str(&text).expect("the recording is JSON");
    let rows = recording["rows"].as_array().expect("rows");
    assert!(rows.len() > 40, "only {} rows", rows.len());
    for row in rows {
        let mut pod = row["pod"].clone();
        // The recorder writes only what counts; the API's own types insist on a little more.
        complete(&mut pod);
        let pod: Pod = serde_json::from_value(pod).unwrap_or_else(|error| panic!("{error}: {row}"));
        let read = pod_from_api(&pod, Vec::new(), Origin::Stored).expect("readable");
        let requests = read.shape.requests.iter();
        let printed: Value =
            requests.map(|(name, quantity)| (name.to_owned(), quantity.to_string())).collect();
        assert_eq!(printed, row["requests"], "{}", row["pod"]);
    }
}

fn complete(pod: &mut Value) {
    for list in ["containerStatuses", "initContainerStatuses"] {
        let statuses = pod.pointer_mut(&format!("/status/{list}")).and_then(Value::as_array_mut);
        for status in statuses.into_iter().flatten() {
            for (field, value) in
                [("image", "".into()), ("imageID", "".into()), ("ready", true.into())]
            {
                status[field] = value;
            }
            status["restartCount"] = 0.into();
        }
    }
}
