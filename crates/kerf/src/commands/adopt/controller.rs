//! The controller that runs: what it is, what it is set to, and what of that Kerf does not know.

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::commands::controller::Controller;
use crate::commands::doctor::{Facts, name, runs_kerf};

/// Where the lead is decided, unless a variable says otherwise.
const LEASE: &str = "karpenter-leader-election";

/// The controller that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Running {
    /// `namespace/name` of its Deployment.
    pub(super) deployment: String,
    pub(super) image: String,
    pub(super) is_kerf: bool,
    /// The Lease that its leader holds.
    pub(super) lease: String,
    pub(super) holder: String,
    /// Its variables that `kerf controller` does not know.
    pub(super) unknown_settings: Vec<String>,
    /// How many it knows.
    pub(super) known_settings: usize,
}

impl Running {
    /// The first controller there is.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let deployment = facts.controller()?;
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let lease = facts.setting("LEADER_ELECTION_NAME").unwrap_or(LEASE);
        let holder = facts.all("leases").iter().find(|it| it["metadata"]["name"] == lease);
        let holder = holder.and_then(|it| it["spec"]["holderIdentity"].as_str());
        let known = variables();
        let set = container["env"].as_array().into_iter().flatten();
        let set: Vec<&str> = set.filter_map(|one| one["name"].as_str()).collect();
        let is_known = |name: &&&str| known.iter().any(|it| it == **name) || is_runtimes(name);
        let known_settings = set.iter().filter(is_known).count();
        let unknown = set.iter().filter(|name| !is_known(name));
        Some(Self {
            deployment: name(deployment),
            image: text(&container["image"]),
            is_kerf: runs_kerf(deployment),
            lease: format!("{}/{lease}", facts.namespace),
            holder: holder.unwrap_or_default().to_owned(),
            unknown_settings: unknown.map(|name| (*name).to_owned()).collect(),
            known_settings,
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Variables that are read by the process around the controller, not by it.
fn is_runtimes(name: &str) -> bool {
    name.starts_with("AWS_")
        || ["GOMAXPROCS", "GOMEMLIMIT", "SYSTEM_NAMESPACE", "KUBERNETES_MIN_VERSION"]
            .contains(&name)
}

/// Every variable that `kerf controller` reads.
fn variables() -> Vec<String> {
    let command = Controller::augment_args(clap::Command::new("controller"));
    let named = command.get_arguments().filter_map(clap::Arg::get_env);
    named.map(|name| name.to_string_lossy().into_owned()).collect()
}
