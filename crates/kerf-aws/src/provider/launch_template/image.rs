//! The image that an instance type is launched with.

use std::collections::BTreeSet;

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
    /// The labels that matter to any of them.
    keys: BTreeSet<String>,
    /// Each with what it asks of an instance type; nothing is launched with one that cannot be
    /// understood.
    images: Vec<(String, Requirements)>,
}

/// What images ask of instance types, each for itself.
pub(crate) type Asked = Vec<Vec<RequirementEntry>>;

/// What the images of a status ask for, whichever images these are; none while none is known.
pub(crate) fn asked(status: Option<&EC2NodeClassStatus>) -> Option<Asked> {
    let images = status?.amis.as_deref().filter(|images| !images.is_empty())?;
    Some(images.iter().filter_map(entries).collect())
}

impl Images {
    /// Those of a status.
    pub(crate) fn of(status: Option<&EC2NodeClassStatus>) -> Self {
        let images = status.and_then(|status| status.amis.as_ref()).into_iter().flatten();
        Self::new(images.filter_map(|image| Some((image.id.clone(), entries(image)?))))
    }

    /// Images that nothing is known of but what they ask for.
    pub(crate) fn asking(asked: &Asked) -> Self {
        Self::new(asked.iter().map(|entries| (String::new(), entries.clone())))
    }

    fn new(images: impl Iterator<Item = (String, Vec<RequirementEntry>)>) -> Self {
        let rules = LabelRules::core().with(&aws::provider_labels());
        let (mut vocabulary, mut keys) = (Vocabulary::new(), BTreeSet::new());
        let images = images.filter_map(|(id, entries)| {
            keys.extend(entries.iter().map(|entry| entry.key.clone()));
            let normalization = rules.normalization();
            let wanted = Requirements::from_entries(&entries, normalization, &mut vocabulary);
            Some((id, wanted.ok()?))
        });
        let images = images.collect();
        Self { rules, vocabulary, keys, images }
    }

    /// The first image that runs on a type with these labels. A label that is not named is one that
    /// the type does not have.
    pub(crate) fn for_type(&self, labels: &[RequirementEntry]) -> Option<&str> {
        let mut vocabulary = self.vocabulary.clone();
        let matter = labels.iter().filter(|label| self.keys.contains(&label.key));
        let labels: Vec<RequirementEntry> = matter.cloned().collect();
        let normalization = self.rules.normalization();
        let has = Requirements::from_entries(&labels, normalization, &mut vocabulary).ok()?;
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
