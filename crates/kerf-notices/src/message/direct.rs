//! Messages without a source: notifications of Auto Scaling, and wrappings around an event.

use smallvec::smallvec;

use super::bridged::one_instance;
use super::field::Field;
use super::origin;
use super::reading::{Stop, read_event};
use super::wire::Direct;
use super::{Drop, Event, Kind, Unreadable};

/// A notification that names an instance is one of Auto Scaling; one that only carries a message is
/// a wrapping.
pub(super) fn read_direct(body: Direct<'_>, wrappings_left: usize) -> Result<Event<'_>, Stop> {
    if body.event.text() == Some("autoscaling:TEST_NOTIFICATION") {
        return Err(Drop::TestNotification.into());
    }
    match (&body.instance, &body.message) {
        (Field::Absent, Field::Is(message)) => unwrap(&message.0, wrappings_left),
        (Field::Absent, Field::Other) => Err(Unreadable::Wrong("Message").into()),
        (Field::Absent, Field::Absent) => Err(Drop::OtherKind.into()),
        _ => read_notification(body),
    }
}

fn read_notification(body: Direct<'_>) -> Result<Event<'_>, Stop> {
    let instance = one_instance(&body.instance, "EC2InstanceId")?;
    let said = body.transition.text().or(body.event.text()).unwrap_or_default();
    // Older notifications say LAUNCH and TERMINATE, lifecycle hooks LAUNCHING and TERMINATING. One
    // that says neither is still about an instance of the group.
    let launch = said.starts_with("autoscaling:EC2_INSTANCE_LAUNCH");
    let token = match body.token {
        Field::Absent => body.request,
        token => token,
    };
    Ok(Event {
        kind: if launch { Kind::AsgLaunch } else { Kind::AsgTerminate },
        id: origin::id(token)?,
        account: origin::account(body.account, "AccountId")?,
        region: None,
        time: None,
        instances: smallvec![instance],
        clusters: Vec::new(),
        page: 0,
        unwrapped: None,
    })
}

fn unwrap<'a>(message: &str, wrappings_left: usize) -> Result<Event<'a>, Stop> {
    if wrappings_left == 0 {
        return Err(Unreadable::TooManyWrappings.into());
    }
    let mut event = read_event(message, wrappings_left - 1)?.into_owned();
    event.unwrapped.get_or_insert_with(|| message.to_owned());
    Ok(event)
}
