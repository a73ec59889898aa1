//! What an answer was asked for.

use std::sync::Arc;

use kerf_engine::observed::NodeClass;

/// A node class with the spec it had: an answer for another spec is none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassKey {
    pub(super) uid: Arc<str>,
    pub(super) generation: i64,
}

impl ClassKey {
    pub(super) fn of(class: &NodeClass) -> Self {
        Self { uid: class.meta.uid.clone(), generation: class.meta.generation }
    }
}
