//! Each role file of `deploy/` with the cloud it is for: every call of the controller is allowed,
//! nothing else is, and no right is granted that no call needs.
//!
//! The controller's own watches, executor and Lease make the calls, as the service account that the
//! files bind; the API server's audit log tells which they were.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod account;
mod calls;
mod handler;
mod objects;
mod zonal_autoshift;

use account::{Account, CONTROLLER, Right, ZONAL_AUTOSHIFT};
use calls::Calls;
use kerf_engine::Role;
use kerf_kube::NoProvider;

/// Calls no part of Kerf makes: what a stolen token must not be good for.
const FORBIDDEN: [Right; 17] = [
    Right::new("get", "", "secrets"),
    Right::new("list", "", "secrets"),
    Right::new("create", "", "secrets"),
    Right::new("list", "", "configmaps"),
    Right::new("create", "", "pods"),
    Right::new("patch", "", "pods"),
    Right::new("create", "", "pods/exec"),
    Right::new("get", "", "pods/log"),
    Right::new("create", "", "serviceaccounts/token"),
    Right::new("get", "", "nodes/proxy"),
    Right::new("delete", "", "namespaces"),
    Right::new("create", "karpenter.sh", "nodepools"),
    Right::new("delete", "karpenter.sh", "nodepools"),
    Right::new("patch", "apiextensions.k8s.io", "customresourcedefinitions"),
    Right::new("create", "rbac.authorization.k8s.io", "clusterrolebindings"),
    Right::new("delete", "policy", "poddisruptionbudgets"),
    Right::new("delete", "coordination.k8s.io", "leases"),
];

#[test]
fn the_controller_needs_rbac_yaml_and_no_more() {
    let account = Account::with(&["deploy/rbac.yaml"], ["list", "nodes"]);
    let calls = Calls::of(&account);
    calls.watch(NoProvider, false);
    calls.lead();
    calls.write(NoProvider);
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN);
    // What the kwok cloud may do is not the controller's to do elsewhere.
    account.assert_forbidden(&[
        Right::new("create", "", "nodes"),
        Right::new("patch", "", "nodes/status"),
        Right::new("list", "karpenter.kwok.sh", "kwoknodeclasses"),
        Right::new("list", "", "services"),
    ]);
}

#[test]
fn the_kwok_cloud_needs_rbac_kwok_yaml_beside_it() {
    let files = ["deploy/rbac.yaml", "deploy/rbac-kwok.yaml"];
    let account = Account::with(&files, ["create", "nodes"]);
    let calls = Calls::of(&account);
    let kwok = || kerf_kwok::Kwok::new(account.client(), kerf_catalog::kwok());
    calls.watch(kwok(), false);
    calls.lead();
    calls.write(kwok());
    calls.launch(kwok());
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN);
}

#[test]
fn default_spreads_need_rbac_scheduler_config_yaml_beside_it() {
    let files = ["deploy/rbac.yaml", "deploy/rbac-scheduler-config.yaml"];
    let account = Account::with(&files, ["list", "services"]);
    let calls = Calls::of(&account);
    calls.watch(NoProvider, true);
    calls.lead();
    calls.write(NoProvider);
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN);
}

/// What neither the daemon nor the controller may do for the sake of zonal shifts.
const FORBIDDEN_TO_SHIFTS: [Right; 7] = [
    Right::new("get", "", "secrets"),
    Right::new("list", "", "configmaps"),
    Right::new("patch", "", "configmaps"),
    Right::new("delete", "karpenter.sh", "provisioners"),
    Right::new("patch", "karpenter.k8s.aws", "ec2nodeclasses"),
    Right::new("patch", "eks.amazonaws.com", "nodeclasses"),
    Right::new("delete", "coordination.k8s.io", "leases"),
];

#[test]
fn the_daemon_of_zonal_shifts_needs_zonal_autoshift_yaml_and_no_more() {
    let files = ["deploy/zonal-autoshift.yaml"];
    let account = Account::of(ZONAL_AUTOSHIFT, &files, ["create", "events"]);
    let calls = zonal_autoshift::Calls::of(&account);
    calls.watch(Role::ZonalAutoshift);
    calls.lead();
    calls.write();
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN_TO_SHIFTS);
    account.assert_forbidden(&[
        Right::new("list", "", "pods"),
        Right::new("delete", "", "nodes"),
        Right::new("list", "karpenter.sh", "nodeclaims"),
        Right::new("patch", "karpenter.sh", "nodepools/status"),
    ]);
}

#[test]
fn zonal_shifts_in_the_controller_need_rbac_zonal_autoshift_yaml_beside_it() {
    let files = ["deploy/rbac.yaml", "deploy/rbac-zonal-autoshift.yaml"];
    let account = Account::of(CONTROLLER, &files, ["create", "nodepools"]);
    let calls = Calls::of(&account);
    calls.watch(NoProvider, false);
    calls.lead();
    calls.write(NoProvider);
    let calls = zonal_autoshift::Calls::of(&account);
    calls.watch(Role::Controller);
    calls.lead();
    calls.write();
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN_TO_SHIFTS);
    account.assert_forbidden(&[Right::new("create", "", "nodes")]);
}

#[test]
fn a_call_that_no_file_allows_is_found() {
    let account = Account::with(&["deploy/rbac.yaml"], ["list", "nodes"]);
    let calls = Calls::of(&account);
    let kwok = kerf_kwok::Kwok::new(account.client(), kerf_catalog::kwok());
    calls.launch(kwok);
    let refused = account.refused();
    assert!(refused.contains(&"create /nodes".to_owned()), "{refused:?}");
}

#[test]
fn a_termination_handler_drains_without_crds_and_with_few_rights() {
    let account = Account::without_crds(handler::ROLE, ["patch", "nodes"]);
    handler::drain(&account);
    account.assert_rights_are_those_used();
    account.assert_forbidden(&FORBIDDEN);
    account.assert_forbidden(&[
        Right::new("delete", "", "nodes"),
        Right::new("list", "karpenter.sh", "nodepools"),
        Right::new("patch", "", "nodes/status"),
        Right::new("list", "", "persistentvolumes"),
    ]);
}
