//! What a node class asks of its instances.

use std::time::Duration;

use kerf_engine::action::Launch;
use kerf_engine::event::Failure;
use kerf_engine::observed::Readiness;
use kerf_model::duration::GoDuration;

/// How long instances of the launch's class take to show up.
pub(crate) fn delay(launch: &Launch) -> Result<Duration, Failure> {
    let name = &launch.claim.spec.node.node_class.name;
    let Some(class) = &launch.node_class else {
        let message = format!("KWOKNodeClass {name} does not exist");
        return Err(Failure::InsufficientCapacity { message });
    };
    if let Readiness::NotReady { message, .. } = class.readiness() {
        let message = format!("KWOKNodeClass {name} is not ready: {message}");
        return Err(Failure::NodeClassNotReady { message });
    }
    let Some(text) = class.spec["nodeRegistrationDelay"].as_str() else {
        return Ok(Duration::ZERO);
    };
    let delay = GoDuration::parse(text).map_err(|error| Failure::LaunchRefused {
        reason: "InvalidNodeClass".to_owned(),
        message: format!("spec.nodeRegistrationDelay: {error}"),
    })?;
    Ok(Duration::from_nanos(u64::try_from(delay.nanos()).unwrap_or_default()))
}
