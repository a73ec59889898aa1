//! Fleets of EC2: the request is sent, and what the answer says about capacity is noted.

use std::sync::Arc;

use kerf_api::ec2_node_class::Subnet;
use kerf_model::labels::well_known::SPOT;
use kerf_runtime::metrics::Labels;

use super::answer::{self, FleetAnswer, FleetError};
use super::batch::FleetSender;
use super::fleet::{self, FleetOrder, FleetRequest, Template};
use super::free_addresses::FreeAddresses;
use super::templates::Templates;
use super::verdict::{self, Mark};
use crate::provider::context::Context;
use crate::provider::offers::{ReservationCounts, Unavailable};
use crate::{AwsAction, CallError};

/// What a permission for it is granted on.
const RESOURCE: &str = "fleet/*";

/// Asks EC2 for fleets.
#[derive(Debug)]
pub(crate) struct Ec2Fleets {
    context: Context,
    templates: Arc<Templates>,
    addresses: Arc<FreeAddresses>,
    unavailable: Arc<Unavailable>,
    reservations: Arc<ReservationCounts>,
}

impl Ec2Fleets {
    /// Fleets whose failures are noted there.
    pub(crate) fn new(
        context: Context,
        templates: Arc<Templates>,
        addresses: Arc<FreeAddresses>,
        unavailable: Arc<Unavailable>,
        reservations: Arc<ReservationCounts>,
    ) -> Self {
        Self { context, templates, addresses, unavailable, reservations }
    }

    /// What follows from an answer for launches to come.
    fn conclude(&self, order: &FleetOrder, answer: &FleetAnswer) {
        self.give_back(order, &answer.instances.iter().map(|it| &*it.subnet).collect::<Vec<_>>());
        for reservation in answer.instances.iter().filter_map(|it| it.reservation.as_deref()) {
            self.reservations.launched(reservation);
        }
        self.note(&order.request, &answer.errors);
        for error in &answer.errors {
            self.count_failure(&order.request, error);
        }
    }

    /// What follows from a request that was refused as a whole.
    fn conclude_refused(&self, order: &FleetOrder, error: &CallError) {
        // It may have been launched all the same. The next look at the subnets tells.
        if !matches!(error, CallError::Unavailable { .. }) {
            self.give_back(order, &[]);
        }
        let code = error.code().unwrap_or_else(|| word(error)).to_owned();
        let error = FleetError { code, ..FleetError::default() };
        self.count_failure(&order.request, &error);
        let marks = verdict::marks(&order.request, &[error]);
        if marks.contains(&Mark::Spot) {
            self.unavailable.mark_capacity_type(SPOT);
        }
    }

    fn note(&self, request: &FleetRequest, errors: &[FleetError]) {
        let capacity_type = request.purchase.capacity_type();
        for mark in verdict::marks(request, errors) {
            match mark {
                Mark::Offering { instance_type, zone, placement } => {
                    let placement = placement.as_ref();
                    self.unavailable.mark_offering(capacity_type, &instance_type, &zone, placement);
                }
                Mark::Reservation(id) => self.reservations.exhausted(&id),
                Mark::Subnet(id) => {
                    self.unavailable.mark_subnet(&id);
                    self.addresses.exhausted(&id);
                }
                Mark::Spot => self.unavailable.mark_capacity_type(SPOT),
            }
        }
    }

    /// Gives back what was taken from subnets for instances that went elsewhere or nowhere.
    fn give_back(&self, order: &FleetOrder, used: &[&str]) {
        for (zone, deduction) in &order.deductions {
            let each = order.request.addresses.get(zone).copied().unwrap_or(0);
            let subnet = order.subnets.get(zone).map(String::as_str).unwrap_or_default();
            let used = used.iter().filter(|it| **it == subnet).count();
            let unused = count(order.members.len().saturating_sub(used));
            self.addresses.give_back(deduction, each.saturating_mul(unused));
        }
    }

    fn count_failure(&self, request: &FleetRequest, error: &FleetError) {
        let zone_ids = &request.zone_ids;
        let labels: Labels = vec![
            ("zone", error.zone.clone()),
            ("zone_id", zone_ids.get(&error.zone).cloned().unwrap_or_default()),
            ("capacity_type", request.purchase.capacity_type().to_owned()),
            ("reason", error.code.clone()),
        ];
        let metric = "karpenter_cloudprovider_instance_launch_failures_total";
        self.context.registry.count(metric, labels, 1);
    }
}

impl FleetSender for Ec2Fleets {
    async fn send(
        &self,
        request: &FleetRequest,
        close: impl FnOnce() -> Option<Arc<FleetOrder>> + Send,
    ) -> Result<FleetAnswer, CallError> {
        let templates: Vec<Arc<Template>> =
            request.configs.iter().map(|it| it.template.clone()).collect();
        self.templates.ensure(&templates).await?;
        let mut sent = None;
        // Not before its turn has come: until then the batch grows.
        let call = async {
            let order = close();
            let input = order.as_deref().map(fleet::input).unwrap_or_default();
            sent = order;
            input.send_with(&self.context.clients.ec2).await
        };
        let output = self.context.calls.make(AwsAction::CreateFleet, RESOURCE, call).await;
        let Some(order) = sent else { return output.map(|_| FleetAnswer::default()) };
        let answer = output.map(|output| answer::read(&order, &output));
        match &answer {
            Ok(answer) => self.conclude(&order, answer),
            Err(error) => self.conclude_refused(&order, error),
        }
        if super::batch::is_gone(&answer) {
            self.templates.forget(&templates).await;
        }
        answer
    }

    fn place(&self, order: &mut FleetOrder) {
        let request = order.request.clone();
        let subnet = |(zone, id): &(String, String)| Subnet {
            id: id.clone(),
            zone: zone.clone(),
            zone_id: None,
        };
        let subnets: Vec<Subnet> = request.subnets.iter().map(subnet).collect();
        let instances = count(order.members.len());
        for (zone, subnet) in self.addresses.choose(&subnets) {
            let each = request.addresses.get(zone).copied().unwrap_or(0);
            let deduction = self.addresses.deduct(subnet, each.saturating_mul(instances));
            order.deductions.insert(zone.to_owned(), deduction);
            order.subnets.insert(zone.to_owned(), subnet.to_owned());
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What kind of error it was, for the count.
fn word(error: &CallError) -> &'static str {
    match error {
        CallError::Throttled { .. } => "RequestLimitExceeded",
        CallError::Credentials { .. } => "AuthFailure",
        CallError::Denied { .. } => "UnauthorizedOperation",
        CallError::NoSuchQueue { .. } | CallError::Refused { .. } => "Refused",
        CallError::Unavailable { .. } => "Unavailable",
    }
}
