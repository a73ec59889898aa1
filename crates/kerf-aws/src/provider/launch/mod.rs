//! Launching instances for claims.
//!
//! ```text
//!  Launch ─ filters ─ capacity type ─ templates ─► FleetRequest ─┐
//!  Launch ─ …                                   ─► FleetRequest ─┴─ Batches ─ CreateFleet ─┐
//!  Instance ◄─ labels ◄─ one of the answered instances ◄───────── Ledger ◄─────────────────┘
//! ```
//!
//! Start reading at [`Launcher::launch`]. That a claim never gets two instances is the business of
//! [`ledger`], and after a restart of [`left_over`]; what EC2's errors mean is in the table of
//! [`verdict`].

pub(crate) mod answer;
pub(crate) mod batch;
mod candidate;
mod capacity_type;
pub(crate) mod ec2_fleets;
mod filters;
#[cfg(test)]
mod fixtures;
mod fleet;
pub(crate) mod free_addresses;
mod labels;
pub(crate) mod ledger;
mod left_over;
mod request;
mod templates;
mod verdict;
pub(crate) mod window;

use std::sync::Arc;
use std::time::Instant;

use kerf_api::ec2_node_class::AmiFamily;
use kerf_engine::action::Launch;
use kerf_engine::event::{Failure, Instance};
use kerf_engine::observed::{Claim, Readiness};
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use tracing::info;

use super::context::Context;
use super::offers::{ReservationCounts, Unavailable};
use crate::node_class;
use batch::Batches;
use ec2_fleets::Ec2Fleets;
use free_addresses::FreeAddresses;
use left_over::LeftOvers;
use templates::Templates;
pub(crate) use verdict::NO_SPOT_ROLE;

/// Launches instances, at most one for each claim.
#[derive(Debug)]
pub(crate) struct Launcher {
    context: Context,
    rules: LabelRules,
    templates: Arc<Templates>,
    batches: Batches<Ec2Fleets>,
    left_overs: LeftOvers,
}

impl Launcher {
    /// A launcher that notes what cannot be had where offerings are made.
    pub(crate) fn new(
        context: Context,
        rules: LabelRules,
        addresses: Arc<FreeAddresses>,
        unavailable: Arc<Unavailable>,
        reservations: Arc<ReservationCounts>,
    ) -> Self {
        let templates = Arc::new(Templates::new(context.clone()));
        let fleets = Ec2Fleets::new(
            context.clone(),
            templates.clone(),
            addresses,
            unavailable,
            reservations,
        );
        let batches = Batches::new(fleets, batch::WINDOW, context.registry.clone());
        Self { context, rules, templates, batches, left_overs: LeftOvers::default() }
    }

    /// This process begins to lead, and these claims are there.
    pub(crate) fn take_over<'c>(&self, claims: impl Iterator<Item = &'c Claim>) {
        self.left_overs.take_over(claims);
    }

    /// Launches an instance for a claim, or finds the one launched before.
    ///
    /// # Errors
    /// There is none to be had, the node class cannot be used, or EC2 refused or gave no answer.
    pub(crate) async fn launch(
        &self,
        launch: &Launch,
        types: &[InstanceType],
    ) -> Result<Instance, Failure> {
        let (uid, name) = (&launch.claim.meta.uid, &launch.claim.meta.name);
        let launched = match self.batches.known(uid).await {
            Some(answer) => answer?,
            None => match self.left_overs.take(launch, types, &self.rules, self).await? {
                Some(left) => {
                    info!(claim = &**name, instance = left.id, "was launched before a restart");
                    self.batches.ledger().adopt(uid, name, left, Instant::now())
                }
                None => {
                    let request = self.request(launch, types).await?;
                    self.batches.launch(uid, name, Arc::new(request)).await?
                }
            },
        };
        Ok(labels::instance(launch, types, &launched))
    }

    /// Deletes launch templates that nobody uses. Never ends; only for the process that leads.
    pub(crate) async fn collect_templates(&self) {
        self.templates.collect().await;
    }

    /// The launches under way and those that were answered.
    pub(crate) fn batches(&self) -> Batches<Ec2Fleets> {
        self.batches.clone()
    }

    async fn request(
        &self,
        launch: &Launch,
        types: &[InstanceType],
    ) -> Result<fleet::FleetRequest, Failure> {
        let name = &launch.claim.spec.node.node_class.name;
        let not_ready = |message: String| Failure::NodeClassNotReady { message };
        // One that is on its way out makes no nodes any more. The pods find another pool.
        let Some(class) = launch.node_class.as_ref().filter(|it| !it.meta.is_deleting()) else {
            let message = format!("there is no EC2NodeClass {name}");
            return Err(Failure::InsufficientCapacity { message });
        };
        match class.readiness() {
            Readiness::Ready => {}
            Readiness::NotReady { message, .. } => {
                return Err(not_ready(format!("EC2NodeClass {name} is not ready: {message}")));
            }
            Readiness::Unknown => {
                return Err(Failure::LaunchRefused {
                    reason: "NodeClassReadinessUnknown".to_owned(),
                    message: format!("EC2NodeClass {name} was not looked at yet"),
                });
            }
        }
        let class = node_class::read(class);
        let class = class.map_err(|error| not_ready(format!("EC2NodeClass {name}: {error}")))?;
        let candidates = filters::candidates(launch, types, &self.rules)?;
        // Only AL2023 has to be told the addresses of Services.
        let cluster = match class.spec.resolved_ami_family() {
            Some(AmiFamily::AL2023) => self.context.cluster_with_service_cidr().await?,
            _ => self.context.cluster.clone(),
        };
        request::build(launch, &class, &cluster, &self.context.settings, candidates)
    }
}
