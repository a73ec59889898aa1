//! The ConfigMap `karpenter-global-settings` that charts 0.19 to 0.31 had for what are flags and
//! variables now. Whoever still has one keeps what it says, unless a flag or a variable says it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::core::v1::ConfigMap;
use kerf_catalog::share::Share;
use kube::{Api, Client};
use tracing::{info, warn};

use super::aws_flags::default_tags;
use super::{Controller, value};

const NAME: &str = "karpenter-global-settings";

/// Keys that nothing takes the place of, and what to do about each.
const GONE: [(&str, &str); 5] = [
    ("aws.assumeRoleARN", "give the service account a role"),
    ("aws.assumeRoleDuration", "nothing"),
    ("aws.enablePodENI", "nothing: pod interfaces are always counted"),
    ("aws.enableENILimitedPodDensity", "set kubeletConfiguration.maxPods"),
    ("aws.nodeNameConvention", "nothing: the kubelet names nodes"),
];

/// What takes a setting in.
type Take = fn(&mut Controller, &str) -> Result<(), String>;

/// A key, the flag of today, its variable, and what takes it in.
const KEYS: [(&str, &str, &str, Take); 10] = [
    ("batchMaxDuration", "batch-max-duration", "BATCH_MAX_DURATION", |to, text| {
        value::duration(text).map(|it| to.batch_max_duration = it)
    }),
    ("batchIdleDuration", "batch-idle-duration", "BATCH_IDLE_DURATION", |to, text| {
        value::duration(text).map(|it| to.batch_idle_duration = it)
    }),
    ("aws.clusterEndpoint", "cluster-endpoint", "CLUSTER_ENDPOINT", |to, text| {
        super::aws_flags::endpoint(text).map(|it| to.aws.cluster_endpoint = it)
    }),
    ("aws.clusterCABundle", "cluster-ca-bundle", "CLUSTER_CA_BUNDLE", |to, text| {
        text.clone_into(&mut to.aws.cluster_ca_bundle);
        Ok(())
    }),
    ("aws.interruptionQueueName", "interruption-queue", "INTERRUPTION_QUEUE", |to, text| {
        text.clone_into(&mut to.interruption_queue);
        Ok(())
    }),
    ("aws.isolatedVPC", "isolated-vpc", "ISOLATED_VPC", |to, text| {
        value::switch(text).map(|it| to.aws.isolated_vpc = it)
    }),
    (
        "aws.vmMemoryOverheadPercent",
        "vm-memory-overhead-percent",
        "VM_MEMORY_OVERHEAD_PERCENT",
        |to, text| {
            let share = Share::parse_ratio(text).map_err(|error| error.to_string());
            share.map(|it| to.aws.vm_memory_overhead_percent = it)
        },
    ),
    ("aws.reservedENIs", "reserved-enis", "RESERVED_ENIS", |to, text| {
        let count = text.parse().map_err(|_| "allowed are whole numbers from 0".to_owned());
        count.map(|it| to.aws.reserved_enis = it)
    }),
    (
        "aws.defaultInstanceProfile",
        "default-instance-profile",
        "AWS_DEFAULT_INSTANCE_PROFILE",
        |to, text| {
            text.clone_into(&mut to.aws.default_instance_profile);
            Ok(())
        },
    ),
    ("aws.tags", "default-tags", "AWS_DEFAULT_TAGS", |to, text| {
        default_tags(text).map(|it| to.aws.default_tags = it)
    }),
];

impl Controller {
    /// With what the ConfigMap of a namespace says, where there is one and it may be read.
    pub(super) async fn with_global_settings(
        mut self,
        client: &Client,
        namespace: &str,
    ) -> Result<Self> {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let map = match api.get_opt(NAME).await {
            Ok(map) => map,
            Err(kube::Error::Api(status)) if status.code == 403 => None,
            Err(error) => return Err(error).with_context(|| format!("reading ConfigMap {NAME}")),
        };
        let Some(map) = map else { return Ok(self) };
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let is_given = |flag: &str, variable: &str| {
            let is_set = std::env::var_os(variable).is_some_and(|text| !text.is_empty());
            is_set || arguments.iter().any(|word| is_flag(&word.to_string_lossy(), flag))
        };
        let taken = self.take_global_settings(&map.data.unwrap_or_default(), is_given);
        let taken = taken.with_context(|| format!("ConfigMap {namespace}/{NAME}"))?;
        info!(settings = taken.join(","), "settings come from ConfigMap {NAME}");
        Ok(self)
    }

    /// Takes in what no flag or variable says; the keys that count.
    fn take_global_settings(
        &mut self,
        data: &BTreeMap<String, String>,
        is_given: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<&'static str>> {
        let mut taken = Vec::new();
        for (key, flag, variable, take) in KEYS {
            let Some(text) = data.get(key).filter(|text| !text.is_empty()) else { continue };
            if !is_given(flag, variable) {
                take(self, text).map_err(|why| anyhow!("{key}: {text:?}: {why}"))?;
                taken.push(key);
            }
        }
        for (key, advice) in GONE {
            if data.get(key).is_some_and(|text| !text.is_empty()) {
                warn!(key, "a key of ConfigMap {NAME} has no effect; to do: {advice}");
            }
        }
        Ok(taken)
    }
}

/// Whether a word of the command line is this flag, with one dash or two.
fn is_flag(word: &str, flag: &str) -> bool {
    let name = word.trim_start_matches('-');
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    word.starts_with('-') && name == flag
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        controller: Controller,
    }

    fn controller() -> Controller {
        Cli::try_parse_from(["kerf"]).unwrap().controller
    }

    fn data(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_no_flag_says_comes_from_the_map() {
        let mut controller = controller();
        let map = data(&[
            ("aws.interruptionQueueName", "q"),
            ("aws.reservedENIs", "2"),
            ("aws.vmMemoryOverheadPercent", "0.1"),
            ("aws.tags", r#"{"team": "a"}"#),
            ("aws.clusterEndpoint", ""),
            ("aws.enablePodENI", "true"),
        ]);
        let taken = controller.take_global_settings(&map, |flag, _| flag == "reserved-enis");
        assert_eq!(
            taken.unwrap(),
            ["aws.interruptionQueueName", "aws.vmMemoryOverheadPercent", "aws.tags"]
        );
        assert_eq!(controller.interruption_queue, "q");
        assert_eq!(controller.aws.reserved_enis, 0, "a flag said it");
        assert_eq!(controller.aws.default_tags["team"], "a");
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_its_key() {
        for (key, text) in [
            ("batchMaxDuration", "soon"),
            ("aws.isolatedVPC", "perhaps"),
            ("aws.reservedENIs", "-1"),
            ("aws.tags", "team=a"),
        ] {
            let taken = controller().take_global_settings(&data(&[(key, text)]), |_, _| false);
            assert!(taken.unwrap_err().to_string().starts_with(key), "{key}");
        }
    }

    #[test]
    fn flags_are_known_with_one_dash_and_with_a_value() {
        for word in ["--cluster-name", "-cluster-name", "--cluster-name=a", "-cluster-name=a"] {
            assert!(is_flag(word, "cluster-name"), "{word}");
        }
        assert!(!is_flag("cluster-name", "cluster-name"));
        assert!(!is_flag("--cluster-name-2=a", "cluster-name"));
    }
}
