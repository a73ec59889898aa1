//! A cluster in an AWS account, which all tests of this program use one after the other.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use kerf_testbed::{AwsStandIn, ControlPlane, Kubelets, Options, Part, QuickStart, User};
use kube::Client;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// The user that `deploy/rbac.yaml` speaks of.
pub(crate) const ACCOUNT: &str = "system:serviceaccount:karpenter:karpenter";
pub(crate) const CLUSTER: &str = "tidepool";
/// The rights of the controller, and of nobody else.
const FILES: [&str; 3] = ["deploy/crds", "deploy/rbac.yaml", "deploy/rbac-aws.yaml"];
/// From the launch of an instance to its node.
const BOOT: Duration = Duration::from_millis(300);
/// In the folder of the API server.
const AUDIT_LOG: &str = "audit.log";

/// A cluster in an account, somebody who plays its kubelets, and a client of it.
pub(crate) struct Home {
    pub(crate) kubelets: Kubelets,
    pub(crate) control_plane: ControlPlane,
    pub(crate) aws: AwsStandIn,
    pub(crate) made: QuickStart,
    runtime: Runtime,
    client: Client,
}

/// Only what the controller does is of interest.
fn audit_policy() -> String {
    let of_account = json!({"level": "Metadata", "users": [ACCOUNT]});
    let rules = json!([of_account, {"level": "None"}]);
    json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
        "rules": rules})
    .to_string()
}

fn options(policy: &str) -> Options {
    let user = User::new(ACCOUNT)
        .in_group("system:serviceaccounts")
        .in_group("system:serviceaccounts:karpenter");
    let mut options = Options::simulated_cluster()
        .user(user)
        .flag(Part::ApiServer, format!("--audit-policy-file={policy}"))
        .flag(Part::ApiServer, format!("--audit-log-path={AUDIT_LOG}"));
    // Their defaults of 20 and 50 calls a second would be what tests wait for.
    for flag in ["--kube-api-qps=2000", "--kube-api-burst=2000"] {
        options = options.flag(Part::ControllerManager, flag).flag(Part::Scheduler, flag);
    }
    options
}

impl Home {
    pub(crate) fn build() -> Self {
        let name = format!("kerf-audit-policy-{}.json", std::process::id());
        let policy = std::env::temp_dir().join(name);
        std::fs::write(&policy, audit_policy()).unwrap();
        let control_plane = ControlPlane::start(options(&policy.display().to_string())).unwrap();
        std::fs::remove_file(&policy).unwrap();
        control_plane.apply_files(&FILES).unwrap();
        let aws = AwsStandIn::start().unwrap();
        let made = aws.quick_start(CLUSTER);
        aws.set(&json!({"event_queue": made.queue}));
        let kubelets = Kubelets::start(&control_plane, &aws, BOOT).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(control_plane.client()).unwrap();
        Self { kubelets, control_plane, aws, made, runtime, client }
    }

    /// As after its building, for what tests say to the stand-in.
    pub(crate) fn reset(&self) {
        self.aws.deny(&[]);
        self.aws.control("POST delays", &json!({}));
        self.aws.set(&json!({"describe_lag_seconds": 0.0}));
        self.aws.control("DELETE capacity", &json!({}));
        self.aws.forget_calls();
    }

    /// All objects of a kind; of those with a namespace, in the default one.
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        let prefix = match kind {
            "nodes" => "/api/v1",
            "pods" | "events" => "/api/v1/namespaces/default",
            "nodeclaims" | "nodepools" => "/apis/karpenter.sh/v1",
            "ec2nodeclasses" => "/apis/karpenter.k8s.aws/v1",
            "provisioners" => "/apis/karpenter.sh/v1alpha5",
            "awsnodetemplates" => "/apis/karpenter.k8s.aws/v1alpha1",
            other => panic!("nobody said where {other} are"),
        };
        let request = http::Request::get(format!("{prefix}/{kind}")).body(Vec::new()).unwrap();
        let list: Value = self.runtime.block_on(self.client.request(request)).unwrap();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Every instance there ever was, with its state. The stand-in does not count this as a call.
    fn machines(&self) -> Vec<(String, String)> {
        let seen = self.aws.control("POST machines", &json!({"after": 0}));
        let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_owned();
        let machines = seen["machines"].as_array().unwrap().iter();
        machines.map(|one| (text(one, "id"), text(one, "state"))).collect()
    }

    /// How many instances there ever were.
    pub(crate) fn launched(&self) -> usize {
        self.machines().len()
    }

    /// The instances that have not ended.
    pub(crate) fn instances(&self) -> BTreeSet<String> {
        let live = self.machines().into_iter().filter(|(_, state)| state != "terminated");
        live.map(|(id, _)| id).collect()
    }

    /// What the API server wrote down of the controller's calls: `verb group/resource`, and whether
    /// it was allowed.
    pub(crate) fn audit(&self) -> Vec<(String, bool)> {
        let text = std::fs::read_to_string(self.audit_log()).unwrap_or_default();
        // The server may be in the middle of its last line.
        let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let calls = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        calls.map(|call| (name_of(&call), call["responseStatus"]["code"] != 403)).collect()
    }

    /// The claims that the controller has changed so far, by name: each that was ever launched. A
    /// creation that was under way when its process was killed may be stored, and is not logged as
    /// such.
    pub(crate) fn claims_changed(&self) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.audit_log()).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let of_claims = whole.lines().filter(|line| line.contains("\"resource\":\"nodeclaims\""));
        let calls = of_claims.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let changed = calls
            .filter(|call| call["verb"] == "patch" && call["responseStatus"]["code"] == json!(200));
        changed.filter_map(|call| call["objectRef"]["name"].as_str().map(str::to_owned)).collect()
    }

    fn audit_log(&self) -> PathBuf {
        self.control_plane.kubeconfig().with_file_name(AUDIT_LOG)
    }
}

/// A call of the audit log as `verb group/resource`.
fn name_of(call: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = &call["objectRef"];
    let (verb, group, mut resource) =
        (text(&call["verb"]), text(&object["apiGroup"]), text(&object["resource"]));
    if let Some(subresource) = object["subresource"].as_str() {
        resource = format!("{resource}/{subresource}");
    }
    format!("{verb} {group}/{resource}")
}
