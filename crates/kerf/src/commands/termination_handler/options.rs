//! The options, as a table: flags, variables and defaults of AWS Node Termination Handler, and what
//! Kerf adds. A flag counts more than a variable, a variable more than the default; a variable that
//! is set to nothing counts as unset.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Text,
    Switch,
    Integer,
    /// Text that the log does not show: it may hold secrets.
    Hidden,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionSpec {
    pub(super) flag: &'static str,
    pub(super) env: &'static str,
    pub(super) default: &'static str,
    pub(super) values: Values,
    help: &'static str,
}

const fn option(
    flag: &'static str,
    env: &'static str,
    default: &'static str,
    values: Values,
    help: &'static str,
) -> OptionSpec {
    OptionSpec { flag, env, default, values, help }
}

/// Every option there is.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = {
    use Values::{Hidden, Integer, Switch, Text};
    &[
        option("node-name", "NODE_NAME", "", Text, "The node the process runs on"),
        option("pod-name", "POD_NAME", "", Text, "The pod the process runs in, which is never evicted"),
        option("pod-namespace", "NAMESPACE", "", Text, "The namespace of that pod and of the Lease"),
        option("dry-run", "DRY_RUN", "false", Switch, "Log what would be done, and do nothing"),
        option("enable-sqs-termination-draining", "ENABLE_SQS_TERMINATION_DRAINING", "false", Switch, "Read events from a queue instead of the instance's metadata"),
        option("enable-spot-interruption-draining", "ENABLE_SPOT_INTERRUPTION_DRAINING", "true", Switch, "Drain the node before its spot instance is taken (metadata)"),
        option("enable-asg-lifecycle-draining", "ENABLE_ASG_LIFECYCLE_DRAINING", "false", Switch, "Drain the node before its Auto Scaling group ends the instance (metadata)"),
        option("enable-scheduled-event-draining", "ENABLE_SCHEDULED_EVENT_DRAINING", "true", Switch, "Drain the node before maintenance, and open it afterwards (metadata)"),
        option("enable-rebalance-monitoring", "ENABLE_REBALANCE_MONITORING", "false", Switch, "Cordon the node when a rebalance is recommended (metadata)"),
        option("enable-rebalance-draining", "ENABLE_REBALANCE_DRAINING", "false", Switch, "Drain the node when a rebalance is recommended (metadata)"),
        option("queue-url", "QUEUE_URL", "", Text, "The URL of the queue"),
        option("aws-region", "AWS_REGION", "", Text, "The region of the queue and the instances; by default that of the queue's host"),
        option("aws-endpoint", "AWS_ENDPOINT", "", Text, "Another address for all calls to AWS, for tests"),
        option("sqs-msg-visibility-timeout-sec", "SQS_MSG_VISIBILITY_TIMEOUT_SEC", "20", Integer, "How long a received message is hidden from other readers, 1 to 119; extended while a drain lasts"),
        option("workers", "WORKERS", "10", Integer, "Accepted for compatibility: no event waits for others"),
        option("check-tag-before-draining", "CHECK_TAG_BEFORE_DRAINING", "true", Switch, "Act only on instances with the managed tag"),
        option("managed-tag", "MANAGED_TAG", "aws-node-termination-handler/managed", Text, "The key of that tag"),
        option("check-asg-tag-before-draining", "CHECK_ASG_TAG_BEFORE_DRAINING", "true", Switch, "The former name of --check-tag-before-draining"),
        option("managed-asg-tag", "MANAGED_ASG_TAG", "aws-node-termination-handler/managed", Text, "The former name of --managed-tag"),
        option("assume-asg-tag-propagation", "ASSUME_ASG_TAG_PROPAGATION", "false", Switch, "Accepted for compatibility: tags are read from instances"),
        option("use-provider-id", "USE_PROVIDER_ID", "false", Switch, "Find nodes by their provider ids alone"),
        option("delete-sqs-msg-if-node-not-found", "DELETE_SQS_MSG_IF_NODE_NOT_FOUND", "false", Switch, "Finish events whose node is not there"),
        option("complete-lifecycle-action-delay-seconds", "COMPLETE_LIFECYCLE_ACTION_DELAY_SECONDS", "-1", Integer, "How long to wait after a drain before a lifecycle hook is completed"),
        option("heartbeat-interval", "HEARTBEAT_INTERVAL", "-1", Integer, "How often lifecycle hooks are kept waiting during a drain, 30 to 3600 seconds"),
        option("heartbeat-until", "HEARTBEAT_UNTIL", "-1", Integer, "For how long, 60 to 172800 seconds"),
        option("cordon-only", "CORDON_ONLY", "false", Switch, "Close nodes and let their pods run"),
        option("taint-node", "TAINT_NODE", "false", Switch, "Taint nodes with what happens to them"),
        option("taint-effect", "TAINT_EFFECT", "NoSchedule", Text, "The effect of that taint: NoSchedule, PreferNoSchedule or NoExecute"),
        option("enable-out-of-service-taint", "ENABLE_OUT_OF_SERVICE_TAINT", "false", Switch, "Mark drained nodes as out of service, so that volumes are detached at once"),
        option("exclude-from-load-balancers", "EXCLUDE_FROM_LOAD_BALANCERS", "false", Switch, "Label nodes so that load balancers leave them out"),
        option("delete-local-data", "DELETE_LOCAL_DATA", "true", Switch, "Evict pods with emptyDir volumes; otherwise they make the drain fail"),
        option("ignore-daemon-sets", "IGNORE_DAEMON_SETS", "true", Switch, "Leave pods of DaemonSets alone; otherwise they make the drain fail"),
        option("pod-termination-grace-period", "POD_TERMINATION_GRACE_PERIOD", "-1", Integer, "Seconds that pods have to end; negative for what each asks for"),
        option("grace-period", "GRACE_PERIOD", "-1", Integer, "The former name of --pod-termination-grace-period"),
        option("node-termination-grace-period", "NODE_TERMINATION_GRACE_PERIOD", "120", Integer, "Seconds that a drain may take"),
        option("use-apiserver-cache", "USE_APISERVER_CACHE", "false", Switch, "Accepted for compatibility: pods are watched"),
        option("kube-api-qps", "KUBE_API_QPS", "50", Integer, "Calls to the API server a second, in the long run"),
        option("kube-api-burst", "KUBE_API_BURST", "100", Integer, "Calls to the API server at once after a pause"),
        option("metadata-url", "INSTANCE_METADATA_URL", "http://169.254.169.254", Text, "Where the instance's metadata is"),
        option("metadata-tries", "METADATA_TRIES", "3", Integer, "Tries per question about it"),
        option("uptime-from-file", "UPTIME_FROM_FILE", "", Text, "The file the uptime is read from; /proc/uptime by default"),
        option("kubernetes-service-host", "KUBERNETES_SERVICE_HOST", "", Text, "Another host of the API server"),
        option("kubernetes-service-port", "KUBERNETES_SERVICE_PORT", "", Text, "Another port of the API server"),
        option("webhook-url", "WEBHOOK_URL", "", Hidden, "Where to post what happened"),
        option("webhook-headers", "WEBHOOK_HEADERS", r#"{"Content-type":"application/json"}"#, Hidden, "The headers of what is posted, as a JSON object"),
        option("webhook-template", "WEBHOOK_TEMPLATE", "", Hidden, "The template of what is posted"),
        option("webhook-template-file", "WEBHOOK_TEMPLATE_FILE", "", Text, "The file that template is read from instead"),
        option("webhook-proxy", "WEBHOOK_PROXY", "", Text, "The proxy it is posted through"),
        option("enable-prometheus-server", "ENABLE_PROMETHEUS_SERVER", "false", Switch, "Serve /metrics"),
        option("prometheus-server-port", "PROMETHEUS_SERVER_PORT", "9092", Integer, "The port of /metrics"),
        option("enable-probes-server", "ENABLE_PROBES_SERVER", "false", Switch, "Serve the liveness probe"),
        option("probes-server-port", "PROBES_SERVER_PORT", "8080", Integer, "The port of the probe"),
        option("probes-server-endpoint", "PROBES_SERVER_ENDPOINT", "/healthz", Text, "The path of the probe"),
        option("emit-kubernetes-events", "EMIT_KUBERNETES_EVENTS", "false", Switch, "Record Kubernetes Events on nodes"),
        option("kubernetes-events-extra-annotations", "KUBERNETES_EVENTS_EXTRA_ANNOTATIONS", "", Text, "Annotations of these Events, as key=value,key=value"),
        option("log-level", "LOG_LEVEL", "INFO", Text, "The least important lines to log: info, debug or error"),
        option("json-logging", "JSON_LOGGING", "false", Switch, "Log JSON"),
        option("log-format-version", "LOG_FORMAT_VERSION", "1", Integer, "1 for the lines of older guides, 2 for kinds and monitors apart"),
        // What Kerf adds.
        option("cluster-name", "CLUSTER_NAME", "", Text, "The cluster's name: instances tagged with it belong here although they have no node"),
        option("queue-actions", "QUEUE_ACTIONS", "", Text, "What to do by kind, as in spot=drain,rebalance=cordon,state=ignore; drain by default"),
        option("poison-messages", "POISON_MESSAGES", "delete", Text, "What becomes of messages that cannot be read: delete or keep"),
        option("drain-deadline-action", "DRAIN_DEADLINE_ACTION", "none", Text, "What becomes of pods that are still there when the instance goes: none or delete"),
        option("delegate-to-provisioner", "DELEGATE_TO_PROVISIONER", "false", Switch, "Close nodes of a NodePool and delete their NodeClaims, so that the provisioner replaces and drains them"),
        option("pre-drain-delay-seconds", "PRE_DRAIN_DELAY_SECONDS", "0", Integer, "How long a node is closed before the first eviction, so that load balancers leave it out"),
        option("webhook-phase", "WEBHOOK_PHASE", "after", Text, "When to post: after what was done, before, or both"),
        option("webhook-dedupe", "WEBHOOK_DEDUPE", "600", Integer, "Seconds in which the same is posted once about a node; 0 for one post per event"),
        option("legacy-node-metrics", "LEGACY_NODE_METRICS", "false", Switch, "Also count actions by node and event, without bound: actions_node_total"),
        option("leader-elect", "LEADER_ELECT", "true", Switch, "Read the queue only while holding the Lease; needs --pod-namespace"),
        option("journal", "KERF_JOURNAL", "", Text, "Write what is learnt and decided to a file or folder, for kerf replay"),
    ]
};

/// The options as they were given.
#[derive(Debug)]
pub(crate) struct Given {
    flags: BTreeMap<&'static str, String>,
    env: BTreeMap<&'static str, String>,
}

/// A subcommand's arguments: one for each option.
pub(super) fn arguments(command: Command) -> Command {
    OPTIONS.iter().fold(command, |command, spec| {
        let default = if spec.default.is_empty() { "" } else { " [default: " };
        let end = if spec.default.is_empty() { "" } else { "]" };
        let help = format!("{} [env: {}]{default}{}{end}", spec.help, spec.env, spec.default);
        let argument = Arg::new(spec.flag).long(spec.flag).help(help).action(ArgAction::Set);
        let argument = match spec.values {
            // As in Go: the value of a switch follows an equals sign or is left out.
            Values::Switch => {
                argument.num_args(0..=1).require_equals(true).default_missing_value("true")
            }
            Values::Integer => argument.allow_negative_numbers(true),
            Values::Text | Values::Hidden => argument,
        };
        command.arg(argument.value_name("VALUE").hide_possible_values(true))
    })
}

impl Given {
    /// What was given by flags and by variables.
    pub(super) fn read(matches: &ArgMatches, env: impl Fn(&str) -> Option<String>) -> Self {
        let flag = |spec: &OptionSpec| {
            let value = matches.get_one::<String>(spec.flag)?;
            Some((spec.flag, value.clone()))
        };
        let variable = |spec: &OptionSpec| {
            let value = env(spec.env).filter(|value| !value.is_empty())?;
            Some((spec.flag, value))
        };
        Self {
            flags: OPTIONS.iter().filter_map(flag).collect(),
            env: OPTIONS.iter().filter_map(variable).collect(),
        }
    }

    /// Whether an option was given at all.
    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.contains_key(flag) || self.env.contains_key(flag)
    }

    /// The value of an option.
    pub(super) fn text(&self, flag: &'static str) -> &str {
        let given = self.flags.get(flag).or_else(|| self.env.get(flag));
        given.map_or(spec(flag).default, String::as_str)
    }

    /// What a flag says, whatever the variable does.
    pub(super) fn flag(&self, flag: &str) -> Option<&str> {
        self.flags.get(flag).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of an option, if it is not empty.
    pub(super) fn some(&self, flag: &'static str) -> Option<String> {
        Some(self.text(flag)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The value of a switch.
    pub(super) fn switch(&self, flag: &'static str) -> Result<bool> {
        match self.text(flag) {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
            _ => bail!("{} must be either true or false", self.named(flag)),
        }
    }

    /// The value of a number.
    pub(super) fn integer(&self, flag: &'static str) -> Result<i64> {
        let number = self.text(flag).parse();
        number.with_context(|| format!("{} must be an integer", self.named(flag)))
    }

    /// A number that cannot be negative.
    pub(super) fn count<T: TryFrom<i64>>(&self, flag: &'static str) -> Result<T> {
        let number = T::try_from(self.integer(flag)?).ok();
        number.with_context(|| format!("{} is out of range", self.named(flag)))
    }

    /// The value of one of two names for the same: the new one counts.
    pub(super) fn renamed(&self, new: &'static str, old: &'static str) -> (&'static str, Renamed) {
        match (self.has(new), self.has(old)) {
            (true, true) => (new, Renamed::Both),
            (false, true) => (old, Renamed::OldAlone),
            (_, false) => (new, Renamed::No),
        }
    }

    /// Each option and its value, as the log shows them.
    pub(super) fn shown(&self) -> String {
        let shown = |spec: &OptionSpec| match spec.values {
            Values::Hidden => String::new(),
            _ => format!("\n\t{}: {},", spec.flag, self.text(spec.flag)),
        };
        OPTIONS.iter().map(shown).collect()
    }

    /// The option as whoever set it knows it.
    fn named(&self, flag: &'static str) -> String {
        match self.flags.contains_key(flag) {
            true => format!("--{flag}"),
            false => spec(flag).env.to_owned(),
        }
    }
}

/// Which of two names for the same was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renamed {
    No,
    OldAlone,
    Both,
}

fn spec(flag: &str) -> &'static OptionSpec {
    let found = OPTIONS.iter().find(|spec| spec.flag == flag);
    found.expect("only options of the table are asked for")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(flags: &[&str], env: &[(&str, &str)]) -> Given {
        let command = arguments(Command::new("nth"));
        let matches = command.get_matches_from([&["nth"], flags].concat());
        let of = |name: &str| env.iter().find(|(key, _)| *key == name);
        Given::read(&matches, |name| of(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_flag_counts_more_than_a_variable_and_an_empty_variable_is_none() {
        let env = [("WORKERS", "7"), ("QUEUE_URL", ""), ("DRY_RUN", "T")];
        let given = given(&["--workers=9", "--heartbeat-until", "-1"], &env);
        assert_eq!(given.integer("workers").unwrap(), 9);
        assert_eq!(given.some("queue-url"), None);
        assert!(given.switch("dry-run").unwrap());
        assert!(!given.has("queue-url") && given.has("dry-run"));
        assert_eq!(given.integer("node-termination-grace-period").unwrap(), 120);
    }

    #[test]
    fn a_switch_needs_no_value_and_takes_one_after_an_equals_sign() {
        let given = given(&["--dry-run", "--cordon-only=F", "--taint-node=True"], &[]);
        let values =
            ["dry-run", "cordon-only", "taint-node"].map(|flag| given.switch(flag).unwrap());
        assert_eq!(values, [true, false, true]);
    }

    #[test]
    fn a_bad_value_is_told_under_the_name_it_was_given_by() {
        let given = given(&["--workers=many"], &[("DRY_RUN", "yes")]);
        let said = |error: anyhow::Error| error.to_string();
        assert_eq!(
            said(given.switch("dry-run").unwrap_err()),
            "DRY_RUN must be either true or false"
        );
        assert_eq!(said(given.integer("workers").unwrap_err()), "--workers must be an integer");
    }

    #[test]
    fn an_old_name_counts_while_the_new_one_is_not_given() {
        let old = [("CHECK_ASG_TAG_BEFORE_DRAINING", "false")];
        let names = ("check-tag-before-draining", "check-asg-tag-before-draining");
        let alone = given(&[], &old);
        assert_eq!(alone.renamed(names.0, names.1), (names.1, Renamed::OldAlone));
        let both = given(&["--check-tag-before-draining=true"], &old);
        assert_eq!(both.renamed(names.0, names.1), (names.0, Renamed::Both));
        assert_eq!(given(&[], &[]).renamed(names.0, names.1), (names.0, Renamed::No));
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = given(&["--webhook-url=https://secret"], &[]).shown();
        assert!(shown.contains("\n\tworkers: 10,") && !shown.contains("secret"), "{shown}");
    }
}
