//! The image that an instance type is launched with.

use kerf_api::ec2_node_class::{Ami, EC2NodeClassStatus};
use kerf_model::labels::{LabelRules, aws};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeySet, Vocabulary};

/// The images of a node class, in the order of its status, ready to be compared.
#[derive(Clone, Debug)]
pub(crate) struct Images {
    rules: LabelRules,
    vocabulary: Vocabulary,
    /// Each with what it asks of an instance type; nothing is launched with one that cannot be
    /// understood.
    images: Vec<(String, Requirements)>,
}

impl Images {
    /// Those of a status.
    pub(crate) fn of(status: Option<&EC2NodeClassStatus>) -> Self {
        let rules = LabelRules::core().with(&aws::provider_labels());
        let mut vocabulary = Vocabulary::new();
        let images = status.and_then(|status| status.amis.as_ref()).into_iter().flatten();
        let read = |image: &Ami| {
            let entries = entries(image)?;
            let wanted =
                Requirements::from_entries(&entries, rules.normalization(), &mut vocabulary);
            Some((image.id.clone(), wanted.ok()?))
        };
        let images = images.filter_map(read).collect();
        Self { rules, vocabulary, images }
    }

    /// The first image that runs on a type with these labels. A label that is not named is one that
    /// the type does not have.
    pub(crate) fn for_type(&self, labels: &[RequirementEntry]) -> Option<&str> {
        let mut vocabulary = self.vocabulary.clone();
        let normalization = self.rules.normalization();
        let has = Requirements::from_entries(labels, normalization, &mut vocabulary).ok()?;
        let runs = |wanted: &Requirements| has.compatible(wanted, &KeySet::default(), &vocabulary);
        self.images.iter().find(|(_, wanted)| runs(wanted)).map(|(id, _)| id.as_str())
    }
}

/// What an image asks for; none if an operator is unknown.
fn entries(image: &Ami) -> Option<Vec<RequirementEntry>> {
    let entry = |entry: &kerf_api::Requirement| {
        let operator: Operator = entry.operator.parse().ok()?;
        let values = entry.values.iter().flatten().map(String::as_str);
        Some(RequirementEntry::new(&entry.key, operator, values))
    };
    image.requirements.iter().map(entry).collect()
}
