//! Which announcements about the instance are under way: a node is opened again when the last of
//! them is over.

use std::collections::BTreeSet;

/// Ids that are kept. An instance has a handful of announcements in its life.
const KEPT_MAX: usize = 1_000;

/// Announcements about one instance, by id.
#[derive(Clone, Debug, Default)]
pub struct ActiveEvents {
    active: BTreeSet<String>,
    ignored: BTreeSet<String>,
}

/// What it means that an announcement is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: it was not under way.
    Unknown,
    /// Another is under way, so nothing is opened.
    OthersActive,
    /// It was the last.
    Last,
}

impl ActiveEvents {
    /// Notes that an announcement is under way. False if it is to be ignored.
    pub fn begin(&mut self, id: &str) -> bool {
        if self.ignored.contains(id) {
            return false;
        }
        insert(&mut self.active, id);
        true
    }

    /// Notes that an announcement is over.
    pub fn end(&mut self, id: &str) -> Ending {
        match self.active.remove(id) {
            false => Ending::Unknown,
            true if self.active.is_empty() => Ending::Last,
            true => Ending::OthersActive,
        }
    }

    /// Ignores an announcement from now on: the reboot it is about is over.
    pub fn ignore(&mut self, id: &str) {
        self.active.remove(id);
        insert(&mut self.ignored, id);
    }
}

fn insert(ids: &mut BTreeSet<String>, id: &str) {
    if !ids.contains(id) && ids.len() >= KEPT_MAX {
        ids.pop_first();
    }
    ids.insert(id.to_owned());
}
