//! In which domain of a label a place is, as far as it is settled.

use kerf_model::labels::well_known;
use kerf_model::requirement::Requirement;

use crate::facts::{Facts, Place};

/// What is known of a place and a topology key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// The node has this value.
    Known(String),
    /// The node will have a value that one of these allows.
    Open(Vec<Requirement>),
    /// The node does not carry the label.
    Absent,
}

impl Domain {
    /// The domain of a place. A new node is a host of its own; any other key is known only if its
    /// requirements, with those of its pool, leave one value.
    pub(crate) fn of(facts: &Facts, place: Place, key: &str) -> Self {
        let key = facts.problem.settings.label_rules.normalization().key(key);
        match place {
            Place::Existing(node) => existing(facts, node, key),
            Place::New(node) if key == well_known::HOSTNAME => Self::Known(format!("new {node}")),
            Place::New(node) => new(facts, node, key),
        }
    }

    /// The value, if it is settled.
    pub(crate) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(value) => Some(value),
            Self::Open(_) | Self::Absent => None,
        }
    }

    /// Whether both may turn out to be the same.
    pub(crate) fn may_equal(&self, other: &Self, facts: &Facts) -> bool {
        let vocabulary = &facts.vocabulary;
        match (self, other) {
            (Self::Absent, _) | (_, Self::Absent) => false,
            (Self::Known(mine), Self::Known(theirs)) => mine == theirs,
            (Self::Known(value), Self::Open(open)) | (Self::Open(open), Self::Known(value)) => {
                open.iter().any(|each| each.has_text(value, vocabulary))
            }
            (Self::Open(mine), Self::Open(theirs)) => mine
                .iter()
                .any(|one| theirs.iter().any(|other| one.has_intersection(other, vocabulary))),
        }
    }
}

fn existing(facts: &Facts, node: usize, key: &str) -> Domain {
    let id = facts.vocabulary.find_key(key);
    let label = id.and_then(|id| Some((id, facts.nodes[node].find(id)?.single_value()?)));
    match label {
        Some((id, value)) => Domain::Known(facts.vocabulary.value_text(id, value).to_owned()),
        None if key == well_known::HOSTNAME => {
            Domain::Known(facts.problem.nodes[node].name.clone())
        }
        None => Domain::Absent,
    }
}

fn new(facts: &Facts, index: usize, key: &str) -> Domain {
    let Some(key) = facts.vocabulary.find_key(key) else { return Domain::Absent };
    let node = &facts.solution.new_nodes[index];
    let pool = &facts.pools[node.pool];
    // What pods ask for does not make a label: the pool has to define it, or the cloud.
    if !pool.template.contains(key) && !facts.well_known.contains(key) {
        return Domain::Absent;
    }
    let own = facts.new_nodes[index].get(key);
    if own.is_empty() {
        return Domain::Absent;
    }
    if let Some(value) = own.single_value() {
        return Domain::Known(facts.vocabulary.value_text(key, value).to_owned());
    }
    let types = node.options.iter().map(|option| &pool.types[option.instance_type].requirements);
    let open = types.map(|listed| own.intersection(&listed.get(key), &facts.vocabulary));
    Domain::Open(open.filter(|each| !each.is_empty()).collect())
}
