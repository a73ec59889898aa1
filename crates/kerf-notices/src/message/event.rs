//! One message body, read.

use std::borrow::Cow;

use super::field::{Field, Text, TextField};
use super::wire::{Body, Detail};
use super::{InstanceId, Kind, State};

/// SQS allows no larger message (1 MiB, where a queue's limit was raised).
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// An event in SNS is one wrapping; nothing real has more than two.
const WRAPPINGS_MAX: usize = 3;

/// EventBridge ids are UUIDs (36); an id is also a message attribute, so it must stay small.
const ID_BYTES_MAX: usize = 128;

/// An event that a cluster may want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it announces.
    pub kind: Kind,
    /// The id its sender gave it; the same on every redelivery.
    pub id: Option<Cow<'a, str>>,
    /// Twelve digits, if the event says where it comes from.
    pub account: Option<Cow<'a, str>>,
    /// The region it is about, if it says so.
    pub region: Option<Cow<'a, str>>,
    /// The instances it names, in their order, each once. Empty for a zonal shift only.
    pub instances: Vec<InstanceId>,
    /// The EKS clusters a zonal shift names.
    pub clusters: Vec<String>,
    /// Which page of a long Health event this is.
    pub page: u32,
    /// The event's own text where it came wrapped; otherwise the body is the event.
    pub unwrapped: Option<String>,
}

/// What a body turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<'a> {
    /// An event to route.
    Event(Event<'a>),
    /// A message that nobody needs.
    Drop(Drop),
    /// A message that cannot be understood.
    Unreadable(Unreadable),
}

/// Why a message that was understood goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Drop {
    /// Not a kind that interrupts anything.
    OtherKind,
    /// An instance coming up, or in a state that needs no reaction.
    OtherState,
    /// A Health event of another service than EC2.
    OtherService,
    /// A Health event that schedules nothing.
    OtherCategory,
    /// A Health event for everybody, which names no instance.
    PublicHealth,
    /// A Health event about hosts, volumes or nothing.
    NoInstances,
    /// The message Auto Scaling sends to see whether a target works.
    TestNotification,
    /// A kind that the settings do not forward.
    NotForwarded,
}

impl Drop {
    /// The reason as logs and metrics write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OtherKind => "other-kind",
            Self::OtherState => "other-state",
            Self::OtherService => "other-service",
            Self::OtherCategory => "other-category",
            Self::PublicHealth => "public-health",
            Self::NoInstances => "no-instances",
            Self::TestNotification => "test-notification",
            Self::NotForwarded => "not-forwarded",
        }
    }
}

/// Why a message cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Unreadable {
    /// The bytes are not UTF-8.
    #[error("the message is not UTF-8 text")]
    NotText,
    /// The text is not JSON, or names a field twice.
    #[error("the message is not JSON")]
    NotJson,
    /// The JSON is a list, a number or a text.
    #[error("the message is JSON but not an object")]
    NotAnObject,
    /// More than [`BODY_BYTES_MAX`].
    #[error("the message is larger than a queue message can be")]
    TooLarge,
    /// Notifications inside notifications.
    #[error("the message is wrapped more often than any sender does")]
    TooManyWrappings,
    /// A field that this kind cannot do without is absent.
    #[error("the field {0} is missing")]
    Missing(&'static str),
    /// A field has the wrong type or a value that cannot be.
    #[error("the field {0} has the wrong type or an impossible value")]
    Wrong(&'static str),
}

impl Unreadable {
    /// The reason as metrics write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NotText => "not-text",
            Self::NotJson => "not-json",
            Self::NotAnObject => "not-an-object",
            Self::TooLarge => "too-large",
            Self::TooManyWrappings => "too-many-wrappings",
            Self::Missing(_) => "missing-field",
            Self::Wrong(_) => "wrong-field",
        }
    }
}

/// Why reading stopped short of an event.
enum Stop {
    Drop(Drop),
    Unreadable(Unreadable),
}

impl From<Drop> for Stop {
    fn from(why: Drop) -> Self {
        Self::Drop(why)
    }
}

impl From<Unreadable> for Stop {
    fn from(why: Unreadable) -> Self {
        Self::Unreadable(why)
    }
}

/// Reads a body that may not even be text.
pub fn read_bytes(body: &[u8]) -> Reading<'_> {
    match std::str::from_utf8(body) {
        Ok(text) => read(text),
        Err(_) => Reading::Unreadable(Unreadable::NotText),
    }
}

/// Reads one message body.
pub fn read(body: &str) -> Reading<'_> {
    match read_event(body, WRAPPINGS_MAX) {
        Ok(event) => Reading::Event(event),
        Err(Stop::Drop(why)) => Reading::Drop(why),
        Err(Stop::Unreadable(why)) => Reading::Unreadable(why),
    }
}

fn read_event(text: &str, wrappings_left: usize) -> Result<Event<'_>, Stop> {
    if text.len() > BODY_BYTES_MAX {
        return Err(Unreadable::TooLarge.into());
    }
    let mut body = parse(text)?;
    match std::mem::take(&mut body.source) {
        Field::Is(source) => read_bridged(&source.0, body),
        Field::Other => Err(Unreadable::Wrong("source").into()),
        Field::Absent => read_direct(body, wrappings_left),
    }
}

fn parse(text: &str) -> Result<Body<'_>, Unreadable> {
    use super::field::Object;
    match serde_json::from_str::<Field<Object<Body<'_>>>>(text) {
        Ok(Field::Is(Object(body))) => Ok(body),
        Ok(Field::Absent | Field::Other) => Err(Unreadable::NotAnObject),
        Err(_) => Err(Unreadable::NotJson),
    }
}

/// An event as EventBridge sends it.
fn read_bridged<'a>(source: &str, body: Body<'a>) -> Result<Event<'a>, Stop> {
    let detail_type = match &body.detail_type {
        Field::Is(text) => text.0.as_ref(),
        Field::Absent => return Err(Unreadable::Missing("detail-type").into()),
        Field::Other => return Err(Unreadable::Wrong("detail-type").into()),
    };
    let kind = bridged_kind(source, detail_type, body.detail.value().map(|detail| &detail.0))?;
    let detail = match body.detail {
        Field::Is(detail) => detail.0,
        Field::Absent => Detail::default(),
        Field::Other => return Err(Unreadable::Wrong("detail").into()),
    };
    let resources = match &body.resources {
        Field::Is(list) => list.0.as_slice(),
        Field::Absent => &[],
        Field::Other => return Err(Unreadable::Wrong("resources").into()),
    };
    let instances = match kind {
        Kind::ZonalShift => Vec::new(),
        Kind::Health => health_instances(&detail, resources)?,
        Kind::AsgTerminate | Kind::AsgLaunch => {
            vec![one_instance(&detail.asg_instance, "detail.EC2InstanceId")?]
        }
        _ => vec![one_instance(&detail.instance_id, "detail.instance-id")?],
    };
    let clusters = if kind == Kind::ZonalShift { cluster_names(resources) } else { Vec::new() };
    // A Health event may be delivered in another region than the one it is about.
    let region = match (kind, detail.event_region) {
        (Kind::Health, Field::Is(region)) => Field::Is(region),
        _ => body.region,
    };
    Ok(Event {
        kind,
        id: id(body.id)?,
        account: account(body.account, "account")?,
        region: self::region(region)?,
        instances,
        clusters,
        page: detail.page.text().and_then(|page| page.parse().ok()).unwrap_or_default(),
        unwrapped: None,
    })
}

/// The kind by source and type. The two kinds with a condition in `detail` look at it.
fn bridged_kind(
    source: &str,
    detail_type: &str,
    detail: Option<&Detail<'_>>,
) -> Result<Kind, Stop> {
    match (source, detail_type) {
        ("aws.ec2", "EC2 Spot Instance Interruption Warning") => Ok(Kind::SpotInterruption),
        ("aws.ec2", "EC2 Instance Rebalance Recommendation") => Ok(Kind::Rebalance),
        ("aws.ec2", "EC2 Instance State-change Notification") => state_change(detail),
        ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning") => {
            Ok(Kind::CapacityReservationInterruption)
        }
        ("aws.health", "AWS Health Event") => health(detail),
        ("aws.autoscaling", "EC2 Instance-terminate Lifecycle Action") => Ok(Kind::AsgTerminate),
        ("aws.autoscaling", "EC2 Instance-launch Lifecycle Action") => Ok(Kind::AsgLaunch),
        ("aws.arc-zonal-shift", _) => Ok(Kind::ZonalShift),
        _ => Err(Drop::OtherKind.into()),
    }
}

fn state_change(detail: Option<&Detail<'_>>) -> Result<Kind, Stop> {
    match detail.map(|detail| &detail.state) {
        Some(Field::Is(state)) => {
            State::from_text(&state.0).map(Kind::StateChange).ok_or(Drop::OtherState.into())
        }
        Some(Field::Other) => Err(Unreadable::Wrong("detail.state").into()),
        Some(Field::Absent) => Err(Unreadable::Missing("detail.state").into()),
        None => Err(Unreadable::Missing("detail").into()),
    }
}

fn health(detail: Option<&Detail<'_>>) -> Result<Kind, Stop> {
    let detail = detail.ok_or(Unreadable::Missing("detail"))?;
    if detail.service.text() != Some("EC2") {
        return Err(Drop::OtherService.into());
    }
    if detail.category.text() != Some("scheduledChange") {
        return Err(Drop::OtherCategory.into());
    }
    if detail.scope.text() == Some("PUBLIC") {
        return Err(Drop::PublicHealth.into());
    }
    Ok(Kind::Health)
}

/// The instances among the affected entities; where there are none, among the resources.
fn health_instances(detail: &Detail<'_>, resources: &[Text<'_>]) -> Result<Vec<InstanceId>, Stop> {
    let entities = match &detail.entities {
        Field::Is(list) => list.0.as_slice(),
        Field::Absent => &[],
        Field::Other => return Err(Unreadable::Wrong("detail.affectedEntities").into()),
    };
    let named = entities.iter().filter_map(|entity| entity.0.value.text());
    let mut instances = each_once(named.filter_map(InstanceId::from_resource));
    if instances.is_empty() {
        let named = resources.iter().map(|resource| resource.0.as_ref());
        instances = each_once(named.filter_map(InstanceId::from_resource));
    }
    if instances.is_empty() { Err(Drop::NoInstances.into()) } else { Ok(instances) }
}

fn each_once(ids: impl Iterator<Item = InstanceId>) -> Vec<InstanceId> {
    let mut seen = std::collections::BTreeSet::new();
    ids.filter(|id| seen.insert(*id)).collect()
}

fn one_instance(field: &TextField<'_>, name: &'static str) -> Result<InstanceId, Stop> {
    match field {
        Field::Is(text) => text.0.parse().map_err(|_| Unreadable::Wrong(name).into()),
        Field::Absent => Err(Unreadable::Missing(name).into()),
        Field::Other => Err(Unreadable::Wrong(name).into()),
    }
}

/// The names in `arn:PARTITION:eks:REGION:ACCOUNT:cluster/NAME`.
fn cluster_names(resources: &[Text<'_>]) -> Vec<String> {
    let name = |resource: &Text<'_>| {
        let mut parts = resource.0.splitn(6, ':');
        let is_eks = parts.next() == Some("arn") && parts.nth(1) == Some("eks");
        let name = parts.nth(2)?.strip_prefix("cluster/")?;
        (is_eks && !name.is_empty()).then(|| name.to_owned())
    };
    let mut names: Vec<_> = resources.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A message without a source: a notification of Auto Scaling, or a wrapping around an event.
fn read_direct(body: Body<'_>, wrappings_left: usize) -> Result<Event<'_>, Stop> {
    if body.asg_event.text() == Some("autoscaling:TEST_NOTIFICATION") {
        return Err(Drop::TestNotification.into());
    }
    match (&body.asg_instance, body.sns_message) {
        (Field::Absent, Field::Is(message)) => unwrap(&message.0, wrappings_left),
        (Field::Absent, Field::Other) => Err(Unreadable::Wrong("Message").into()),
        (Field::Absent, Field::Absent) => Err(Drop::OtherKind.into()),
        (instance, _) => {
            let instance = one_instance(instance, "EC2InstanceId")?;
            let said = body.asg_transition.text().or(body.asg_event.text()).unwrap_or_default();
            // Older notifications say LAUNCH and TERMINATE, lifecycle hooks LAUNCHING and
            // TERMINATING. One that says neither is still about an instance of the group.
            let launch = said.starts_with("autoscaling:EC2_INSTANCE_LAUNCH");
            let token = match body.asg_token {
                Field::Absent => body.asg_request,
                token => token,
            };
            Ok(Event {
                kind: if launch { Kind::AsgLaunch } else { Kind::AsgTerminate },
                id: id(token)?,
                account: account(body.asg_account, "AccountId")?,
                region: None,
                instances: vec![instance],
                clusters: Vec::new(),
                page: 0,
                unwrapped: None,
            })
        }
    }
}

fn unwrap<'a>(message: &str, wrappings_left: usize) -> Result<Event<'a>, Stop> {
    if wrappings_left == 0 {
        return Err(Unreadable::TooManyWrappings.into());
    }
    let event = read_event(message, wrappings_left - 1)?;
    let unwrapped = event.unwrapped.clone().unwrap_or_else(|| message.to_owned());
    Ok(Event { unwrapped: Some(unwrapped), ..event.into_owned() })
}

impl Event<'_> {
    /// The same event without ties to the text it was read from.
    pub fn into_owned<'b>(self) -> Event<'b> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Event {
            kind: self.kind,
            id: self.id.map(own),
            account: self.account.map(own),
            region: self.region.map(own),
            instances: self.instances,
            clusters: self.clusters,
            page: self.page,
            unwrapped: self.unwrapped,
        }
    }
}

fn id(field: TextField<'_>) -> Result<Option<Cow<'_, str>>, Stop> {
    // SQS refuses control characters in an attribute, and the id becomes one.
    let sound = |id: &str| id.len() <= ID_BYTES_MAX && id.bytes().all(|b| b.is_ascii_graphic());
    checked(field, "id", sound)
}

fn account<'a>(field: TextField<'a>, name: &'static str) -> Result<Option<Cow<'a, str>>, Stop> {
    let digits = |text: &str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit());
    checked(field, name, digits)
}

fn region(field: TextField<'_>) -> Result<Option<Cow<'_, str>>, Stop> {
    // A region becomes part of a host name, so nothing else may pass.
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    checked(field, "region", |text| text.len() <= 32 && text.bytes().all(word))
}

/// Absent and empty are the same; anything else must be sound.
fn checked<'a>(
    field: TextField<'a>,
    name: &'static str,
    sound: impl Fn(&str) -> bool,
) -> Result<Option<Cow<'a, str>>, Stop> {
    match field {
        Field::Absent => Ok(None),
        Field::Is(text) if text.0.is_empty() => Ok(None),
        Field::Is(text) if sound(&text.0) => Ok(Some(text.0)),
        Field::Is(_) | Field::Other => Err(Unreadable::Wrong(name).into()),
    }
}
