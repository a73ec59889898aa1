//! What a pod needs from a node.

mod recording;

use kerf_model::pod_requests::{
    ContainerResources, InitContainerResources, InitKind, ObservedResources, PodLevelResources,
    PodResources, Resize, effective_limits, effective_requests, with_pod_slot,
};
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use serde_json::Value;

fn list(entries: &[(&str, &str)]) -> ResourceList {
    let quantity = |text: &str| Quantity::parse(text).expect("tests write quantities");
    entries.iter().map(|(name, text)| (*name, quantity(text))).collect()
}

fn container(cpu: &str) -> ContainerResources {
    ContainerResources { requests: list(&[("cpu", cpu)]), ..ContainerResources::default() }
}

fn init(kind: InitKind, cpu: &str) -> InitContainerResources {
    InitContainerResources { container: container(cpu), kind }
}

fn cpu(pod: &PodResources) -> String {
    effective_requests(pod).quantity("cpu").to_string()
}

use InitKind::{RunsToCompletion, Sidecar};

/// CPU of the containers, of the init containers, and what the pod needs.
type InitCase = (&'static [&'static str], &'static [(InitKind, &'static str)], &'static str);
const INITS: &[InitCase] = &[
    (&["1", "500m"], &[], "1500m"),
    (&["1"], &[(RunsToCompletion, "3"), (RunsToCompletion, "2")], "3"),
    (&["4"], &[(RunsToCompletion, "3")], "4"),
    (&["1"], &[(Sidecar, "2")], "3"),
    // The sidecar already runs when the large init container starts.
    (&["1"], &[(Sidecar, "2"), (RunsToCompletion, "5")], "7"),
    // Here it starts only afterwards.
    (&["1"], &[(RunsToCompletion, "5"), (Sidecar, "2")], "5"),
    (
        &["1"],
        &[(Sidecar, "1"), (RunsToCompletion, "1"), (Sidecar, "2"), (RunsToCompletion, "2")],
        "5",
    ),
];

#[test]
fn init_containers_count_by_the_largest_moment() {
    for (containers, inits, needed) in INITS {
        let pod = PodResources {
            containers: containers.iter().map(|cpu| container(cpu)).collect(),
            init_containers: inits.iter().map(|(kind, cpu)| init(*kind, cpu)).collect(),
            ..PodResources::default()
        };
        assert_eq!(cpu(&pod), *needed, "{containers:?} {inits:?}");
    }
}

#[test]
fn amounts_for_the_pod_replace_the_sum_where_they_are_supported_and_overhead_comes_on_top() {
    let pod_level = PodLevelResources {
        requests: list(&[("cpu", "1"), ("hugepages-2Mi", "4Mi"), ("example.com/card", "9")]),
        limits: list(&[("memory", "2Gi")]),
    };
    let pod = PodResources {
        containers: vec![ContainerResources {
            requests: list(&[("cpu", "3"), ("memory", "1Gi"), ("example.com/card", "1")]),
            limits: list(&[("cpu", "4")]),
            observed: None,
        }],
        pod_level: Some(pod_level),
        overhead: list(&[("cpu", "250m"), ("memory", "64Mi"), ("pods", "0")]),
        ..PodResources::default()
    };
    let requests = list(&[
        ("cpu", "1250m"),
        ("memory", "1088Mi"),
        ("hugepages-2Mi", "4Mi"),
        ("example.com/card", "1"),
        ("pods", "0"),
    ]);
    assert_eq!(effective_requests(&pod), requests);
    assert_eq!(effective_limits(&pod), list(&[("cpu", "4250m"), ("memory", "2112Mi")]));
}

#[test]
fn a_resize_counts_the_largest_of_asked_granted_and_in_force_unless_it_is_infeasible() {
    for (asked, granted, in_force, resize, needed) in [
        ("1", "2", "3", Resize::Possible, "3"),
        ("1", "4", "3", Resize::Possible, "4"),
        ("5", "2", "3", Resize::Possible, "5"),
        ("5", "2", "3", Resize::Infeasible, "3"),
        ("5", "4", "3", Resize::Infeasible, "4"),
    ] {
        let observed = ObservedResources {
            allocated: list(&[("cpu", granted)]),
            requests: list(&[("cpu", in_force)]),
        };
        let resized = ContainerResources { observed: Some(observed), ..container(asked) };
        let pod =
            PodResources { containers: vec![resized.clone()], resize, ..PodResources::default() };
        assert_eq!(cpu(&pod), needed, "{asked} {granted} {in_force} {resize:?}");
        assert_eq!(cpu(&pod.without_observed()), asked);
        // Of init containers only sidecars can be resized.
        for (kind, needed) in [(Sidecar, needed), (RunsToCompletion, asked)] {
            let pod = PodResources {
                init_containers: vec![InitContainerResources { container: resized.clone(), kind }],
                resize,
                ..PodResources::default()
            };
            assert_eq!(cpu(&pod), needed, "{kind:?}");
        }
    }
}

#[test]
fn a_pod_takes_one_pod_slot_whatever_it_asks_for() {
    let requests = with_pod_slot(list(&[("cpu", "1"), ("pods", "7")]));
    assert_eq!(requests, list(&[("cpu", "1"), ("pods", "1")]));
}

#[test]
fn limits_stand_in_for_requests_a_template_leaves_out() {
    let limited = ContainerResources {
        requests: list(&[("cpu", "1")]),
        limits: list(&[("cpu", "2"), ("memory", "1Gi")]),
        observed: None,
    };
    let mut pod = PodResources {
        containers: vec![limited.clone()],
        init_containers: vec![InitContainerResources { container: limited, kind: Sidecar }],
        ..PodResources::default()
    };
    pod.copy_limits_into_missing_requests();
    assert_eq!(effective_requests(&pod), list(&[("cpu", "2"), ("memory", "2Gi")]));
}

#[test]
fn every_recorded_pod_needs_what_the_reference_computes() {
    for row in recording::rows("pod_requests", "rows") {
        let pod = pod(&row["pod"]);
        let requests = with_pod_slot(effective_requests(&pod));
        assert_eq!(printed(&requests), row["requests"], "requests of {}", row["pod"]);
        assert_eq!(printed(&effective_limits(&pod)), row["limits"], "limits of {}", row["pod"]);
        let spec_requests = effective_requests(&pod.without_observed());
        assert_eq!(printed(&spec_requests), row["specRequests"], "by spec of {}", row["pod"]);
    }
}

fn printed(list: &ResourceList) -> Value {
    list.iter().map(|(name, quantity)| (name.to_owned(), quantity.to_string())).collect()
}

/// A pod in its API form.
fn pod(pod: &Value) -> PodResources {
    let [spec, status] = [&pod["spec"], &pod["status"]];
    let container = |value: &Value| ContainerResources {
        requests: resource_list(&value["resources"]["requests"]),
        limits: resource_list(&value["resources"]["limits"]),
        observed: observed(status, &value["name"]),
    };
    let init = |value: &Value| InitContainerResources {
        container: container(value),
        kind: if value["restartPolicy"] == "Always" { Sidecar } else { RunsToCompletion },
    };
    let pending = array(&status["conditions"]).iter().find(|c| c["type"] == "PodResizePending");
    let infeasible = pending.is_some_and(|condition| condition["reason"] == "Infeasible");
    PodResources {
        containers: array(&spec["containers"]).iter().map(container).collect(),
        init_containers: array(&spec["initContainers"]).iter().map(init).collect(),
        pod_level: spec["resources"].is_object().then(|| PodLevelResources {
            requests: resource_list(&spec["resources"]["requests"]),
            limits: resource_list(&spec["resources"]["limits"]),
        }),
        overhead: resource_list(&spec["overhead"]),
        resize: if infeasible { Resize::Infeasible } else { Resize::Possible },
    }
}

/// A status belongs to the container of its name, whichever list it stands in.
fn observed(pod_status: &Value, name: &Value) -> Option<ObservedResources> {
    let lists = ["initContainerStatuses", "containerStatuses"];
    let mut statuses = lists.iter().flat_map(|list| array(&pod_status[list]));
    let status = statuses.find(|status| status["name"] == *name)?;
    status["resources"].is_object().then(|| ObservedResources {
        allocated: resource_list(&status["allocatedResources"]),
        requests: resource_list(&status["resources"]["requests"]),
    })
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn resource_list(value: &Value) -> ResourceList {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(name, text)| {
            let text = text.as_str().expect("a recorded quantity is a string");
            (name.as_str(), Quantity::parse(text).expect("a recorded quantity is valid"))
        })
        .collect()
}
