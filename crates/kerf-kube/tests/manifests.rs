//! Objects in; the problem they pose, what is set aside and what is wrong, out.

mod printed;

use std::sync::Arc;

use kerf_engine::Settings;
use kerf_engine::time::Time;
use kerf_kube::{Intake, Manifests, PlanProblem};
use kerf_scheduler::PlacementProblem;
use printed::yaml;
use serde_json::Value;

/// Manifests of documents, and what was said while they were read.
fn manifests(documents: &str) -> (Manifests, Vec<String>) {
    let (mut manifests, mut said) = (Manifests::default(), Vec::new());
    for (source, text) in documents.split("\n---\n").enumerate() {
        match manifests.add(source, yaml::<Value>(text)) {
            Ok(Intake::Read | Intake::HelmHook) => {}
            Ok(Intake::PassedOver | Intake::HelmTest) => said.push(format!("{source} passed over")),
            Err(problem) => said.push(format!("{source} {problem}")),
        }
    }
    (manifests, said)
}

/// The problem that documents pose, or what is wrong with them.
fn problem(documents: &str) -> Result<PlanProblem, Vec<kerf_kube::SourcedError>> {
    let (manifests, said) = manifests(documents);
    assert!(said.is_empty(), "{said:?}");
    let observed = manifests.observe(Settings::default(), Vec::new(), Time::default());
    observed.map(|observed| observed.problem())
}

/// One line for each pod to place, node and pod set aside.
fn posed(documents: &str) -> String {
    match problem(documents) {
        Err(problems) => {
            let line = |it: &kerf_kube::SourcedError| format!("! {} {}", it.source, it.problem);
            problems.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Ok(PlanProblem { problem, set_aside, passed_over, .. }) => {
            let PlacementProblem { pods, nodes, daemons, .. } = &problem;
            let mut in_order: Vec<_> = pods.iter().collect();
            in_order.sort_by_key(|pod| (pod.created_at, &pod.uid));
            let place = |pod: &&_| place(pod);
            let mut lines: Vec<String> = in_order.iter().map(place).collect();
            lines.extend(nodes.iter().map(|node| {
                let pods: Vec<_> = node
                    .pods
                    .iter()
                    .map(|it| format!("{}{}", it.pod.name, if it.is_daemon { "*" } else { "" }))
                    .collect();
                format!("node {} [{}]", node.name, pods.join(" "))
            }));
            lines.extend(
                daemons.iter().map(|it| format!("daemon {}", printed::amounts(&it.requests))),
            );
            lines
                .extend(set_aside.iter().map(|it| format!("aside {}: {}", it.pod.name, it.reason)));
            lines.extend(passed_over.iter().map(|(why, count)| format!("{count} {why}")));
            lines.join("\n")
        }
    }
}

fn place(pod: &kerf_model::pod::Pod) -> String {
    format!("place {}/{}", pod.shape.namespace, pod.name)
}

#[track_caller]
fn check(documents: &str, expected: &str) {
    assert_eq!(posed(documents.trim()), printed::expectation(expected));
}

#[test]
fn workloads_become_as_many_pods_as_they_lack() {
    check(
        "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d},
 spec: {replicas: 2, selector: {}, template: {}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, namespace: x}, spec: {selector: {}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s},
 spec: {serviceName: s, replicas: 2, ordinals: {start: 5}, selector: {}, template: {}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: rc}, spec: {replicas: 1}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {template: {}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: some},
 spec: {parallelism: 3, completions: 5, template: {}},
 status: {succeeded: 3}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: queue},
 spec: {parallelism: 1, template: {}},
 status: {succeeded: 9}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: held}, spec: {suspend: true, template: {}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: none},
 spec: {replicas: 0, selector: {}, template: {}}}
",
        "
place default/d-0
place default/d-1
place x/r-0
place default/s-5
place default/s-6
place default/rc-0
place default/once-0
place default/some-0
place default/some-1
place default/queue-0
1 of Jobs that are suspended
",
    );
}

#[test]
fn pods_behind_scheduling_gates_are_not_placed() {
    check(
        "
{apiVersion: v1, kind: Pod, metadata: {name: a},
 spec: {containers: [], schedulingGates: [{name: g}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d},
 spec: {replicas: 2, selector: {}, template: {spec: {containers: [], schedulingGates: [{name: g}]}}}}
",
        "3 held back by scheduling gates",
    );
}

#[test]
fn replicas_share_one_shape() {
    let asked = problem(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 3, selector: {}, template: {}}
",
    );
    let asked = asked.expect("readable");
    let pods = &asked.problem.pods;
    assert!(pods.iter().all(|pod| Arc::ptr_eq(&pod.shape, &pods[0].shape)));
    assert_eq!(pods.len(), 3);
}

#[test]
fn a_dump_with_deployment_replica_set_and_pods_counts_each_pod_once() {
    check(
        "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: d},
 spec: {replicas: 4, selector: {}, template: {}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: d-1
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: u, controller: true}]
spec: {replicas: 4, selector: {}}
---
apiVersion: v1
kind: Pod
metadata:
  name: d-1-x
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: d-1, uid: u, controller: true}]
spec: {containers: [], nodeName: n1}
---
apiVersion: v1
kind: Pod
metadata:
  name: d-1-y
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: d-1, uid: u, controller: true}]
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata:
  name: d-1-z
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: d-1, uid: u, controller: true}]
spec: {containers: [], nodeName: n1}
status: {phase: Succeeded}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}}
",
        "
place default/d-1-y
place default/d-0
place default/d-1
node n1 [d-1-x]
1 of phase Succeeded or Failed
",
    );
}

#[test]
fn pods_stay_on_nodes_that_stay_and_move_from_those_that_leave() {
    check(
        "
{apiVersion: v1, kind: Node, metadata: {name: stays}}
---
{apiVersion: v1, kind: Node, metadata: {name: leaves, deletionTimestamp: '2026-01-01T00:00:00Z'}}
---
{apiVersion: v1, kind: Pod, metadata: {name: home}, spec: {containers: [], nodeName: stays}}
---
apiVersion: v1
kind: Pod
metadata:
  name: agent
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]
spec: {containers: [], nodeName: stays}
---
{apiVersion: v1, kind: Pod, metadata: {name: moves}, spec: {containers: [], nodeName: leaves}}
---
{apiVersion: v1, kind: Pod, metadata: {name: dies, deletionTimestamp: '2026-01-01T00:00:00Z'},
 spec: {containers: [], nodeName: leaves}}
---
{apiVersion: v1, kind: Pod, metadata: {name: away}, spec: {containers: [], nodeName: elsewhere}}
---
{apiVersion: v1, kind: Pod, metadata: {name: next},
 spec: {containers: []},
 status: {nominatedNodeName: stays}}
---
apiVersion: v1
kind: Pod
metadata:
  name: agent-2
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: static, ownerReferences: [{apiVersion: v1, kind: Node, name: n1, uid: u}]}
spec: {containers: []}
",
        "
place default/moves
node stays [agent* home]
1 about to take the place of others
1 of DaemonSets
1 on nodes that were not given
1 that belong to nodes
1 that leave with their node
",
    );
}

#[test]
fn daemon_sets_count_once_each_unless_they_ask_for_devices() {
    check(
        "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {}, template: {spec: {containers: [{name: a, resources: {limits: {cpu: 100m}}}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: device}
spec: {selector: {}, template: {spec: {resourceClaims: [{name: gpu}], containers: []}}}
",
        "daemon cpu=100m pods=1",
    );
}

#[test]
fn a_daemon_set_looks_like_its_newest_pod_but_keeps_its_own_affinity() {
    let asked = problem(
        "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {}
  template:
    spec: {nodeSelector: {a: b}, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: agent-new
  creationTimestamp: '2026-01-02T00:00:00Z'
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]
spec:
  nodeName: elsewhere
  nodeSelector: {a: b}
  containers: [{name: a, resources: {requests: {cpu: 300m}}}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchFields: [{key: metadata.name, operator: In, values: [elsewhere]}]
---
apiVersion: v1
kind: Pod
metadata:
  name: agent-old
  creationTimestamp: '2026-01-01T00:00:00Z'
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: true}]
spec: {nodeName: elsewhere, containers: [{name: a, resources: {requests: {cpu: 200m}}}]}
",
    );
    let asked = asked.expect("readable");
    let [daemon] = asked.problem.daemons.as_slice() else { panic!("one daemon set") };
    assert_eq!(printed::shape(daemon), "default\nneeds cpu=300m pods=1\non a=b");
}

#[test]
fn pods_that_no_node_could_serve_are_set_aside_with_the_reason() {
    let pod = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}},\n \
             spec: {{containers: [], {spec}}}}}"
        )
    };
    let term = |expression: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
             {{nodeSelectorTerms: [{expression}]}}}}}}"
        )
    };
    let shuns = "{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}";
    let documents = [
        pod("host", "nodeSelector: {kubernetes.io/hostname: n1}"),
        pod("field", &term("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}")),
        pod("shuns", &term(shuns)),
        pod(
            "may-shun",
            &term(&format!("{shuns}, {{matchExpressions: [{{key: a, operator: Exists}}]}}")),
        ),
        pod("claim", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"),
    ];
    check(
        &documents.join("\n---\n"),
        "
place default/may-shun
aside host: label \"kubernetes.io/hostname\" names a single node, so it cannot be known before the
.. node exists; use labels that several nodes can carry
aside field: node affinity with matchFields names nodes that exist; use labels instead
aside shuns: it asks for a node outside any pool (karpenter.sh/nodepool DoesNotExist)
aside claim: PersistentVolumeClaim default/data does not exist; create it
",
    );
}

#[test]
fn each_replica_of_a_stateful_set_has_its_own_claim() {
    let asked = problem(
        "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {}
  template: {}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: s}}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: s}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
",
    );
    let asked = asked.expect("readable");
    let volumes: Vec<_> = asked
        .problem
        .pods
        .iter()
        .flat_map(|pod| pod.shape.volumes.iter().map(printed::volume))
        .collect();
    assert_eq!(
        volumes,
        ["volume default/data-db-0 ebs.csi.aws.com", "volume default/data-db-1 ebs.csi.aws.com"]
    );
}

#[test]
fn a_claim_of_a_stateful_set_that_exists_counts_instead_of_the_one_foreseen() {
    let documents = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec:
  serviceName: web
  selector: {}
  template:
    spec:
      containers: []
      volumes:
        - {name: data, emptyDir: {}}
        - name: scratch
          ephemeral: {volumeClaimTemplate: {spec: {storageClassName: anywhere}}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: wait}}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: wait}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: anywhere}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
";
    let volumes = |documents: &str| {
        let asked = problem(documents).expect("readable").problem;
        let volumes = asked.pods.iter().flat_map(|pod| &pod.shape.volumes).map(printed::volume);
        volumes.collect::<Vec<_>>()
    };
    let scratch = "volume shop/web-0-scratch ebs.csi.aws.com";
    // The pod's own volume of the template's name gives way to the template.
    let foreseen = "volume shop/data-web-0 ebs.csi.aws.com (zone In a,b)";
    assert_eq!(volumes(documents), [foreseen, scratch]);
    let exists = format!(
        "{documents}---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data-web-0
  namespace: shop
  annotations: {{pv.kubernetes.io/bind-completed: 'yes'}}
spec: {{volumeName: pv-old}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: pv-old}}
spec: {{awsElasticBlockStore: {{volumeID: v}}}}
"
    );
    assert_eq!(volumes(&exists), ["volume shop/data-web-0 ebs.csi.aws.com", scratch]);
}

#[test]
fn pods_without_a_name_of_their_own_are_all_there() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {generateName: p-}, spec: {containers: []}}";
    let taken = "{apiVersion: v1, kind: Pod, metadata: {name: p-1}, spec: {containers: []}}";
    check(
        &[pod, taken, pod].join("\n---\n"),
        "place default/p-0\nplace default/p-1\nplace default/p-2",
    );
}

#[test]
fn a_pod_that_may_not_be_disrupted_is_not_expected_to_leave_its_node() {
    check(
        "
{apiVersion: v1, kind: Node, metadata: {name: leaves, deletionTimestamp: '2026-01-01T00:00:00Z'}}
---
{apiVersion: v1, kind: Pod, metadata: {name: moves}, spec: {containers: [], nodeName: leaves}}
---
apiVersion: v1
kind: Pod
metadata: {name: stays, annotations: {karpenter.sh/do-not-disrupt: 'true'}}
spec: {containers: [], nodeName: leaves}
---
apiVersion: v1
kind: Pod
metadata: {name: guarded, labels: {app: db}}
spec: {containers: [], nodeName: leaves}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: db}}}
",
        "
place default/moves
2 that leave with their node
",
    );
}

#[test]
fn namespaces_carry_their_names_as_labels_whether_given_or_not() {
    let asked = problem(
        "
{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {team: x}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: b}, spec: {containers: []}}
",
    );
    let asked = asked.expect("readable");
    let labels: Vec<_> = asked
        .problem
        .namespaces
        .iter()
        .map(|(name, labels)| format!("{name}: {}", printed::labels(labels)))
        .collect();
    let own = "kubernetes.io/metadata.name";
    assert_eq!(labels, [format!("a: {own}=a team=x"), format!("b: {own}=b")]);
}

#[test]
fn absurd_and_unreadable_objects_are_named_with_their_place() {
    check(
        "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a},
 spec: {replicas: -1, selector: {}, template: {}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: b},
 spec: {replicas: 2000000000, selector: {}, template: {}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: c}
spec:
  replicas: 0
  selector: {}
  template: {spec: {containers: [{name: a, resources: {requests: {cpu: 1x}}}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: ''}}}
",
        "
! 0 spec.replicas: -1 is less than none
! 1 spec.replicas: 2000000000 would make more than 1000000 pods in all
! 2 spec.template.spec.containers[0].resources.requests.cpu: quantity \"1x\" ends in \"x\", which
.. is not a suffix; expected one of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an
.. exponent such as e3
! 3 status.capacity.cpu: a quantity cannot be empty; write 0 for none
",
    );
}

/// Documents, and what is said of each while it is read.
const ODD: &[(&str, &str)] = &[
    ("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "0 passed over"),
    ("{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}}", "0 passed over"),
    ("{apiVersion: example.com/v1, kind: Pod, metadata: {name: a}}", "0 passed over"),
    ("{kind: Pod}", "0 apiVersion: every manifest needs \"apiVersion\""),
    ("{apiVersion: v1}", "0 kind: every manifest needs \"kind\""),
    ("[]", "0 apiVersion: every manifest needs \"apiVersion\""),
    ("{apiVersion: v1, kind: Pod}", "0 metadata.name: every object needs a name"),
    (
        "{apiVersion: v1, kind: Deployment, metadata: {name: a}}",
        "0 kind: there is no kind \"Deployment\" in v1; kinds that are read: Namespace, Node, \
         PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, \
         Service, DaemonSet, Deployment, ReplicaSet, StatefulSet, Job, PodDisruptionBudget, CSINode, StorageClass, \
         HorizontalPodAutoscaler, ScaledObject, Rollout",
    ),
    (
        "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}",
        "0 apiVersion: Deployment is not served in apps/v1beta1; write apps/v1",
    ),
    (
        "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}",
        "0 apiVersion: Deployment is not served in extensions/v1beta1; write apps/v1",
    ),
    (
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: 1}]}}",
        "0 spec.containers[0].name: invalid type: integer `1`, expected a string",
    ),
    (
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: many}}",
        "0 spec.replicas: invalid type: string \"many\", expected i32",
    ),
];

#[test]
fn kinds_that_matter_not_are_passed_over_and_wrong_ones_are_refused_with_advice() {
    for (document, expected) in ODD {
        assert_eq!(manifests(document).1, [*expected], "{document}");
    }
}

/// Every kind that is read, in its group.
const READ: &[(&str, &[&str])] = &[
    ("v1", &["Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod"]),
    ("v1", &["ReplicationController", "Service"]),
    ("apps/v1", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"]),
    ("batch/v1", &["Job"]),
    ("argoproj.io/v1alpha1", &["Rollout"]),
    ("autoscaling/v2", &["HorizontalPodAutoscaler"]),
    ("keda.sh/v1alpha1", &["ScaledObject"]),
    ("policy/v1", &["PodDisruptionBudget"]),
    ("storage.k8s.io/v1", &["CSINode", "StorageClass"]),
];

#[test]
fn every_kind_is_read_even_from_next_to_nothing() {
    for (api_version, kind) in
        READ.iter().flat_map(|(group, kinds)| kinds.iter().map(move |kind| (group, kind)))
    {
        let needed = match *kind {
            "CSINode" => ", spec: {drivers: []}",
            "HorizontalPodAutoscaler" | "ScaledObject" => ", spec: {scaleTargetRef: {name: a}}",
            "Rollout" => ", spec: {}",
            "Service" => ", spec: {selector: {a: b}}",
            "StorageClass" => ", provisioner: x",
            _ => "",
        };
        let manifest =
            format!("{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}{needed}}}");
        let (manifests, said) = manifests(&manifest);
        assert!(said.is_empty(), "{kind}: {said:?}");
        let Manifests { pods, workloads, others, autoscalers, .. } = &manifests;
        let count = pods.len() + workloads.len() + others.len() + autoscalers.len();
        assert_ne!(count, 0, "{kind} left no trace");
        let observed = manifests.observe(Settings::default(), Vec::new(), Time::default());
        drop(observed.expect(kind).problem());
    }
}
