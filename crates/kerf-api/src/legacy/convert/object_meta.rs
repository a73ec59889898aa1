//! What of an object's metadata its successor keeps.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::legacy::labels::OBSOLETE_ANNOTATIONS;

/// Adds name, labels, annotations and finalizers of `old` to `new`; nothing else survives. What
/// `new` says already stays.
pub(super) fn carry_over(old: &ObjectMeta, new: &mut ObjectMeta) {
    new.name.clone_from(&old.name);
    new.labels.clone_from(&old.labels);
    new.finalizers.clone_from(&old.finalizers);
    let mut annotations = old.annotations.clone().unwrap_or_default();
    annotations.retain(|key, _| !OBSOLETE_ANNOTATIONS.contains(&key.as_str()));
    annotations.extend(new.annotations.take().unwrap_or_default());
    new.annotations = Some(annotations).filter(|annotations| !annotations.is_empty());
}
