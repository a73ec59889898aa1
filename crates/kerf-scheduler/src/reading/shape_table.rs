//! Shapes of pods that stand on nodes, each read once for as long as it is kept.

use std::sync::Arc;

use kerf_model::pod::PodShape;
use kerf_model::selector::LabelSet;
use kerf_model::vocabulary::Vocabulary;

use crate::reading::shapes::Shapes;

/// Shapes by number, with their labels.
#[derive(Default)]
pub(crate) struct ShapeTable {
    shapes: Shapes,
    labels: Vec<LabelSet>,
}

impl ShapeTable {
    /// The number of a shape.
    pub(crate) fn number(&mut self, shape: &Arc<PodShape>, pod_labels: &mut Vocabulary) -> u32 {
        let number = self.shapes.number(shape);
        if number == self.labels.len() {
            let labels = shape.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            self.labels.push(LabelSet::intern(labels, pod_labels));
        }
        u32::try_from(number).expect("fewer than 2³² shapes")
    }

    pub(crate) fn shape(&self, number: usize) -> &Arc<PodShape> {
        self.shapes.get(number)
    }

    pub(crate) fn labels(&self, number: usize) -> &LabelSet {
        &self.labels[number]
    }

    pub(crate) fn held(&self) -> usize {
        self.shapes.held()
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }
}
