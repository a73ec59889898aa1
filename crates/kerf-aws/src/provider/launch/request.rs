//! From a claim and what it may get to the request for a fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use kerf_api::ec2_node_class::{EC2NodeClass, Subnet};
use kerf_engine::action::{Launch, LaunchOffering};
use kerf_engine::event::Failure;
use kerf_model::labels::annotation::{MIN_VALUES_RELAXED, PRICE_OVERLAY_APPLIED};
use kerf_model::labels::well_known::ZONE;
use kerf_model::resources::PODS;

use super::candidate::{Candidate, value};
use super::capacity_type::{self, tenancy};
use super::fleet::{FleetConfig, FleetRequest, Override, Template};
use crate::provider::launch_template::{self, LaunchTemplate, TemplateRequest};
use crate::provider::offers::PlacementScope;
use crate::provider::{AwsSettings, Cluster};

/// The request for an instance of a claim.
///
/// # Errors
/// There is no template for any of the types, or no subnet in any of the zones.
pub(super) fn build(
    launch: &Launch,
    class: &EC2NodeClass,
    cluster: &Cluster,
    settings: &AwsSettings,
    candidates: Vec<Candidate<'_>>,
) -> Result<FleetRequest, Failure> {
    let claim = &launch.claim;
    let (purchase, candidates) = capacity_type::choose(claim, candidates);
    let tenancy = tenancy(claim);
    let capacity_type = purchase.capacity_type();
    let template =
        TemplateRequest::for_claim(cluster, settings, class, &claim.spec, capacity_type, tenancy);
    let subnets = class.status.as_ref().and_then(|status| status.subnets.as_deref());
    let subnets = subnets.unwrap_or_default();
    let offerings = candidates.iter().flat_map(|candidate| {
        let instance_type = candidate.instance_type;
        let within = candidate.offerings.iter().filter(|it| has_subnet(subnets, value(it, ZONE)));
        within.map(move |offering| LaunchOffering { instance_type, offering })
    });
    let offerings: Vec<LaunchOffering<'_>> = offerings.collect();
    if offerings.is_empty() {
        return Err(refused(
            "SubnetResolutionFailed",
            "no subnet of the node class is in a zone where an instance is available",
        ));
    }
    let templates = launch_template::plan(&template, offerings.iter().copied());
    let templates = templates.map_err(|error| refused(error.reason(), &error.to_string()))?;
    let annotations = claim.annotations();
    let is_relaxed = annotations.get(MIN_VALUES_RELAXED).is_some_and(|it| it == "true");
    let zone_id = |it: &Subnet| Some((it.zone.clone(), it.zone_id.clone()?));
    Ok(FleetRequest {
        purchase,
        has_own_prices: annotations.contains_key(PRICE_OVERLAY_APPLIED),
        configs: templates.into_iter().map(config).collect(),
        subnets: subnets.iter().map(|it| (it.zone.clone(), it.id.clone())).collect(),
        addresses: addresses(&offerings),
        zone_ids: subnets.iter().filter_map(zone_id).collect(),
        context: class.spec.context.clone().filter(|_| !is_relaxed),
        tags: template.tags(),
    })
}

fn has_subnet(subnets: &[Subnet], zone: Option<&str>) -> bool {
    subnets.iter().any(|subnet| Some(subnet.zone.as_str()) == zone)
}

fn refused(reason: &str, message: &str) -> Failure {
    Failure::LaunchRefused { reason: reason.to_owned(), message: message.to_owned() }
}

/// What is launched by a template: each type once in each zone, at its cheapest.
fn config(template: LaunchTemplate<'_>) -> FleetConfig {
    let LaunchTemplate { name, data, tags, image_id, reservation, placement, .. } = template;
    let LaunchTemplate { offerings, warnings, .. } = template;
    let mut overrides: BTreeMap<(&str, &str), Override> = BTreeMap::new();
    for LaunchOffering { instance_type, offering } in offerings {
        let Some(zone) = value(offering, ZONE) else { continue };
        let it = Override {
            instance_type: instance_type.name.clone(),
            zone: zone.to_owned(),
            image_id: image_id.clone(),
            price: offering.price,
        };
        let known = overrides.entry((&instance_type.name, zone)).or_insert_with(|| it.clone());
        known.price = known.price.min(it.price);
    }
    FleetConfig {
        template: Arc::new(Template { name, data, tags, warnings }),
        reservation,
        placement: placement.map(|it| PlacementScope {
            group: it.group_id,
            partition: it.partition.and_then(|number| u32::try_from(number).ok()),
        }),
        overrides: overrides.into_values().collect(),
    }
}

/// The addresses an instance takes in each zone: at least those of the smallest type there.
fn addresses(offerings: &[LaunchOffering<'_>]) -> BTreeMap<String, u32> {
    let mut addresses: BTreeMap<String, u32> = BTreeMap::new();
    for LaunchOffering { instance_type, offering } in offerings {
        let Some(zone) = value(offering, ZONE) else { continue };
        let pods = u32::try_from(instance_type.capacity.quantity(PODS).value()).unwrap_or(0);
        let least = addresses.entry(zone.to_owned()).or_insert(pods);
        *least = pods.min(*least);
    }
    addresses
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::RequestLaunchTemplateData;
    use kerf_model::instance_type::InstanceType;
    use kerf_model::quantity::Quantity;

    use super::super::fixtures::{instance_type, offering};
    use super::*;
    use crate::provider::launch_template::Placement;

    fn offerings(types: &[InstanceType]) -> Vec<LaunchOffering<'_>> {
        let mut all = Vec::new();
        for instance_type in types {
            let own = instance_type.offerings.iter();
            all.extend(own.map(|offering| LaunchOffering { instance_type, offering }));
        }
        all
    }

    #[test]
    fn each_type_is_asked_for_once_in_each_zone_at_its_cheapest() {
        let ways = ["spot a 5", "spot a 3", "spot b 4"].map(offering).to_vec();
        let types = [instance_type("m5.large", ways)];
        let config = config(LaunchTemplate {
            name: "karpenter.k8s.aws/1".to_owned(),
            data: RequestLaunchTemplateData::builder().build(),
            tags: BTreeMap::new(),
            image_id: "ami-1".to_owned(),
            reservation: None,
            placement: Some(Placement { group_id: "pg-1".to_owned(), partition: Some(2) }),
            offerings: offerings(&types),
            user_data_bytes: 0,
            warnings: Vec::new(),
        });
        let line = |it: &Override| {
            format!(
                "{} {} {} {}",
                it.instance_type,
                it.zone,
                it.image_id,
                it.price.micros_per_hour()
            )
        };
        let lines: Vec<String> = config.overrides.iter().map(line).collect();
        assert_eq!(lines, ["m5.large a ami-1 3", "m5.large b ami-1 4"]);
        let scope = PlacementScope { group: "pg-1".to_owned(), partition: Some(2) };
        assert_eq!(config.placement, Some(scope));
    }

    #[test]
    fn a_launch_takes_the_addresses_of_the_smallest_type_in_each_zone() {
        let mut large = instance_type("m5.large", ["spot a 5", "spot b 5"].map(offering).to_vec());
        Arc::make_mut(&mut large.capacity).insert("pods", Quantity::from_int(58));
        let small = instance_type("m5.small", vec![offering("spot a 5")]);
        let types = [large, small];
        let expected = [("a".to_owned(), 29), ("b".to_owned(), 58)];
        assert_eq!(addresses(&offerings(&types)), expected.into());
    }
}
