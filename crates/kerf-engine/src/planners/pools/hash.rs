//! The public hash of a pool's template, kept on the pool and its claims.

use super::Reconcile;
use crate::action::ActionKind;
use crate::planners::template_hash::{AGAIN_AFTER, TemplateHash};
use crate::reason::Reason;

/// Writes the hash on the pool. One of another version is first replaced on its claims.
pub(super) fn keep(reconcile: &mut Reconcile<'_>) {
    let Reconcile { world, pool, .. } = *reconcile;
    let hash = TemplateHash::of_pool(pool);
    if hash.is_in(&pool.annotations) {
        return;
    }
    let claims = world.claims_of(&pool.meta.name);
    let is_old = !hash.is_version_in(&pool.annotations);
    if is_old && hash.migrate(world, claims, &mut reconcile.decision) {
        reconcile.decision.wake(reconcile.now + AGAIN_AFTER);
        return;
    }
    let (name, revision) = (pool.meta.name.clone(), pool.meta.revision);
    let kind = ActionKind::PatchPool { name, revision, annotations: hash.annotations() };
    reconcile.decision.act(kind, Reason::PoolHashOutdated);
}
