//! The public hash of a pool's template, kept on the pool and its claims.

use std::collections::BTreeMap;

use kerf_model::labels::annotation::{NODE_POOL_HASH, NODE_POOL_HASH_VERSION};

use super::Reconcile;
use crate::action::{ActionKind, MetadataPatch};
use crate::condition::claim::DRIFTED;
use crate::observed::Claim;
use crate::reason::Reason;
use crate::time::Span;

/// The hash function in use.
const VERSION: &str = "v3";
/// When to look again at claims whose annotations could not be written.
const AGAIN_AFTER: Span = Span::from_seconds(5);

/// Writes the hash on the pool. One of another version is first replaced on its claims, so that
/// no claim is taken for drifted because the function changed.
pub(super) fn keep(reconcile: &mut Reconcile<'_>) {
    let annotations = &reconcile.pool.annotations;
    let version = annotations.get(NODE_POOL_HASH_VERSION).map(String::as_str);
    let hash = &reconcile.pool.spec.hash;
    if version == Some(VERSION) && annotations.get(NODE_POOL_HASH) == Some(hash) {
        return;
    }
    if version != Some(VERSION) && migrate(reconcile) {
        reconcile.decision.wake(reconcile.now + AGAIN_AFTER);
        return;
    }
    let (name, revision) = (reconcile.pool.meta.name.clone(), reconcile.pool.meta.revision);
    let annotations = hash_annotations(hash);
    let kind = ActionKind::PatchPool { name, revision, annotations };
    reconcile.decision.act(kind, Reason::PoolHashOutdated);
}

/// Replaces the hash of claims that carry another version. Returns whether there were any.
fn migrate(reconcile: &mut Reconcile<'_>) -> bool {
    let is_old = |claim: &&Claim| {
        let version = claim.annotations().get(NODE_POOL_HASH_VERSION);
        version.is_none_or(|version| version != VERSION)
            && !claim.meta.is_deleting()
            && reconcile.world.is_supported(&claim.spec.node.node_class)
    };
    let claims: Vec<&Claim> =
        reconcile.world.claims_of(&reconcile.pool.meta.name).filter(is_old).collect();
    for claim in &claims {
        let mut annotations = hash_annotations(&reconcile.pool.spec.hash);
        // A claim that had drifted by the old hash has drifted still.
        if claim.status.conditions.get(DRIFTED).is_some() {
            annotations.remove(NODE_POOL_HASH);
        }
        let (name, revision) = (claim.meta.name.clone(), claim.meta.revision);
        let patch = MetadataPatch { annotations, ..MetadataPatch::default() };
        let kind = ActionKind::PatchClaim { name, revision, patch };
        reconcile.decision.act(kind, Reason::ClaimHashOutdated);
    }
    !claims.is_empty()
}

fn hash_annotations(hash: &str) -> BTreeMap<String, String> {
    let pairs = [(NODE_POOL_HASH, hash), (NODE_POOL_HASH_VERSION, VERSION)];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
