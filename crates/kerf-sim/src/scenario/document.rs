//! The shape of a scenario file.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) name: String,
    #[serde(default)]
    pub(super) about: String,
    pub(super) ends: String,
    #[serde(default)]
    pub(super) cloud: Cloud,
    pub(super) pools: Vec<Pool>,
    #[serde(default)]
    pub(super) workloads: Vec<Workload>,
    #[serde(default)]
    pub(super) timeline: Vec<Moment>,
    #[serde(default)]
    pub(super) expect: Vec<Expect>,
    pub(super) faults: Option<Faults>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Cloud {
    pub(super) catalogue: Option<String>,
    pub(super) families: Vec<String>,
    pub(super) zones: Vec<String>,
    pub(super) launch: Option<String>,
    pub(super) boot: Option<String>,
    pub(super) ready: Option<String>,
    pub(super) terminate: Option<String>,
    pub(super) lag: Option<String>,
    pub(super) stock: Vec<Stock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stock {
    #[serde(rename = "type")]
    pub(super) instance_type: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) capacity: Option<String>,
    pub(super) instances: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Pool {
    pub(super) name: String,
    #[serde(default)]
    pub(super) weight: u32,
    pub(super) replicas: Option<u64>,
    #[serde(default)]
    pub(super) requirements: Vec<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) taints: Vec<String>,
    #[serde(default)]
    pub(super) startup_taints: Vec<String>,
    #[serde(default)]
    pub(super) limits: BTreeMap<String, String>,
    pub(super) consolidate_after: Option<String>,
    pub(super) consolidation_policy: Option<String>,
    pub(super) expire_after: Option<String>,
    pub(super) termination_grace_period: Option<String>,
    pub(super) budgets: Option<Vec<Budget>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub(super) nodes: String,
    pub(super) reasons: Option<Vec<String>>,
    pub(super) schedule: Option<String>,
    pub(super) duration: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Workload {
    pub(super) deployment: Option<String>,
    pub(super) stateful_set: Option<String>,
    pub(super) daemon_set: Option<String>,
    pub(super) job: Option<String>,
    pub(super) namespace: Option<String>,
    #[serde(default)]
    pub(super) replicas: u32,
    #[serde(default)]
    pub(super) completions: u32,
    #[serde(default)]
    pub(super) requests: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) node_selector: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) nodes: Vec<String>,
    #[serde(default)]
    pub(super) tolerations: Vec<String>,
    #[serde(default)]
    pub(super) spread: Vec<String>,
    #[serde(default)]
    pub(super) apart: Vec<String>,
    #[serde(default)]
    pub(super) together: Vec<String>,
    #[serde(default)]
    pub(super) host_ports: Vec<u16>,
    #[serde(default)]
    pub(super) critical: bool,
    #[serde(default)]
    pub(super) priority: i32,
    pub(super) do_not_disrupt: Option<String>,
    pub(super) starts: Option<String>,
    pub(super) stops: Option<String>,
    pub(super) grace: Option<String>,
    pub(super) runs: Option<String>,
    pub(super) min_available: Option<String>,
    pub(super) max_unavailable: Option<String>,
    #[serde(default)]
    pub(super) volume: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Moment {
    pub(super) at: String,
    pub(super) scale: Option<String>,
    pub(super) to: Option<u32>,
    pub(super) over: Option<String>,
    pub(super) delete: Option<String>,
    pub(super) fault: Option<String>,
    pub(super) note: Option<String>,
    pub(super) leave_zone: Option<String>,
    pub(super) return_to_zone: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Expect {
    pub(super) at: String,
    #[serde(default)]
    pub(super) running: BTreeMap<String, String>,
    pub(super) pending: Option<String>,
    pub(super) nodes: Option<String>,
    pub(super) claims: Option<String>,
    pub(super) zones: Option<String>,
    pub(super) cents_per_hour: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Faults {
    pub(super) until: String,
    #[serde(default)]
    pub(super) calls: Calls,
    #[serde(default)]
    pub(super) every: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Calls {
    Word(String),
    Percent(BTreeMap<String, u8>),
}

impl Default for Calls {
    fn default() -> Self {
        Self::Percent(BTreeMap::new())
    }
}
