//! Pods as the API has them, in; shapes, out.

mod printed;

use k8s_openapi::api::core::v1::Pod;
use kerf_kube::{Origin, pod_from_api};
use printed::{shape, yaml};

fn read(spec: &str) -> String {
    let pod: Pod = yaml(spec);
    match pod_from_api(&pod, Vec::new(), Origin::Manifest) {
        Ok(pod) => shape(&pod.shape),
        Err(problems) => {
            problems.iter().map(|problem| format!("! {problem}")).collect::<Vec<_>>().join("\n")
        }
    }
}

#[track_caller]
fn check(manifest: &str, expected: &str) {
    assert_eq!(read(manifest), printed::expectation(expected), "\n{manifest}");
}

#[test]
fn identity_comes_from_metadata() {
    let pod: Pod = yaml(
        "metadata: {name: a, namespace: web, uid: u-1, creationTimestamp: '2026-01-02T03:04:05Z'}",
    );
    let pod = pod_from_api(&pod, Vec::new(), Origin::Stored).expect("readable");
    assert_eq!((pod.name.as_str(), pod.uid.as_str()), ("a", "u-1"));
    assert_eq!((pod.created_at, pod.shape.namespace.as_str()), (1_767_323_045, "web"));
}

#[test]
fn a_pod_that_says_nothing_takes_a_slot_in_the_default_namespace() {
    check("{}", "default\nneeds pods=1");
}

#[test]
fn limits_become_requests_in_manifests_as_the_api_server_fills_them_in() {
    let manifest = "
spec:
  containers:
    - {name: a, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 500m}}}
    - {name: b, resources: {limits: {nvidia.com/gpu: 1}}}
";
    check(manifest, "default\nneeds cpu=500m memory=1Gi nvidia.com/gpu=1 pods=1");
    let pod: Pod = yaml(manifest);
    let stored = pod_from_api(&pod, Vec::new(), Origin::Stored).expect("readable");
    assert_eq!(printed::amounts(&stored.shape.requests), "cpu=500m pods=1");
}

#[test]
fn limits_of_the_whole_pod_are_requested_where_no_container_says_what_it_needs() {
    check(
        "
spec:
  resources: {limits: {cpu: 4, memory: 8Gi}}
  overhead: {memory: 64Mi}
  containers:
    - {name: a, resources: {requests: {cpu: 1}}}
",
        "default\nneeds cpu=1 memory=8256Mi pods=1",
    );
}

#[test]
fn node_selector_and_affinity_keep_their_terms_and_order() {
    check(
        "
spec:
  nodeSelector: {disk: ssd, arch: arm64}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: zone, operator: In, values: [a, b]}
              - {key: gen, operator: Gt, values: ['4']}
          - matchExpressions: [{key: spot, operator: DoesNotExist}]
            matchFields: [{key: metadata.name, operator: In, values: [n1]}]
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 10
          preference: {matchExpressions: [{key: x, operator: Exists}]}
        - weight: 90
          preference: {matchExpressions: [{key: 'y', operator: NotIn, values: [q]}]}
",
        "
default
needs pods=1
on arch=arm64 disk=ssd
must zone In a,b & gen Gt 4
must spot DoesNotExist
prefer 10 x Exists
prefer 90 y NotIn q
by field
",
    );
}

#[test]
fn tolerations_keep_every_field_that_decides() {
    check(
        "
spec:
  tolerations:
    - {operator: Exists}
    - {key: a, value: b, effect: NoSchedule}
    - {key: 'n', operator: Gt, value: '5', effect: NoExecute, tolerationSeconds: 30}
    - {key: m, operator: Lt, value: '5', effect: PreferNoSchedule}
",
        "
default
needs pods=1
tolerates \"\" Exists \"\" any
tolerates \"a\" Equal \"b\" NoSchedule
tolerates \"n\" Gt \"5\" NoExecute
tolerates \"m\" Lt \"5\" PreferNoSchedule
",
    );
}

#[test]
fn spreads_have_the_defaults_of_the_api_and_every_field() {
    check(
        "
metadata: {labels: {app: web, rev: '7'}}
spec:
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
    - maxSkew: 3
      topologyKey: host
      whenUnsatisfiable: ScheduleAnyway
      minDomains: 2
      matchLabelKeys: [rev]
      nodeAffinityPolicy: Ignore
      nodeTaintsPolicy: Honor
      labelSelector:
        matchLabels: {app: web}
        matchExpressions: [{key: tier, operator: In, values: [a, b]}]
",
        "
default app=web rev=7
needs pods=1
spread must zone skew 1 of none keys [] affinity true taints false
spread prefer host skew 3 domains>=2 of {app=web & tier In a,b} keys [rev] affinity false taints true
",
    );
}

#[test]
fn pod_affinity_keeps_namespaces_and_takes_over_the_pods_own_values() {
    check(
        "
metadata: {namespace: shop, labels: {app: web, rev: '7'}}
spec:
  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: zone
          labelSelector: {matchLabels: {app: db}}
          namespaces: [a, b]
          namespaceSelector: {}
          matchLabelKeys: [rev, missing]
          mismatchLabelKeys: [app]
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: host}
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 5
          podAffinityTerm:
            topologyKey: zone
            labelSelector: {matchExpressions: [{key: rev, operator: In, values: ['7']}]}
            namespaceSelector: {matchLabels: {team: x}}
            matchLabelKeys: [rev]
",
        "
shop app=web rev=7
needs pods=1
near must zone of {app=db & rev In 7 & app NotIn web} names [a,b] in {}
apart must host of none names []
apart prefer 5 zone of {rev In 7} names [] in {team=x}
",
    );
}

#[test]
fn host_ports_are_those_of_regular_containers() {
    check(
        "
spec:
  initContainers:
    - {name: i, restartPolicy: Always, ports: [{containerPort: 1, hostPort: 1}]}
  containers:
    - name: a
      ports:
        - {containerPort: 80}
        - {containerPort: 81, hostPort: 8081, protocol: UDP, hostIP: 10.0.0.1}
",
        "default\nneeds pods=1\nport 8081/UDP on 10.0.0.1",
    );
}

#[test]
fn a_pod_on_the_hosts_network_takes_its_ports_there() {
    check(
        "
spec:
  hostNetwork: true
  containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81}]}]
",
        "default\nneeds pods=1\nport 80/TCP on 0.0.0.0\nport 81/TCP on 0.0.0.0",
    );
}

#[test]
fn resource_claims_are_seen_at_the_pod_and_at_any_container() {
    for spec in [
        "{resourceClaims: [{name: gpu}], containers: []}",
        "{containers: [{name: a, resources: {claims: [{name: gpu}]}}]}",
        "{initContainers: [{name: a, resources: {claims: [{name: gpu}]}}], containers: []}",
    ] {
        check(&format!("spec: {spec}"), "default\nneeds pods=1\ndevices");
    }
    check("spec: {resourceClaims: [], containers: []}", "default\nneeds pods=1");
}

#[test]
fn what_cannot_be_understood_is_named_by_field_and_all_at_once() {
    check(
        "
spec:
  overhead: {cpu: -1}
  containers:
    - name: a
      resources: {requests: {cpu: lots, memory: '99999999999Ei'}}
      ports: [{containerPort: 80, hostPort: 70000}]
  tolerations: [{operator: Maybe}, {effect: NoWay}]
  topologySpreadConstraints:
    - {maxSkew: 0, topologyKey: z, whenUnsatisfiable: Never, minDomains: -1,
       nodeTaintsPolicy: honor}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gte, values: ['1']}]}]
",
        "
! spec.containers[0].resources.requests.cpu: quantity \"lots\" ends in \"lots\", which is not a
.. suffix; expected one of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent such
.. as e3
! spec.containers[0].resources.requests.memory: quantity \"99999999999Ei\" is too large to be kept
.. exactly
! spec.overhead.cpu: \"-1\" is less than nothing
! spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution
...nodeSelectorTerms[0].matchExpressions[0].operator:
.. \"Gte\" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt
! spec.tolerations[0].operator: \"Maybe\" is not one of Equal, Exists, Gt, Lt
! spec.tolerations[1].effect: unknown taint effect \"NoWay\"; the effects are NoSchedule,
.. PreferNoSchedule, NoExecute
! spec.topologySpreadConstraints[0].maxSkew: 0 is not a number from 1
! spec.topologySpreadConstraints[0].minDomains: -1 is not a number from 1
! spec.topologySpreadConstraints[0].whenUnsatisfiable: \"Never\" is neither DoNotSchedule nor
.. ScheduleAnyway
! spec.topologySpreadConstraints[0].nodeTaintsPolicy: \"honor\" is neither Honor nor Ignore
! spec.containers[0].ports[0]: hostPort 70000 is not between 1 and 65535
",
    );
}
