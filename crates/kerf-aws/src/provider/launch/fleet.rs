//! The request for a fleet: what is asked of EC2, as values that can be compared and sent.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use aws_sdk_ec2::operation::create_fleet::builders::CreateFleetInputBuilder;
use aws_sdk_ec2::types::{
    DefaultTargetCapacityType, FleetLaunchTemplateConfigRequest,
    FleetLaunchTemplateOverridesRequest, FleetLaunchTemplateSpecificationRequest,
    FleetOnDemandAllocationStrategy, FleetReservationType, FleetType, InstanceType,
    OnDemandOptionsRequest, RequestLaunchTemplateData, ReservedCapacityOptionsRequest,
    ResourceType, SpotAllocationStrategy, SpotOptionsRequest, TargetCapacitySpecificationRequest,
};
use kerf_model::price::Price;

use super::candidate::ReservationKind;
use super::capacity_type::Purchase;
use super::free_addresses::Deduction;
use crate::provider::offers::PlacementScope;
use crate::provider::tags::{self, Tags};
use crate::provider::user_data::UserDataWarning;

/// A template with the version to use.
const LATEST: &str = "$Latest";
const MICROS: f64 = 1_000_000.0;

/// What a fleet is asked for. Launches with equal requests are asked for together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FleetRequest {
    pub(crate) purchase: Purchase,
    /// Whether a NodeOverlay has changed prices: EC2 is then told them, in place of its own.
    pub(crate) has_own_prices: bool,
    pub(crate) configs: Vec<FleetConfig>,
    /// The subnets of the class, as pairs of zone and id in the order of its status. Which ones are
    /// used is decided when the request is sent.
    pub(crate) subnets: Vec<(String, String)>,
    /// The addresses an instance takes in each zone.
    pub(crate) addresses: BTreeMap<String, u32>,
    /// The ids of zones, as far as subnets tell.
    pub(crate) zone_ids: BTreeMap<String, String>,
    pub(crate) context: Option<String>,
    pub(crate) tags: Tags,
}

/// A launch template and what is launched by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FleetConfig {
    pub(crate) template: Arc<Template>,
    /// The reservation it launches into, if into one.
    pub(crate) reservation: Option<String>,
    /// The place in a placement group, if in one.
    pub(crate) placement: Option<PlacementScope>,
    pub(crate) overrides: BTreeSet<Override>,
}

/// An instance type in a zone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Override {
    pub(crate) instance_type: String,
    pub(crate) zone: String,
    pub(crate) image_id: String,
    pub(crate) price: Price,
}

/// A launch template that must be there when the fleet is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// Made from the content: equal names mean equal templates.
    pub(crate) name: String,
    pub(crate) data: RequestLaunchTemplateData,
    pub(crate) tags: Tags,
    /// What the owner of the node class should know about its user data.
    pub(crate) warnings: Vec<UserDataWarning>,
}

/// A request as it is sent, and sent again if no answer comes: the very same.
#[derive(Clone, Debug)]
pub(crate) struct FleetOrder {
    pub(crate) request: Arc<FleetRequest>,
    /// The uids of the claims it is for, sorted.
    pub(crate) members: Vec<Arc<str>>,
    /// The subnet used in each zone.
    pub(crate) subnets: BTreeMap<String, String>,
    /// What was taken from the subnets for it.
    pub(crate) deductions: BTreeMap<String, Deduction>,
    /// By which EC2 knows it when it comes again.
    pub(crate) token: String,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Template {}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// The request of an order, as EC2 reads it.
pub(crate) fn input(order: &FleetOrder) -> CreateFleetInputBuilder {
    let request = &*order.request;
    let tagged = [ResourceType::Instance, ResourceType::Volume, ResourceType::Fleet];
    CreateFleetInputBuilder::default()
        .client_token(&order.token)
        .r#type(FleetType::Instant)
        .target_capacity_specification(capacity(request.purchase, order.members.len()))
        .set_spot_options(spot_options(request))
        .set_on_demand_options(on_demand_options(request))
        .set_reserved_capacity_options(reserved_options(request.purchase))
        .set_launch_template_configs(Some(configs(order)))
        .set_context(request.context.clone())
        .set_tag_specifications(Some(
            tagged.map(|kind| tags::specification(kind, &request.tags)).into(),
        ))
}

fn capacity(purchase: Purchase, count: usize) -> TargetCapacitySpecificationRequest {
    let kind = match purchase {
        Purchase::Spot => DefaultTargetCapacityType::Spot,
        Purchase::OnDemand | Purchase::Reserved(ReservationKind::Default) => {
            DefaultTargetCapacityType::OnDemand
        }
        Purchase::Reserved(ReservationKind::CapacityBlock) => {
            DefaultTargetCapacityType::CapacityBlock
        }
        Purchase::Reserved(ReservationKind::Interruptible) => {
            DefaultTargetCapacityType::ReservedCapacity
        }
    };
    TargetCapacitySpecificationRequest::builder()
        .total_target_capacity(i32::try_from(count).unwrap_or(i32::MAX))
        .default_target_capacity_type(kind)
        .build()
}

fn spot_options(request: &FleetRequest) -> Option<SpotOptionsRequest> {
    let strategy = match request.has_own_prices {
        true => SpotAllocationStrategy::CapacityOptimizedPrioritized,
        false => SpotAllocationStrategy::PriceCapacityOptimized,
    };
    let options = SpotOptionsRequest::builder().allocation_strategy(strategy).build();
    (request.purchase == Purchase::Spot).then_some(options)
}

fn on_demand_options(request: &FleetRequest) -> Option<OnDemandOptionsRequest> {
    let strategy = match request.has_own_prices {
        true => FleetOnDemandAllocationStrategy::Prioritized,
        false => FleetOnDemandAllocationStrategy::LowestPrice,
    };
    let options = OnDemandOptionsRequest::builder().allocation_strategy(strategy).build();
    let is_used = matches!(
        request.purchase,
        Purchase::OnDemand | Purchase::Reserved(ReservationKind::Default)
    );
    is_used.then_some(options)
}

fn reserved_options(purchase: Purchase) -> Option<ReservedCapacityOptionsRequest> {
    let kind = FleetReservationType::InterruptibleCapacityReservation;
    let options = ReservedCapacityOptionsRequest::builder().reservation_types(kind).build();
    (purchase == Purchase::Reserved(ReservationKind::Interruptible)).then_some(options)
}

/// What is launched where. A zone without a subnet is left out, and so is a template for which
/// nothing is left.
fn configs(order: &FleetOrder) -> Vec<FleetLaunchTemplateConfigRequest> {
    let overrides = |config: &FleetConfig| -> Vec<_> {
        config.overrides.iter().filter_map(|it| override_request(order, it)).collect()
    };
    let with_overrides = order.request.configs.iter().map(|it| (it, overrides(it)));
    let used = with_overrides.filter(|(_, overrides)| !overrides.is_empty());
    used.map(|(config, overrides)| {
        let template = FleetLaunchTemplateSpecificationRequest::builder()
            .launch_template_name(&config.template.name)
            .version(LATEST)
            .build();
        FleetLaunchTemplateConfigRequest::builder()
            .launch_template_specification(template)
            .set_overrides(Some(overrides))
            .build()
    })
    .collect()
}

fn override_request(
    order: &FleetOrder,
    it: &Override,
) -> Option<FleetLaunchTemplateOverridesRequest> {
    let subnet = order.subnets.get(&it.zone)?;
    #[expect(clippy::cast_precision_loss, reason = "EC2 takes priorities as floating point")]
    let priority = it.price.micros_per_hour() as f64 / MICROS;
    let request = FleetLaunchTemplateOverridesRequest::builder()
        .instance_type(InstanceType::from(it.instance_type.as_str()))
        .availability_zone(&it.zone)
        .subnet_id(subnet)
        .image_id(&it.image_id)
        .priority(priority);
    Some(request.build())
}

#[cfg(test)]
mod tests;
