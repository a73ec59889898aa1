//! The service account of the role files on an API server of its own, and what it did there.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
    SelfSubjectRulesReview, SelfSubjectRulesReviewSpec,
};
use kerf_kube::connect;
use kerf_testbed::{ControlPlane, Options, Part, User, wait_until};
use kube::api::{Api, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The service account that role files bind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServiceAccount {
    pub(crate) namespace: &'static str,
    name: &'static str,
}

/// The controller's.
pub(crate) const CONTROLLER: ServiceAccount =
    ServiceAccount { namespace: "karpenter", name: "karpenter" };
/// That of `kerf zonal-autoshift`.
pub(crate) const ZONAL_AUTOSHIFT: ServiceAccount =
    ServiceAccount { namespace: "default", name: "karpenter-sqs-subscriber" };

/// Seconds in practice; the machine may be compiling at the same time.
pub(crate) const SOON: Duration = Duration::from_secs(120);

const AUDIT_LOG: &str = "audit.log";

/// Only what the account does is of interest.
fn audit_policy(user: &str) -> String {
    format!(
        "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {{level: Metadata, users: ['{user}']}}
- {{level: None}}
"
    )
}

/// A call, or the right to make it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Right {
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
}

/// The account, on an API server of its own.
pub(crate) struct Account {
    pub(crate) who: ServiceAccount,
    pub(crate) control_plane: ControlPlane,
    pub(crate) runtime: Runtime,
    client: Client,
    /// Of this account alone: tests with the same role files run side by side.
    folder: TempDir,
}

impl Right {
    pub(crate) const fn new(
        verb: &'static str,
        group: &'static str,
        resource: &'static str,
    ) -> Self {
        Self { verb, group, resource }
    }
}

impl ServiceAccount {
    fn user(self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.name)
    }
}

impl Account {
    /// The account with the rights of these files alone, in a cluster with Kerf's CRDs. `last` is
    /// something it may do by the last of them: verb and resource.
    pub(crate) fn with(files: &[&str], last: [&str; 2]) -> Self {
        Self::of(CONTROLLER, files, last)
    }

    /// The same of another service account.
    pub(crate) fn of(who: ServiceAccount, files: &[&str], last: [&str; 2]) -> Self {
        Self::start(who, last, |control_plane| {
            control_plane.apply_files(&["deploy/crds"]).unwrap();
            control_plane.wait_definitions().unwrap();
            control_plane.apply_files(files).unwrap();
        })
    }

    /// The account with the rights of this manifest alone, in a cluster without CRDs.
    pub(crate) fn without_crds(manifest: &str, last: [&str; 2]) -> Self {
        Self::start(CONTROLLER, last, |control_plane| {
            control_plane.apply(manifest).unwrap();
        })
    }

    fn start(who: ServiceAccount, last: [&str; 2], prepare: impl FnOnce(&ControlPlane)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (policy, log) = (folder.path().join("policy.yaml"), folder.path().join(AUDIT_LOG));
        let account = who.user();
        std::fs::write(&policy, audit_policy(&account)).unwrap();
        let user = User::new(&account)
            .in_group("system:serviceaccounts")
            .in_group(format!("system:serviceaccounts:{}", who.namespace))
            .in_group("system:authenticated");
        let options = Options::api_server()
            .user(user)
            .flag(Part::ApiServer, format!("--audit-policy-file={}", policy.display()))
            .flag(Part::ApiServer, format!("--audit-log-path={}", log.display()));
        let control_plane = ControlPlane::start(options).unwrap();
        prepare(&control_plane);
        // The server learns of new roles through a watch of its own, one after the other.
        let as_account = format!("--as={account}");
        let is_granted = || {
            let may = |[verb, resource]: [&str; 2]| {
                control_plane.kubectl(&["auth", "can-i", verb, resource, &as_account]).is_ok()
            };
            may(["list", "nodes"]) && may(last)
        };
        assert!(wait_until(SOON, is_granted), "the role was not taken up");
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let client = runtime.block_on(client(&control_plane, &account));
        Self { who, control_plane, runtime, client, folder }
    }

    /// A client with the account's rights.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// The calls that were made and refused.
    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.audit().into_iter().filter(|call| call["responseStatus"]["code"] == 403);
        refused.map(|call| name_of(&call)).collect()
    }

    /// Every call was allowed, and everything that is allowed was called.
    pub(crate) fn assert_rights_are_those_used(&self) {
        // Events are recorded in the background.
        wait_until(SOON, || self.unused().is_empty());
        assert_eq!(self.refused(), Vec::<String>::new(), "calls that no role file allows");
        assert_eq!(self.unused(), Vec::<String>::new(), "rights that no call needs");
    }

    fn unused(&self) -> Vec<String> {
        let mut used: BTreeSet<String> = self.audit().iter().map(name_of).collect();
        // Servers that do not know streaming lists are asked for lists before they are watched.
        let lists: Vec<_> = used.iter().filter_map(|call| call.strip_prefix("watch ")).collect();
        let lists: Vec<_> = lists.into_iter().map(|resource| format!("list {resource}")).collect();
        used.extend(lists);
        self.granted().into_iter().filter(|right| !used.contains(right)).collect()
    }

    /// None of these is allowed, in any namespace or in the account's own.
    pub(crate) fn assert_forbidden(&self, rights: &[Right]) {
        for right in rights {
            for namespace in ["", "default", self.who.namespace] {
                assert!(!self.may(*right, namespace), "{right:?} is allowed in {namespace:?}");
            }
        }
    }

    fn may(&self, right: Right, namespace: &str) -> bool {
        let (resource, subresource) = right.resource.split_once('/').unzip();
        let resource = resource.unwrap_or(right.resource);
        let attributes = ResourceAttributes {
            verb: Some(right.verb.to_owned()),
            group: Some(right.group.to_owned()),
            resource: Some(resource.to_owned()),
            subresource: subresource.map(ToOwned::to_owned),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(attributes),
            ..SelfSubjectAccessReviewSpec::default()
        };
        let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        let api = Api::<SelfSubjectAccessReview>::all(self.client());
        let answer = self.runtime.block_on(api.create(&PostParams::default(), &review)).unwrap();
        answer.status.unwrap().allowed
    }

    /// Everything the account may do, as `verb group/resource`, without what everybody may.
    fn granted(&self) -> Vec<String> {
        let spec = SelfSubjectRulesReviewSpec { namespace: Some(self.who.namespace.to_owned()) };
        let review = SelfSubjectRulesReview { spec, ..SelfSubjectRulesReview::default() };
        let api = Api::<SelfSubjectRulesReview>::all(self.client());
        let answer = self.runtime.block_on(api.create(&PostParams::default(), &review)).unwrap();
        let rules = answer.status.unwrap().resource_rules;
        let of_rule = |rule: &k8s_openapi::api::authorization::v1::ResourceRule| {
            let (groups, resources) = (rule.api_groups.clone(), rule.resources.clone());
            let mut rights = Vec::new();
            for verb in &rule.verbs {
                for group in groups.iter().flatten() {
                    for resource in resources.iter().flatten() {
                        rights.push(format!("{verb} {group}/{resource}"));
                    }
                }
            }
            rights
        };
        let everybody = |right: &String| right.contains(" authorization.k8s.io/self");
        let everybody = |right: &String| everybody(right) || right.contains("selfsubjectreviews");
        rules.iter().flat_map(of_rule).filter(|right| !everybody(right)).collect()
    }

    fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join(AUDIT_LOG)).unwrap();
        // The server may be in the middle of its last line.
        let whole = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

async fn client(control_plane: &ControlPlane, user: &str) -> Client {
    let file = Kubeconfig::read_from(control_plane.kubeconfig_of(user).unwrap()).unwrap();
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    connect(config.unwrap()).unwrap()
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
