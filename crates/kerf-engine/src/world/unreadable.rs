//! Objects that are there and that nobody can read: unknown is not absent.

use super::World;
use crate::action::Subject;
use crate::observed::{Claim, Key, Kind, Name, Revision};

impl World {
    /// Takes in that an object is there but cannot be read, unless something newer is known. What
    /// was known of it stays. Returns whether it changed the world.
    pub(crate) fn set_aside(&mut self, key: &Key, revision: Revision) -> bool {
        let known = self.revision_of(key).or_else(|| self.tombstones.revision_of(key));
        if known.is_some_and(|known| known > revision) {
            return false;
        }
        self.unreadable.insert(key.clone(), revision).is_none()
    }

    /// The same of an object as it is known: it can be read, and nobody can make anything of it.
    pub(crate) fn set_aside_as_known(&mut self, key: &Key) {
        if let Some(revision) = self.revision_of(key) {
            self.unreadable.insert(key.clone(), revision);
        }
    }

    /// Takes back that nobody can make anything of an object as it is known.
    pub(crate) fn readmit(&mut self, key: &Key) {
        if self.unreadable.get(key).copied() == self.revision_of(key) {
            self.unreadable.remove(key);
        }
    }

    /// The objects of a kind that are there but cannot be read.
    pub fn unreadable(&self, kind: Kind) -> impl Iterator<Item = (&Key, Revision)> {
        let objects = self.unreadable.iter().filter(move |(key, _)| key.kind() == kind);
        objects.map(|(key, revision)| (key, *revision))
    }

    /// Whether an instance launched for this claim, or for one nobody remembers, may belong to a
    /// claim that cannot be read.
    pub(crate) fn may_be_of_unreadable_claim(&self, claim: Option<&Name>) -> bool {
        match claim {
            Some(claim) => self.unreadable.contains_key(&Key::Claim(claim.clone())),
            None => self.unreadable(Kind::Claim).next().is_some(),
        }
    }

    /// The node of a claim, where it is there but cannot be read.
    pub(crate) fn unreadable_node_of<'a>(&self, claim: &'a Claim) -> Option<&'a Name> {
        let node = claim.status.node_name.as_ref()?;
        self.unreadable.contains_key(&Key::Node(node.clone())).then_some(node)
    }

    /// Who waited for an object that could not be read.
    pub(crate) fn held_up_by(&self, key: &Key) -> Vec<Subject> {
        let Key::Node(node) = key else { return Vec::new() };
        if !self.unreadable.contains_key(key) {
            return Vec::new();
        }
        let claims = self.claims.values().filter(|it| it.status.node_name.as_ref() == Some(node));
        claims.map(|claim| Subject::Claim(claim.meta.name.clone())).collect()
    }
}
