//! The calls of NodePool mode of zonal shifts, by the parts of Kerf that make them.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kerf_engine::action::{ActionKind, CordonChange, NodePatch, PoolEdit};
use kerf_engine::event::{Object, Outcome};
use kerf_engine::observed::NamespacedName;
use kerf_engine::zonal_shift::{
    ArcReading, CopyStep, ShiftNetwork, ShiftSettings, ShiftStateWrite, StoreCause,
};
use kerf_engine::{Role, Settings};
use kerf_kube::{
    Controller, Executor, NoProvider, Pending, ServedKinds, ShiftAccount, ZonalShifts, no_notices,
};
use kube::ResourceExt;
use kube::api::{Api, ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::account::Account;
use crate::calls;

/// The Lease of who acts on zonal shifts, and the ConfigMap with the state.
const LEASE: &str = "karpenter-sqs-subscriber-leader";
const STATE: &str = "kerf-zonal-shift";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Makes calls as an account.
pub(crate) struct Calls<'a>(calls::Calls<'a>);

impl<'a> Calls<'a> {
    /// The calls of this account, in a cluster with a pool of each kind, and a node.
    pub(crate) fn of(account: &'a Account) -> Self {
        let kwok = calls::Calls::of(account);
        let objects = [auto_mode_definition(), provisioner()];
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        account.control_plane.apply(&list.to_string()).unwrap();
        account.control_plane.wait_definitions().unwrap();
        Self(kwok)
    }

    fn account(&self) -> &Account {
        self.0.account
    }

    /// Watches everything, until all of it has been listed.
    pub(crate) fn watch(&self, role: Role) {
        let settings = Settings { role, zonal_shift: Some(self.settings()), ..Settings::default() };
        let served = ServedKinds {
            pools: vec![
                kind("karpenter.sh/v1/NodePool"),
                kind("karpenter.sh/v1alpha5/Provisioner"),
            ],
            node_classes: vec![
                kind("karpenter.k8s.aws/v1/EC2NodeClass"),
                kind("karpenter.k8s.aws/v1alpha1/AWSNodeTemplate"),
                kind("eks.amazonaws.com/v1/NodeClass"),
            ],
            is_auto_mode: true,
        };
        let (_served, served) = watch::channel(Some(served));
        let (_lead, leading) = watch::channel(false);
        let shifts = ZonalShifts { account: Arc::new(Silent), served, leading };
        self.0.run(Controller {
            zonal_shifts: Some(shifts),
            ..calls::controller(self.account(), NoProvider, settings, no_notices())
        });
    }

    /// Takes the Lease and gives it back, and records an Event.
    pub(crate) fn lead(&self) {
        self.0.hold(LEASE);
        self.0.record();
    }

    /// Carries out every action that writes to the API server.
    pub(crate) fn write(&self) {
        let executor = self.0.executor(NoProvider);
        self.write_state(&executor);
        for (version, kind) in
            [("karpenter.sh/v1", "NodePool"), ("karpenter.sh/v1alpha5", "Provisioner")]
        {
            self.0.done(&executor, &ActionKind::EditPool(Box::new(edit(version, kind))));
        }
        self.write_copy(&executor);
        self.protect_node(&executor);
    }

    /// Makes the ConfigMap, changes it, and reads it as `kerf zonal-shift` does inside the pod.
    fn write_state(&self, executor: &Executor<NoProvider>) {
        let mut write = ShiftStateWrite {
            name: self.settings().config_map(),
            revision: None,
            state: Default::default(),
            zones: Default::default(),
            damaged: None,
            cause: StoreCause::Messages(Vec::new()),
        };
        let stored = self.0.done(executor, &ActionKind::WriteShiftState(Box::new(write.clone())));
        let Outcome::Stored(object) = stored else { panic!("{stored:?}") };
        write.revision = Some(object.meta().revision);
        self.0.done(executor, &ActionKind::WriteShiftState(Box::new(write.clone())));
        let NamespacedName { namespace, name } = write.name;
        assert_eq!(&*name, STATE);
        let api = Api::<ConfigMap>::namespaced(self.account().client(), &namespace);
        self.account().runtime.block_on(api.get(STATE)).unwrap();
    }

    /// Makes a stand-in, replaces and deletes it.
    fn write_copy(&self, executor: &Executor<NoProvider>) {
        let copy = |edit: Value, uid: Option<Arc<str>>| {
            let edit = serde_json::from_value(edit).unwrap();
            ActionKind::EditPoolCopy(Box::new(CopyStep { edit, uid }))
        };
        let create = copy(json!({ "verb": "create", "object": pool("copy") }), None);
        let stored = self.0.done(executor, &create);
        let Outcome::Stored(object) = stored else { panic!("{stored:?}") };
        let Object::PoolManifest(stored) = *object else { panic!("{object:?}") };
        let replace =
            json!({ "verb": "replace", "object": &*stored.object, "action": "update-copy" });
        self.0.done(executor, &copy(replace, None));
        let key = json!({ "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "copy" });
        let delete = json!({ "verb": "delete", "pool": key });
        self.0.done(executor, &copy(delete, Some(stored.meta.uid.clone())));
    }

    /// A node of its own: the controller's calls have deleted the other.
    fn protect_node(&self, executor: &Executor<NoProvider>) {
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "zonal" } });
        self.account().control_plane.apply(&node.to_string()).unwrap();
        let nodes = Api::<Node>::all(self.0.admin());
        let uid = self.account().runtime.block_on(nodes.get("zonal")).unwrap().uid().unwrap();
        let patch = NodePatch { cordon: CordonChange::Cordon, ..NodePatch::default() };
        let patch = ActionKind::PatchNode { name: "zonal".into(), uid: uid.into(), patch };
        self.0.done(executor, &patch);
    }

    fn settings(&self) -> ShiftSettings {
        ShiftSettings {
            cluster_name: "demo".to_owned(),
            region: "us-east-1".to_owned(),
            namespace: self.account().who.namespace.to_owned(),
            matching: Default::default(),
            max_age_seconds: None,
            do_not_disrupt: false,
            taint_away_nodes: true,
            auto_mode_revert: Default::default(),
        }
    }
}

/// An account that knows nothing.
struct Silent;

impl ShiftAccount for Silent {
    fn describe_network(&self) -> Pending<'_, ShiftNetwork> {
        Box::pin(async { ShiftNetwork::default() })
    }

    fn list_shifts<'a>(&'a self, _: Option<&'a str>) -> Pending<'a, ArcReading> {
        Box::pin(async { ArcReading::default() })
    }
}

/// `group/version/Kind`.
fn kind(name: &str) -> ApiResource {
    let [group, version, kind] = name.split('/').collect::<Vec<_>>()[..] else { panic!("{name}") };
    let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    if kind == "AWSNodeTemplate" {
        resource.plural = "awsnodetemplates".to_owned();
    }
    resource
}

fn edit(api_version: &str, kind: &str) -> PoolEdit {
    let edit = json!({
        "pool": { "apiVersion": api_version, "kind": kind, "name": "pool" },
        "resourceVersion": null, "action": "restrict", "awayBefore": [], "away": ["zone-a"],
        "requirements": [{ "key": ZONE, "operator": "In", "values": ["zone-b"] }],
        "annotations": { "zonal-autoshift.eks.amazonaws.com/away-zones": "zone-a" },
    });
    serde_json::from_value(edit).unwrap()
}

fn pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": name },
        "spec": { "template": { "spec": {
            "nodeClassRef": { "group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default" },
            "requirements": [{ "key": ZONE, "operator": "In", "values": ["zone-b"] }],
        }}},
    })
}

fn provisioner() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1alpha5", "kind": "Provisioner",
        "metadata": { "name": "pool" }, "spec": { "providerRef": { "name": "default" } },
    })
}

/// A stand-in for the definition that means Auto Mode.
fn auto_mode_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": "nodeclasses.eks.amazonaws.com" },
        "spec": {
            "group": "eks.amazonaws.com",
            "names": { "kind": "NodeClass", "plural": "nodeclasses", "singular": "nodeclass" },
            "scope": "Cluster",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}
