//! What a node class asks of its instances.

use std::time::Duration;

use kerf_api::kwok_node_class::KWOKNodeClass;
use kerf_engine::condition::READY;
use kerf_engine::event::Failure;
use kerf_model::duration::GoDuration;
use kube::Client;
use kube::api::Api;

use crate::failure::unavailable;

/// How long instances of the class take to show up.
pub(crate) async fn delay(client: &Client, name: &str) -> Result<Duration, Failure> {
    let api = Api::<KWOKNodeClass>::all(client.clone());
    let Some(class) = api.get_opt(name).await.map_err(unavailable)? else {
        let message = format!("KWOKNodeClass {name} does not exist");
        return Err(Failure::InsufficientCapacity { message });
    };
    let conditions = class.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.into_iter().find(|condition| condition.type_ == READY);
    if let Some(not_ready) = ready.filter(|ready| ready.status == "False") {
        let message = format!("KWOKNodeClass {name} is not ready: {}", not_ready.message);
        return Err(Failure::NodeClassNotReady { message });
    }
    let Some(text) = class.spec.node_registration_delay else { return Ok(Duration::ZERO) };
    let delay = GoDuration::parse(&text).map_err(|error| Failure::LaunchRefused {
        reason: "InvalidNodeClass".to_owned(),
        message: format!("spec.nodeRegistrationDelay: {error}"),
    })?;
    Ok(Duration::from_nanos(u64::try_from(delay.nanos()).unwrap_or_default()))
}
