//! Claims, volumes and classes in; where the pod's volumes can be reached, or why not, out.

mod printed;

use k8s_openapi::api::core::v1::PodSpec;
use kerf_kube::Storage;
use printed::yaml;

const CLASSES: &str = "
kind: StorageClass
metadata: {name: wait}
provisioner: kubernetes.io/aws-ebs
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
  - matchLabelExpressions: [{key: zone, values: [a, b]}, {key: rack, values: ['1']}]
  - matchLabelExpressions: [{key: zone, values: [c]}]
---
kind: StorageClass
metadata: {name: anywhere}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
kind: StorageClass
metadata: {name: now}
provisioner: ebs.csi.aws.com
";

const VOLUMES: &str = "
kind: PersistentVolume
metadata: {name: pv-csi}
spec:
  csi: {driver: ebs.csi.aws.com, volumeHandle: v}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: In, values: [a]}]
        - matchExpressions: [{key: zone, operator: NotIn, values: [b, c]}]
---
kind: PersistentVolume
metadata: {name: pv-old}
spec: {awsElasticBlockStore: {volumeID: v}}
---
kind: PersistentVolume
metadata: {name: pv-class}
spec: {storageClassName: wait, nfs: {path: /, server: s}}
---
kind: PersistentVolume
metadata: {name: pv-local}
spec:
  local: {path: /mnt}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions:
            - {key: kubernetes.io/hostname, operator: In, values: [n1]}
            - {key: zone, operator: In, values: [a]}
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]
---
kind: PersistentVolume
metadata: {name: pv-leaving, deletionTimestamp: '2026-01-01T00:00:00Z'}
spec: {}
---
kind: PersistentVolume
metadata: {name: pv-odd}
spec:
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Near}]}]}
";

fn storage(claims: &str, more_classes: &str) -> Storage {
    let mut storage = Storage::default();
    let documents = [CLASSES, VOLUMES, claims, more_classes];
    for document in documents.iter().flat_map(|text| text.split("\n---\n")) {
        let text = document.trim();
        match text.lines().next() {
            Some("kind: StorageClass") => storage.add_class(yaml(text)),
            Some("kind: PersistentVolume") => storage.add_volume(yaml(text)),
            Some(_) => storage.add_claim(yaml(text)),
            None => {}
        }
    }
    storage
}

fn resolved(storage: &Storage, spec: &str) -> String {
    let spec: PodSpec = yaml(spec);
    match storage.volumes_of("shop", "web-0", &spec) {
        Ok(volumes) => volumes.iter().map(printed::volume).collect::<Vec<_>>().join("\n"),
        Err(problem) => format!("! {problem}"),
    }
}

/// A claim's metadata, spec and status, and what becomes of a pod that uses it.
const CLAIMS: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "volumeName: pv-csi",
        "",
        "volume shop/data ebs.csi.aws.com (zone In a) or (zone NotIn b,c)",
    ),
    ("", "volumeName: pv-old", "", "volume shop/data ebs.csi.aws.com"),
    ("", "volumeName: pv-class", "", "volume shop/data ebs.csi.aws.com"),
    ("", "volumeName: pv-local", "", "volume shop/data - (zone In a) or ()"),
    ("", "volumeName: pv-gone", "", "! PersistentVolume pv-gone of claim shop/data does not exist"),
    (
        "",
        "volumeName: pv-leaving",
        "",
        "! PersistentVolume pv-leaving of claim shop/data is being deleted",
    ),
    (
        "",
        "volumeName: pv-odd",
        "",
        "! PersistentVolume pv-odd: spec.nodeAffinity.required.nodeSelectorTerms[0]\
         .matchExpressions[0].operator: \"Near\" is not one of In, NotIn, Exists, DoesNotExist, \
         Gt, Lt",
    ),
    (
        "unbound",
        "volumeName: pv-csi",
        "",
        "! PersistentVolumeClaim shop/data names a volume but is not bound to it yet",
    ),
    (
        "unbound",
        "storageClassName: wait",
        "",
        "volume shop/data ebs.csi.aws.com (zone In a,b & rack In 1) or (zone In c)",
    ),
    ("unbound", "storageClassName: anywhere", "", "volume shop/data ebs.csi.aws.com"),
    (
        "unbound",
        "storageClassName: now",
        "",
        "! PersistentVolumeClaim shop/data is unbound and StorageClass now binds immediately, so \
         its zone is not known yet; wait, or set volumeBindingMode: WaitForFirstConsumer",
    ),
    (
        "unbound",
        "storageClassName: gone",
        "",
        "! StorageClass gone of claim shop/data does not exist; create it",
    ),
    (
        "unbound",
        "storageClassName: ''",
        "",
        "! PersistentVolumeClaim shop/data is unbound and has no storage class; set \
         storageClassName or mark a StorageClass as the default",
    ),
    (
        "unbound",
        "accessModes: [ReadWriteOnce]",
        "",
        "! PersistentVolumeClaim shop/data is unbound and has no storage class; set \
         storageClassName or mark a StorageClass as the default",
    ),
    (
        "",
        "volumeName: pv-csi",
        "phase: Lost",
        "! PersistentVolumeClaim shop/data has lost its volume; restore or replace it",
    ),
    (
        "leaving",
        "volumeName: pv-csi",
        "",
        "! PersistentVolumeClaim shop/data is being deleted; use another",
    ),
];

const USES_DATA: &str =
    "{containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}";

#[test]
fn every_state_of_a_claim_leads_to_places_or_to_its_reason() {
    for (state, spec, status, expected) in CLAIMS {
        let metadata = match *state {
            "unbound" => "",
            "leaving" => ", deletionTimestamp: '2026-01-01T00:00:00Z'",
            _ => ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}",
        };
        let claim = format!(
            "metadata: {{name: data, namespace: shop{metadata}}}\nspec: {{{spec}}}\nstatus: \
             {{{status}}}"
        );
        assert_eq!(resolved(&storage(&claim, ""), USES_DATA), *expected, "{claim}");
    }
}

#[test]
fn a_claim_that_is_not_there_keeps_the_pod_from_being_placed_but_not_from_running() {
    let storage = storage("", "");
    let missing = "! PersistentVolumeClaim shop/data does not exist; create it";
    assert_eq!(resolved(&storage, USES_DATA), missing);
    assert!(storage.volumes_of_bound("shop", "web-0", &yaml(USES_DATA)).is_empty());
}

#[test]
fn a_claim_used_twice_is_attached_once() {
    let claim = "metadata: {name: data, namespace: shop}\nspec: {storageClassName: anywhere}";
    let spec = "
containers: []
volumes:
  - {name: a, persistentVolumeClaim: {claimName: data}}
  - {name: b, persistentVolumeClaim: {claimName: data, readOnly: true}}
  - {name: c, emptyDir: {}}
";
    assert_eq!(resolved(&storage(claim, ""), spec), "volume shop/data ebs.csi.aws.com");
}

#[test]
fn claims_of_ephemeral_volumes_are_foreseen_unless_they_exist() {
    let spec = "
containers: []
volumes:
  - name: scratch
    ephemeral: {volumeClaimTemplate: {spec: {storageClassName: wait}}}
";
    assert_eq!(
        resolved(&storage("", ""), spec),
        "volume shop/web-0-scratch ebs.csi.aws.com (zone In a,b & rack In 1) or (zone In c)"
    );
    let claim = "
metadata:
  name: web-0-scratch
  namespace: shop
  annotations: {pv.kubernetes.io/bind-completed: 'yes'}
spec: {volumeName: pv-old}";
    assert_eq!(resolved(&storage(claim, ""), spec), "volume shop/web-0-scratch ebs.csi.aws.com");
}

#[test]
fn a_claim_without_a_class_gets_the_newest_default_class() {
    let class = |name: &str, zone: &str, created: &str| {
        format!(
            "kind: StorageClass
metadata:
  name: {name}
  creationTimestamp: '{created}'
  annotations: {{storageclass.kubernetes.io/is-default-class: 'true'}}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{{matchLabelExpressions: [{{key: zone, values: [{zone}]}}]}}]"
        )
    };
    let old = class("old", "a", "2025-01-01T00:00:00Z");
    let new = class("new", "b", "2026-01-01T00:00:00Z");
    let claim = "metadata: {name: data, namespace: shop}\nspec: {}";
    let storage = storage(claim, &format!("{old}\n---\n{new}"));
    assert_eq!(resolved(&storage, USES_DATA), "volume shop/data ebs.csi.aws.com (zone In b)");
}
