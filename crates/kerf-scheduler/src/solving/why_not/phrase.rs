//! Requirements in words.

use kerf_model::labels::{aws, well_known};
use kerf_model::requirement::{Operator, Requirement};
use kerf_model::vocabulary::Vocabulary;

/// Values named before the rest are counted.
const VALUES_MAX: usize = 4;

/// What people call the values of a label, where they do not say "label".
pub(super) fn noun(key: &str) -> Option<&'static str> {
    Some(match key {
        well_known::ZONE => "zone",
        well_known::REGION => "region",
        well_known::INSTANCE_TYPE => "instance type",
        well_known::ARCH => "architecture",
        well_known::OS => "operating system",
        well_known::CAPACITY_TYPE => "capacity type",
        well_known::NODE_POOL => "NodePool",
        well_known::HOSTNAME => "node",
        aws::INSTANCE_FAMILY => "instance family",
        aws::INSTANCE_CATEGORY => "instance category",
        aws::INSTANCE_SIZE => "instance size",
        aws::ZONE_ID => "zone id",
        _ => return None,
    })
}

/// Several of them.
pub(super) fn nouns(key: &str) -> String {
    match noun(key) {
        Some("instance family") => "instance families".to_owned(),
        Some("instance category") => "instance categories".to_owned(),
        Some(noun) => format!("{noun}s"),
        None => format!("values of {key}"),
    }
}

/// What a pod asks for: `zone us-east-1a`, `the label team=blue`.
pub(super) fn asked(wanted: &Requirement, vocabulary: &Vocabulary) -> String {
    let key = vocabulary.key_text(wanted.key());
    let values = vocabulary.sorted_texts(wanted.key(), wanted.values());
    let bounds = wanted.bounds();
    if !bounds.is_open() {
        return format!("the label {key} of {}", bounded(wanted));
    }
    match (wanted.operator(), noun(key)) {
        (Operator::In, Some(noun)) => format!("{noun} {}", listed(&values, "or")),
        (Operator::In, None) if values.len() == 1 => format!("the label {key}={}", values[0]),
        (Operator::In, None) => format!("the label {key} ({})", listed(&values, "or")),
        (Operator::NotIn, Some(noun)) => {
            format!("another {noun} than {}", listed(&values, "and"))
        }
        (Operator::NotIn, None) => format!("a {key} other than {}", listed(&values, "and")),
        (Operator::DoesNotExist, _) => format!("nodes without the label {key}"),
        _ => format!("the label {key}"),
    }
}

/// What a pool allows: `c, m and r`, `at most 32`.
pub(super) fn allowed(own: &Requirement, vocabulary: &Vocabulary) -> String {
    let values = vocabulary.sorted_texts(own.key(), own.values());
    if !own.bounds().is_open() {
        return bounded(own);
    }
    match own.operator() {
        Operator::In => listed(&values, "and"),
        Operator::NotIn => format!("all but {}", listed(&values, "and")),
        Operator::DoesNotExist => "none".to_owned(),
        _ => "any".to_owned(),
    }
}

fn bounded(requirement: &Requirement) -> String {
    let bounds = requirement.bounds();
    match (bounds.gte, bounds.lte) {
        (Some(low), Some(high)) => format!("between {low} and {high}"),
        (Some(low), None) => format!("at least {low}"),
        (None, Some(high)) => format!("at most {high}"),
        (None, None) => String::new(),
    }
}

/// `a, b and c`; of many the first few.
pub(super) fn listed(values: &[&str], word: &str) -> String {
    match values {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] if values.len() <= VALUES_MAX => {
            format!("{} {word} {last}", most.join(", "))
        }
        _ => {
            let shown = VALUES_MAX - 1;
            format!("{} {word} {} more", values[..shown].join(", "), values.len() - shown)
        }
    }
}
