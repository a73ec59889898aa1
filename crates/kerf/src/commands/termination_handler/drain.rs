//! How nodes are drained, by the options.

use anyhow::{Result, bail};
use kerf_engine::memory::Closing;
use kerf_engine::observed::NamespacedName;
use kerf_engine::time::Span;
use kerf_engine::{BlockingPods, DrainSettings, Marks};
use kerf_model::taint::{Taint, TaintEffect};
use kerf_notices::imds::reboot;
use kerf_termination_handler::kind::EventKind;

use super::options::Given;
use super::validated::renamed;

/// The label that load balancers go by, and the value that says whose it is.
const EXCLUDE_LABEL: (&str, &str) =
    ("node.kubernetes.io/exclude-from-external-load-balancers", "aws-node-termination-handler");

/// The taint that says that a node will not come back as it is.
const OUT_OF_SERVICE: (&str, &str) = ("node.kubernetes.io/out-of-service", "nodeshutdown");

/// How nodes are drained.
pub(super) fn drain(given: &Given, warnings: &mut Vec<String>) -> Result<DrainSettings> {
    let time_out = given.integer("node-termination-grace-period")?;
    let grace = renamed(given, "pod-termination-grace-period", "grace-period", warnings);
    let own_pod = given.some("pod-name").zip(given.some("pod-namespace"));
    let own_pod = own_pod
        .map(|(name, namespace)| NamespacedName { namespace: namespace.into(), name: name.into() });
    let (key, value) = EXCLUDE_LABEL;
    Ok(DrainSettings {
        closing: Closing::Cordon,
        forces_pods: match given.text("drain-deadline-action") {
            "none" => false,
            "delete" => true,
            other => bail!("drain-deadline-action is {other:?}; allowed are none and delete"),
        },
        time_out: Some(match u64::try_from(time_out) {
            Ok(seconds @ 1..) => Span::from_seconds(seconds),
            // No limit, as far as anybody can tell.
            _ => Span::from_minutes(60 * 24 * 365),
        }),
        own_pod,
        evicts_protected: true,
        by_provider_id_only: given.switch("use-provider-id")?,
        label: given
            .switch("exclude-from-load-balancers")?
            .then(|| (key.to_owned(), value.to_owned())),
        pod_grace_seconds: u32::try_from(given.integer(grace)?).ok(),
        taint_after: given
            .switch("enable-out-of-service-taint")?
            .then(|| Taint::new(OUT_OF_SERVICE.0, OUT_OF_SERVICE.1, TaintEffect::NoExecute)),
        own_node: match given.switch("enable-sqs-termination-draining")? {
            true => None,
            false => given.some("node-name").map(Into::into),
        },
        marks: marks(),
        blocking: BlockingPods {
            with_local_data: !given.switch("delete-local-data")?,
            of_daemon_sets: !given.switch("ignore-daemon-sets")?,
        },
        evict_after: Span::from_seconds(given.count("pre-drain-delay-seconds")?),
    })
}

/// What the handler puts on nodes.
fn marks() -> Marks {
    let of_reboots = [reboot::EVENT_ID, reboot::ACTION, reboot::ACTION_TIME];
    let mut labels: Vec<_> = of_reboots.iter().map(|key| ((*key).to_owned(), None)).collect();
    labels.push((EXCLUDE_LABEL.0.to_owned(), Some(EXCLUDE_LABEL.1.to_owned())));
    let of_events = EventKind::ALL.into_iter().filter_map(EventKind::taint_key);
    let taints = of_events.chain([OUT_OF_SERVICE.0]).map(str::to_owned).collect();
    Marks { labels, taints }
}
