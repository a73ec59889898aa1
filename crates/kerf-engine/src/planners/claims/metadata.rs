//! What every claim carries: Kerf's finalizer and the label of its node class.

use kerf_model::labels::node_class_key;
use kerf_model::labels::well_known::TERMINATION_FINALIZER;

use super::work::Work;

/// Nothing is launched for a claim that could vanish: the finalizer comes first.
pub(super) fn pdb(work: &mut Work<'_>) {
    if !work.claim.is_guarded() {
        let mut finalizers = work.claim.finalizers.clone();
        finalizers.push(TERMINATION_FINALIZER.to_owned());
        work.patch.finalizers = Some(finalizers);
    }
}

/// Claims made by others or long ago may lack the label of their node class.
pub(super) fn hydrate(work: &mut Work<'_>) {
    let class = &work.claim.spec.node.node_class;
    let key = node_class_key(&class.group, &class.kind);
    if work.claim.label(&key).is_none() {
        work.patch.labels.insert(key, class.name.clone());
    }
}
