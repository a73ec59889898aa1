//! Trying a class: a launch template is really created, and a fleet and an instance are asked for
//! that EC2 checks and does not launch. The template goes right afterwards.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{
    DefaultTargetCapacityType, FleetType, InstanceType, ResourceType,
    TargetCapacitySpecificationRequest,
};
use kerf_api::ec2_node_class::Subnet;
use kerf_model::labels::aws::TENANCIES;
use kerf_model::labels::well_known::ON_DEMAND;
use kerf_model::resources::ResourceList;
use tracing::warn;

use super::verdict::TryFailure;
use super::{Subject, probe, requests};
use crate::provider::Cluster;
use crate::provider::context::Context;
use crate::provider::launch_template::{LaunchTemplate, TemplateError, TemplateRequest, plan};
use crate::provider::node_class::launch_templates;
use crate::{AwsAction, Result};

/// How EC2 says that it would have done what was asked.
const WOULD_DO: &str = "DryRunOperation";
/// How it says that there is such a template already.
const EXISTS: &str = "InvalidLaunchTemplateName.AlreadyExistsException";
/// The size of user data before it is encoded, by class.
pub(in crate::provider::node_class) const USER_DATA_BYTES: &str =
    "karpenter_ec2nodeclasses_userdata_bytes";

/// One try of a class.
pub(super) struct DryRun<'a> {
    pub(super) context: &'a Context,
    pub(super) cluster: &'a Cluster,
    pub(super) subject: Subject<'a>,
}

impl DryRun<'_> {
    /// Tries the class.
    pub(super) async fn run(&self) -> std::result::Result<(), TryFailure> {
        let Subject { object, group, .. } = self.subject;
        let region = &self.cluster.region;
        let usual = probe::usual_types(region, object, group);
        let planned = self.plan(&usual);
        if let Err(TemplateError::NoImage { .. } | TemplateError::NoType { .. }) = planned {
            let all = probe::all_types(region, object, group);
            return self.try_first(self.plan(&all)).await;
        }
        self.try_first(planned).await
    }

    fn plan<'t>(
        &self,
        types: &'t [kerf_model::instance_type::InstanceType],
    ) -> std::result::Result<Vec<LaunchTemplate<'t>>, TemplateError> {
        let (nothing, none) = (BTreeMap::new(), ResourceList::default());
        let request = TemplateRequest {
            cluster: self.cluster,
            settings: &self.context.settings,
            node_class: self.subject.object,
            pool: "",
            labels: &nothing,
            requirements: &[],
            taints: &[],
            startup_taints: &[],
            requests: &none,
            capacity_type: ON_DEMAND,
            tenancy: TENANCIES[0],
        };
        plan(&request, probe::offerings(types))
    }

    /// Tries one template: that of the type that comes first, which has no GPUs if any has none.
    async fn try_first(
        &self,
        planned: std::result::Result<Vec<LaunchTemplate<'_>>, TemplateError>,
    ) -> std::result::Result<(), TryFailure> {
        let templates = planned.map_err(|error| TryFailure::of_template(&error))?;
        let is_accelerated = |it: &&LaunchTemplate<'_>| {
            let types = it.offerings.iter().map(|offering| offering.instance_type);
            let mut labels = types.flat_map(|it| it.requirements.iter());
            labels.any(|entry| entry.key.ends_with("-count") && !entry.values.is_empty())
        };
        let Some(template) = templates.iter().min_by_key(is_accelerated) else { return Ok(()) };
        let class = self.subject.class.meta.name.to_string();
        let bytes = u32::try_from(template.user_data_bytes).unwrap_or(u32::MAX);
        self.context.registry.set(USER_DATA_BYTES, vec![("nodeclass", class)], bytes.into());
        let reason = "CreateLaunchTemplateAuthCheckFailed";
        self.create(template).await.map_err(|error| self.failure(error, reason))?;
        let tried = self.try_template(template).await;
        if let Err(error) = launch_templates::delete(self.context, &template.name).await {
            warn!(template = template.name, %error, "a launch template stays for now");
        }
        tried
    }

    async fn try_template(
        &self,
        template: &LaunchTemplate<'_>,
    ) -> std::result::Result<(), TryFailure> {
        let Some(offering) = template.offerings.first() else { return Ok(()) };
        let instance_type = offering.instance_type.name.as_str();
        let status = self.subject.object.status.as_ref();
        let subnets = status.and_then(|it| it.subnets.as_deref()).unwrap_or_default();
        self.ask_for_fleet(template, instance_type, subnets)
            .await
            .map_err(|error| self.failure(error, "CreateFleetAuthCheckFailed"))?;
        let mut first = None;
        for subnet in subnets {
            match self.ask_for_instance(template, instance_type, subnet).await {
                Ok(()) => return Ok(()),
                Err(error) => first = first.or(Some(error)),
            }
        }
        let failure = |error| self.failure(error, "RunInstancesAuthCheckFailed");
        first.map_or(Ok(()), |error| Err(failure(error)))
    }

    fn failure(&self, error: crate::CallError, reason: &'static str) -> TryFailure {
        let names_profile = self.subject.object.spec.instance_profile.is_some();
        TryFailure::of_call(error, reason, names_profile)
    }

    async fn create(&self, template: &LaunchTemplate<'_>) -> Result<()> {
        let tags = requests::tagged(template, &[ResourceType::LaunchTemplate]);
        let call = self.context.clients.ec2.create_launch_template();
        let call = call.launch_template_name(&template.name).set_tag_specifications(Some(tags));
        let call = call.launch_template_data(template.data.clone()).send();
        let resource = format!("launch-template/{}", template.name);
        let action = AwsAction::CreateLaunchTemplate;
        match self.context.calls.make(action, &resource, Box::pin(call)).await {
            Err(error) if error.code() == Some(EXISTS) => Ok(()),
            answer => answer.map(drop),
        }
    }

    async fn ask_for_fleet(
        &self,
        template: &LaunchTemplate<'_>,
        instance_type: &str,
        subnets: &[Subnet],
    ) -> Result<()> {
        let one = TargetCapacitySpecificationRequest::builder().total_target_capacity(1);
        let one = one.default_target_capacity_type(DefaultTargetCapacityType::OnDemand).build();
        let kinds = [ResourceType::Instance, ResourceType::Volume, ResourceType::Fleet];
        let call = self.context.clients.ec2.create_fleet().dry_run(true).r#type(FleetType::Instant);
        let call = call.target_capacity_specification(one).on_demand_options(requests::on_demand());
        let call = call
            .launch_template_configs(requests::fleet_config(template, instance_type, subnets))
            .set_context(self.subject.object.spec.context.clone())
            .set_tag_specifications(Some(requests::tagged(template, &kinds)));
        let call = Box::pin(call.send());
        would_do(self.context.calls.make(AwsAction::CreateFleet, "fleet/*", call).await)
    }

    async fn ask_for_instance(
        &self,
        template: &LaunchTemplate<'_>,
        instance_type: &str,
        subnet: &Subnet,
    ) -> Result<()> {
        let kinds = [ResourceType::Instance, ResourceType::Volume];
        let call = self.context.clients.ec2.run_instances().dry_run(true);
        let call = call.min_count(1).max_count(1).launch_template(requests::used(template));
        let call = call
            .instance_type(InstanceType::from(instance_type))
            .set_network_interfaces(Some(requests::interfaces(template, subnet)))
            .set_tag_specifications(Some(requests::tagged(template, &kinds)));
        let call = Box::pin(call.send());
        let resource = format!("subnet/{} and what is launched in it", subnet.id);
        would_do(self.context.calls.make(AwsAction::RunInstances, &resource, call).await)
    }
}

/// A dry run never succeeds: it ends with an error that says what would have been.
fn would_do<T>(answer: Result<T>) -> Result<()> {
    match answer {
        Err(error) if error.code() == Some(WOULD_DO) => Ok(()),
        answer => answer.map(drop),
    }
}
