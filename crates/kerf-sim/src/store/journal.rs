//! What changed, kind by kind, for watches to read.

use std::collections::VecDeque;

use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::Revision;

/// One kind's changes.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// How many changes were dropped because everybody has read them.
    dropped: usize,
    changes: VecDeque<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Seen(Box<Object>),
    Gone(Key, Revision),
}

/// The changes of all kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    streams: [Stream; Kind::ALL.len()],
}

impl Journal {
    pub(super) fn seen(&mut self, object: Object) {
        let stream = &mut self.streams[object.key().kind() as usize];
        stream.changes.push_back(Change::Seen(Box::new(object)));
    }

    pub(super) fn gone(&mut self, key: Key, revision: Revision) {
        self.streams[key.kind() as usize].changes.push_back(Change::Gone(key, revision));
    }

    /// Where the next change of a kind will stand.
    pub(crate) fn end(&self, kind: Kind) -> usize {
        let stream = &self.streams[kind as usize];
        stream.dropped + stream.changes.len()
    }

    /// The changes of a kind from a place on, as events.
    pub(crate) fn since(&self, kind: Kind, place: usize) -> impl Iterator<Item = Event> {
        let stream = &self.streams[kind as usize];
        let skip = place.saturating_sub(stream.dropped);
        stream.changes.iter().skip(skip).map(|change| match change {
            Change::Seen(object) => Event::Seen(object.clone()),
            Change::Gone(key, revision) => Event::Gone { key: key.clone(), revision: *revision },
        })
    }

    /// Drops the changes before a place: everybody has read them.
    pub(crate) fn forget_before(&mut self, kind: Kind, place: usize) {
        let stream = &mut self.streams[kind as usize];
        let count = place.saturating_sub(stream.dropped).min(stream.changes.len());
        stream.changes.drain(..count);
        stream.dropped += count;
    }
}
