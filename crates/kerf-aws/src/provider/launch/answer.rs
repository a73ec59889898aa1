//! What EC2 answers to the request for a fleet.

use aws_sdk_ec2::operation::create_fleet::CreateFleetOutput;
use aws_sdk_ec2::types::{CreateFleetError, CreateFleetInstance, FleetLaunchTemplateOverrides};

use super::capacity_type::Purchase;
use super::fleet::{FleetConfig, FleetOrder};
use crate::provider::offers::PlacementScope;

/// The answer to an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetAnswer {
    /// What was launched, by id.
    pub(crate) instances: Vec<Launched>,
    /// Why not more.
    pub(crate) errors: Vec<FleetError>,
}

/// An instance that was launched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Launched {
    pub(crate) id: String,
    pub(crate) instance_type: String,
    pub(crate) zone: String,
    pub(crate) subnet: String,
    pub(crate) image_id: String,
    pub(crate) purchase: Purchase,
    /// The reservation it runs in, if in one.
    pub(crate) reservation: Option<String>,
    /// The partition of the placement group that was asked for, if one was.
    pub(crate) partition: Option<u32>,
}

/// Why EC2 launched nothing of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetError {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) instance_type: String,
    pub(crate) zone: String,
    pub(crate) subnet: String,
    /// The reservation that was asked, if one was.
    pub(crate) reservation: Option<String>,
    /// The place in a placement group that was asked for, if one was.
    pub(crate) placement: Option<PlacementScope>,
}

/// Reads what EC2 answered to an order.
pub(crate) fn read(order: &FleetOrder, output: &CreateFleetOutput) -> FleetAnswer {
    let launched = output.instances().iter().flat_map(|it| instances(order, it));
    let mut instances: Vec<Launched> = launched.collect();
    instances.sort();
    let errors = output.errors().iter().map(|it| error(order, it)).collect();
    FleetAnswer { instances, errors }
}

fn instances(order: &FleetOrder, it: &CreateFleetInstance) -> Vec<Launched> {
    let response = it.launch_template_and_overrides();
    let overrides = response.and_then(|it| it.overrides());
    let template = response.and_then(|it| it.launch_template_specification());
    let template = template.and_then(|it| it.launch_template_name());
    let (zone, subnet) = place(order, overrides);
    let instance_type = it.instance_type().or(overrides.and_then(|it| it.instance_type()));
    let instance_type = instance_type.map(|it| it.as_str().to_owned()).unwrap_or_default();
    let config = config(order, template, &instance_type, &zone);
    let image = overrides.and_then(FleetLaunchTemplateOverrides::image_id).map(str::to_owned);
    let planned = || {
        let mut overrides = config.into_iter().flat_map(|it| &it.overrides);
        overrides.find(|it| it.instance_type == instance_type).map(|it| it.image_id.clone())
    };
    let image_id = image.or_else(planned).unwrap_or_default();
    let launched = |id: &String| Launched {
        id: id.clone(),
        instance_type: instance_type.clone(),
        zone: zone.clone(),
        subnet: subnet.clone(),
        image_id: image_id.clone(),
        purchase: order.request.purchase,
        reservation: config.and_then(|it| it.reservation.clone()),
        partition: config.and_then(|it| it.placement.as_ref()?.partition),
    };
    it.instance_ids().iter().map(launched).collect()
}

fn error(order: &FleetOrder, it: &CreateFleetError) -> FleetError {
    let response = it.launch_template_and_overrides();
    let overrides = response.and_then(|it| it.overrides());
    let template = response.and_then(|it| it.launch_template_specification());
    let template = template.and_then(|it| it.launch_template_name());
    let (zone, subnet) = place(order, overrides);
    let instance_type = overrides.and_then(|it| it.instance_type());
    let instance_type = instance_type.map(|it| it.as_str().to_owned()).unwrap_or_default();
    let config = config(order, template, &instance_type, &zone);
    FleetError {
        code: it.error_code().unwrap_or_default().to_owned(),
        message: it.error_message().unwrap_or_default().to_owned(),
        reservation: config.and_then(|it| it.reservation.clone()),
        placement: config.and_then(|it| it.placement.clone()),
        instance_type,
        zone,
        subnet,
    }
}

/// Zone and subnet; EC2 may leave either out.
fn place(order: &FleetOrder, overrides: Option<&FleetLaunchTemplateOverrides>) -> (String, String) {
    let subnet = overrides.and_then(|it| it.subnet_id()).unwrap_or_default();
    let zone = overrides.and_then(|it| it.availability_zone()).filter(|it| !it.is_empty());
    let of_subnet = || {
        let mut chosen = order.subnets.iter();
        chosen.find(|(_, id)| *id == subnet).map(|(zone, _)| zone.as_str())
    };
    let zone = zone.or_else(of_subnet).unwrap_or_default();
    let of_zone = || order.subnets.get(zone).map(String::as_str).unwrap_or_default();
    let subnet = if subnet.is_empty() { of_zone() } else { subnet };
    (zone.to_owned(), subnet.to_owned())
}

/// The part of the request that an answer is about: by its template, or else by what it launches.
fn config<'o>(
    order: &'o FleetOrder,
    template: Option<&str>,
    instance_type: &str,
    zone: &str,
) -> Option<&'o FleetConfig> {
    let configs = &order.request.configs;
    let by_name = configs.iter().find(|it| Some(it.template.name.as_str()) == template);
    by_name.or_else(|| {
        let has = |config: &&FleetConfig| {
            config.overrides.iter().any(|it| it.instance_type == instance_type && it.zone == zone)
        };
        configs.iter().find(has)
    })
}
