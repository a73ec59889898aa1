//! Whether instances could be launched with a node class: by rules first, then by trying.

mod dry_run;
mod probe;
mod requests;
mod rules;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use kerf_api::ec2_node_class::{AmiFamily, EC2NodeClass};
use kerf_catalog::aws::sold_in;
use kerf_catalog::settings::{NodeClassSettings, PlacementGroup};
use kerf_catalog::table;
use kerf_engine::condition::Status;
use kerf_engine::observed::NodeClass;

use self::dry_run::DryRun;
pub(super) use self::dry_run::USER_DATA_BYTES;
use super::cached::Cached;
use super::conditions::VALIDATION_SUCCEEDED;
use super::part::{NotReady, PartError, PartResult};
use crate::CallError;
use crate::catalogue::node_class;
use crate::provider::context::Context;
use crate::provider::{Cluster, tags};

/// How long a verdict counts for a class that is as it was.
const VERDICT: Duration = Duration::from_mins(30);
/// The reason of a class of AL2023 in a cluster whose Services have addresses unknown.
const CIDR_FAILED: &str = "ClusterCIDRResolutionFailed";

/// Checks node classes, and remembers what came of it.
#[derive(Debug)]
pub(super) struct Validation {
    context: Context,
    verdicts: Cached<VerdictKey, Result<(), NotReady>>,
}

/// A class and a hash of all that the verdict depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VerdictKey {
    uid: Arc<str>,
    hash: u64,
}

/// A class whose parts were looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) class: &'a NodeClass,
    /// The same with what was found for it.
    pub(super) object: &'a EC2NodeClass,
    /// Its placement group, if it has one.
    pub(super) group: Option<&'a PlacementGroup>,
}

impl Validation {
    pub(super) fn new(context: &Context) -> Self {
        Self { context: context.clone(), verdicts: Cached::new(VERDICT) }
    }

    /// Checks a class: what became of its parts is in `status_of`.
    pub(super) async fn check(
        &self,
        subject: Subject<'_>,
        status_of: impl Fn(&str) -> Status,
    ) -> PartResult<()> {
        let spec = &subject.object.spec;
        let cluster = self.cluster(subject.object).await?;
        rules::kubelet(spec, self.context.settings.allows_expressions)?;
        rules::dependencies(&status_of)?;
        let sold = sold_in(&self.context.cluster.region).unwrap_or_default();
        let shapes = sold.iter().filter_map(|(name, _)| table::shape(name));
        rules::expressions(spec, &self.settings(subject), shapes)?;
        rules::tags(spec.tags.as_ref(), tags::is_restricted)?;
        let (uid, hash) = (subject.class.meta.uid.clone(), verdict::hash(subject));
        let key = VerdictKey { uid, hash };
        if let Some(verdict) = self.verdicts.get(&key) {
            return verdict.map_err(PartError::NotReady);
        }
        if !self.context.settings.is_dry_run {
            return Ok(());
        }
        let was_valid = status_of(VALIDATION_SUCCEEDED) == Status::True;
        let tried = DryRun { context: &self.context, cluster: &cluster, subject };
        match tried.run().await {
            Ok(()) => {
                self.verdicts.put(key, Ok(()));
                Ok(())
            }
            Err(failure) => {
                if failure.is_lasting {
                    self.verdicts.put(key, Err(failure.not_ready()));
                }
                Err(failure.into_part_error(was_valid))
            }
        }
    }

    /// Forgets the verdicts on a class.
    pub(super) fn forget(&self, class: &NodeClass) {
        self.verdicts.retain(|key| key.uid != class.meta.uid);
    }

    fn settings(&self, subject: Subject<'_>) -> NodeClassSettings {
        let own = &self.context.settings;
        NodeClassSettings {
            vm_memory_overhead: own.vm_memory_overhead,
            reserved_interfaces: own.reserved_interfaces,
            ..node_class::settings(subject.object)
        }
    }

    /// The cluster, with the addresses of its Services where nodes must be told.
    async fn cluster(&self, object: &EC2NodeClass) -> PartResult<Arc<Cluster>> {
        match object.spec.resolved_ami_family() {
            Some(AmiFamily::AL2023) => {
                self.context.cluster_with_service_cidr().await.map_err(cidr_failed)
            }
            _ => Ok(self.context.cluster.clone()),
        }
    }
}

fn cidr_failed(error: CallError) -> PartError {
    match error.is_transient() {
        true => error.into(),
        false => PartError::not_ready(CIDR_FAILED, error.to_string()),
    }
}
