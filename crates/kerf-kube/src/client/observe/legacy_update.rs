//! What watches deliver of legacy objects.

use kerf_api::legacy::{AWSNodeTemplate, Provisioner};
use kerf_engine::World;
use kerf_engine::event::Event;
use kube::Resource;

use super::listing::Source;
use super::observer::Observer;
use super::watch_update::Change;
use crate::client::legacy::{LegacyObjects, LegacyUpdate};

impl Observer {
    /// The same in a cluster with legacy objects: they are observed as what they stand for.
    pub(crate) fn with_legacy(mut self, objects: LegacyObjects) -> Self {
        self.listings.await_legacy();
        self.legacy = Some(objects);
        self
    }

    pub(super) fn legacy_update(&mut self, update: LegacyUpdate, world: &World) -> Vec<Event> {
        let Some(objects) = self.legacy.clone() else { return Vec::new() };
        match update {
            LegacyUpdate::Served { provisioners, templates } => {
                let kinds =
                    [Provisioner::kind(&()).into_owned(), AWSNodeTemplate::kind(&()).into_owned()];
                let served = kinds.into_iter().zip([provisioners, templates]);
                let served = served.filter(|(_, is_served)| *is_served).map(|(kind, _)| kind);
                let mut events = objects.serve(provisioners, templates, world);
                events.extend(self.listings.serve_legacy(served));
                events
            }
            LegacyUpdate::Provisioner(change) => {
                let end = list_end(&change);
                let events = objects.provisioner(change, world);
                self.legacy_listed(Provisioner::kind(&()).into_owned(), end, events, world)
            }
            LegacyUpdate::Template(change) => {
                let end = list_end(&change);
                let events = objects.template(change, world);
                self.legacy_listed(AWSNodeTemplate::kind(&()).into_owned(), end, events, world)
            }
        }
    }

    /// The events of a change, and what follows from the end of a list.
    fn legacy_listed(
        &mut self,
        kind: String,
        is_list_end: bool,
        mut events: Vec<Event>,
        world: &World,
    ) -> Vec<Event> {
        if is_list_end {
            events.extend(self.listings.end(&Source::Legacy(kind), None, world));
        }
        events
    }
}

fn list_end<K>(change: &Change<K>) -> bool {
    matches!(change, Change::Listed(_))
}
