//! Which of the instances a claim allows it gets: the cheapest.

use kerf_engine::action::{Launch, LaunchOffering};
use kerf_engine::event::Failure;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::LabelRules;
use kerf_model::labels::well_known::INSTANCE_TYPE;

/// The cheapest instance the claim allows. A claim must name types or have a pool that is offered
/// some, as those of static pools have: without either it would be guesswork.
pub(crate) fn choose<'t>(
    launch: &Launch,
    types: &'t [InstanceType],
    rules: &LabelRules,
) -> Result<LaunchOffering<'t>, Failure> {
    if launch.named_types().is_none() && launch.instance_types.is_none() {
        return Err(Failure::LaunchRefused {
            reason: "InstanceTypeMissing".to_owned(),
            message: format!("spec.requirements: {INSTANCE_TYPE} In [...] is needed to launch"),
        });
    }
    let offerings = launch.offerings(types, rules);
    let offerings = offerings.map_err(|error| Failure::Invalid { message: error.to_string() })?;
    offerings.first().copied().ok_or_else(|| Failure::InsufficientCapacity {
        message: "no available instance type meets the requirements of the claim".to_owned(),
    })
}
