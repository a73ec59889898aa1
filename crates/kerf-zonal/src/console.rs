//! `kerf zonal-shift`: what is avoided now, and shifts started and ended by hand. No AWS account is
//! needed: the daemon stores what zones there are, and nodes and node classes name them as well.

use k8s_openapi::api::coordination::v1::Lease;
use kerf_kube::ServedKinds;
use kerf_notices::zonal_shift::{
    ManualShift, ManualShiftOutcome, Status, UnixSeconds, UnknownZone, ZoneId, ZoneName, ZoneTable,
    node_class_zones,
};
use kube::Client;
use kube::api::Api;
use serde_json::Value;
use thiserror::Error;

use crate::LEASE;
use crate::api_call::{ApiFailure, call};
use crate::served::{self, discover};
use crate::state_store::{StateStore, StoreError};

/// The daemon writes now and then; that it comes first five times in a row does not happen.
const TRIES: usize = 5;

/// Why a command came to nothing.
#[derive(Debug, Error)]
pub enum ConsoleError {
    /// The state cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Pools or nodes cannot be read.
    #[error("{what} cannot be listed: {failure}")]
    Unlisted {
        /// Which kind.
        what: String,
        /// The API server's answer.
        failure: ApiFailure,
    },
    /// There is no such zone.
    #[error(transparent)]
    UnknownZone(#[from] UnknownZone),
    /// No source outcome of any zone.
    #[error(
        "no zone is known: neither nodes nor node classes name one, and no `kerf zonal-autoshift` \
         has stored any in namespace {namespace}; if it runs in another, name it with --namespace"
    )]
    NoZones {
        /// Where was looked.
        namespace: String,
    },
}

/// The commands' access to a cluster.
pub struct Console {
    client: Client,
    namespace: String,
    store: StateStore,
}

impl Console {
    /// Reads the state.
    pub async fn open(client: Client, namespace: &str) -> Result<Self, ConsoleError> {
        let mut store = StateStore::new(&client, namespace);
        store.load().await?;
        Ok(Self { client, namespace: namespace.to_owned(), store })
    }

    /// What is avoided, and which pools are kept out of what.
    pub async fn status(&self, now: UnixSeconds) -> Result<Status, ConsoleError> {
        let kinds = self.kinds().await?;
        let mut pools = Vec::new();
        for kind in &kinds.pools {
            pools.extend(self.list(kind).await?);
        }
        Ok(Status::new(self.store.state(), &self.zones(&kinds).await, &pools, now))
    }

    /// Stores a person's word; the daemon acts on it.
    pub async fn apply(
        &mut self,
        asked: ManualShift,
        zone: &str,
        now: UnixSeconds,
    ) -> Result<ManualShiftOutcome, ConsoleError> {
        let zones = self.zones(&self.kinds().await?).await;
        if zones.pairs().next().is_none() {
            return Err(ConsoleError::NoZones { namespace: self.namespace.clone() });
        }
        for _ in 1..TRIES {
            let outcome = self.store.state().apply_manual(asked, zone, &zones, now)?;
            match self.store.save(&outcome.state, &zones).await {
                Ok(()) => return Ok(outcome),
                Err(error) if error.is_conflict() => self.store.load().await?,
                Err(error) => return Err(error.into()),
            }
        }
        let outcome = self.store.state().apply_manual(asked, zone, &zones, now)?;
        self.store.save(&outcome.state, &zones).await?;
        Ok(outcome)
    }

    /// Who acts on what is stored; nobody if no daemon holds the Lease.
    pub async fn leader(&self) -> Option<String> {
        let api = Api::<Lease>::namespaced(self.client.clone(), &self.namespace);
        let lease = call(api.get_opt(LEASE)).await.ok().flatten()?;
        lease.spec?.holder_identity.filter(|holder| !holder.is_empty())
    }

    async fn kinds(&self) -> Result<ServedKinds, ConsoleError> {
        let what = || "the kinds of pools".to_owned();
        let kinds = discover(&self.client).await;
        kinds.map_err(|failure| ConsoleError::Unlisted { what: what(), failure })
    }

    async fn list(&self, kind: &kube::api::ApiResource) -> Result<Vec<Value>, ConsoleError> {
        let listed = served::list(&self.client, kind).await;
        listed.map_err(|failure| ConsoleError::Unlisted { what: kind.plural.clone(), failure })
    }

    /// What the daemon stored, and what node classes and nodes name. A source that may not be read
    /// is passed over: another may do.
    async fn zones(&self, kinds: &ServedKinds) -> ZoneTable {
        let mut zones = self.store.zones().clone();
        for kind in &kinds.node_classes {
            for class in self.list(kind).await.unwrap_or_default() {
                node_class_zones(&class, &mut zones);
            }
        }
        for node in self.list(&served::nodes()).await.unwrap_or_default() {
            learn_from_node(&node, &mut zones);
        }
        zones
    }
}

/// Nodes carry name and id of their zone as labels.
fn learn_from_node(node: &Value, zones: &mut ZoneTable) {
    let label = |name: &str| node.pointer("/metadata/labels")?.get(name)?.as_str();
    let pair = label("topology.k8s.aws/zone-id").zip(label("topology.kubernetes.io/zone"));
    if let Some((id, name)) = pair {
        zones.learn(&ZoneId::new(id), &ZoneName::new(name));
    }
}
