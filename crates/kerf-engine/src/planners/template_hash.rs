//! The public hashes that tell whether a claim was made from what its pool or node class says now.
//! They are kept as annotations, with the version of the function that made them.

use std::collections::BTreeMap;

use kerf_model::labels::annotation::{NODE_POOL_HASH, NODE_POOL_HASH_VERSION};

use crate::action::{ActionKind, MetadataPatch};
use crate::condition::claim::DRIFTED;
use crate::decision::Decision;
use crate::observed::{Claim, Pool};
use crate::reason::Reason;
use crate::time::Span;
use crate::world::World;

/// When to look again at claims whose annotations could not be written.
pub(super) const AGAIN_AFTER: Span = Span::from_seconds(5);

/// The function that makes a pool's hash.
const POOL_HASH_VERSION: &str = "v3";

/// A hash and the annotations it is kept in.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemplateHash<'a> {
    pub(super) key: &'a str,
    pub(super) hash: &'a str,
    pub(super) version_key: &'a str,
    /// The version of the hash function in use.
    pub(super) version: &'a str,
}

impl<'a> TemplateHash<'a> {
    /// The hash of a pool's template.
    pub(super) fn of_pool(pool: &'a Pool) -> Self {
        Self {
            key: NODE_POOL_HASH,
            hash: &pool.spec.hash,
            version_key: NODE_POOL_HASH_VERSION,
            version: POOL_HASH_VERSION,
        }
    }

    /// Whether these annotations carry it.
    pub(super) fn is_in(self, annotations: &BTreeMap<String, String>) -> bool {
        let has = |key: &str, value: &str| annotations.get(key).is_some_and(|it| it == value);
        has(self.key, self.hash) && has(self.version_key, self.version)
    }

    /// The annotations that carry it.
    pub(super) fn annotations(self) -> BTreeMap<String, String> {
        let pairs = [(self.key, self.hash), (self.version_key, self.version)];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// Whether these annotations carry another hash, made by the same function.
    pub(super) fn differs_in(self, annotations: &BTreeMap<String, String>) -> bool {
        let hash = annotations.get(self.key).filter(|_| self.is_version_in(annotations));
        hash.is_some_and(|hash| hash != self.hash)
    }

    /// Whether these annotations carry a hash by the function in use, be it the same or not.
    pub(super) fn is_version_in(self, annotations: &BTreeMap<String, String>) -> bool {
        annotations.get(self.version_key).is_some_and(|version| version == self.version)
    }

    /// Replaces the hash of claims that carry another version, so that none is taken for drifted
    /// because the function changed. Returns whether there were any.
    pub(super) fn migrate<'c>(
        self,
        world: &World,
        claims: impl Iterator<Item = &'c Claim>,
        decision: &mut Decision,
    ) -> bool {
        let mut any = false;
        for claim in claims {
            if self.is_version_in(claim.annotations())
                || claim.meta.is_deleting()
                || !world.is_supported(&claim.spec.node.node_class)
            {
                continue;
            }
            any = true;
            let mut annotations = self.annotations();
            // A claim that had drifted by the old hash has drifted still.
            if claim.status.conditions.get(DRIFTED).is_some() {
                annotations.remove(self.key);
            }
            let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
            let patch = MetadataPatch { annotations, ..MetadataPatch::default() };
            let kind = ActionKind::PatchClaim { name, revision, patch };
            decision.act(kind, Reason::ClaimHashOutdated);
        }
        any
    }
}
