//! An event that a cluster may want.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Drop, EventId, InstanceId, Kind};
use crate::zonal_shift::UnixSeconds;

/// Instances of an event, in their order, each once. Nearly always one, which needs no allocation.
pub type Instances = SmallVec<[InstanceId; 1]>;

/// An event that a cluster may want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it announces.
    pub kind: Kind,
    /// The id its sender gave it; the same on every redelivery.
    pub id: Option<EventId>,
    /// Twelve digits, if the event says where it comes from.
    pub account: Option<Cow<'a, str>>,
    /// The region it is about, if it says so.
    pub region: Option<Cow<'a, str>>,
    /// When it happened, as it says.
    pub time: Option<Cow<'a, str>>,
    /// The instances it names. Empty for a zonal shift only.
    pub instances: Instances,
    /// The EKS clusters a zonal shift names.
    pub clusters: Vec<String>,
    /// Which page of a long Health event this is.
    pub page: u32,
    /// The event's own text where it came wrapped; otherwise the body is the event.
    pub unwrapped: Option<String>,
}

impl Event<'_> {
    /// Whether the event is worth anything at that time. One that does not say when it happened is.
    ///
    /// # Errors
    /// It is too old for its kind, or has not happened yet.
    pub fn timeliness(&self, now: UnixSeconds) -> Result<(), Drop> {
        let time = self.time.as_deref().and_then(UnixSeconds::parse);
        time.map_or(Ok(()), |time| self.kind.timeliness(time, now))
    }

    /// The same event without ties to the text it was read from.
    pub fn into_owned<'b>(self) -> Event<'b> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Event {
            kind: self.kind,
            id: self.id,
            account: self.account.map(own),
            region: self.region.map(own),
            time: self.time.map(own),
            instances: self.instances,
            clusters: self.clusters,
            page: self.page,
            unwrapped: self.unwrapped,
        }
    }
}
