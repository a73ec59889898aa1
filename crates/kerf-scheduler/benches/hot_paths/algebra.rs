//! The requirement algebra, on what 400 instance types offer and what pods ask of them.

use std::hint::black_box;
use std::sync::Arc;

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{Normalization, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeySet, Vocabulary};

use crate::workload;

/// What a pod asks of a node: key, operator, values.
type Ask = (&'static str, Operator, &'static [&'static str]);

/// One row for each pod; every operator and every way to agree and to disagree.
const ASKS: [&[Ask]; 8] = [
    &[(well_known::ZONE, Operator::In, &["test-zone-1", "test-zone-3"])],
    &[(well_known::ZONE, Operator::NotIn, &["test-zone-2"]), ("integer", Operator::Gt, &["16"])],
    &[("integer", Operator::Gte, &["4"]), ("integer", Operator::Lte, &["64"])],
    &[("size", Operator::Exists, &[]), (well_known::ARCH, Operator::In, &["amd64", "arm64"])],
    &[("special", Operator::DoesNotExist, &[]), (well_known::OS, Operator::In, &["linux"])],
    &[(well_known::INSTANCE_TYPE, Operator::In, &["fake-it-7", "fake-it-200", "fake-it-399"])],
    &[("integer", Operator::Lt, &["8"]), (well_known::CAPACITY_TYPE, Operator::In, &["spot"])],
    &[("team", Operator::NotIn, &["blue"]), ("rack", Operator::Exists, &[])],
];

/// Both sides as numbers, with the vocabulary that gives them a meaning.
struct Sides {
    vocabulary: Vocabulary,
    instance_types: Vec<Requirements>,
    pods: Vec<Requirements>,
    undefined: KeySet,
}

/// The work of a name, if it is one of these.
pub(crate) fn work(name: &str) -> Option<Box<dyn FnMut()>> {
    let problem = workload::problem("replicas-1").expect("a workload of that name");
    let types: Arc<[InstanceType]> = problem.pools[0].instance_types.clone();
    match name {
        "requirements-intern" => Some(Box::new(move || {
            black_box(read(&types));
        })),
        "requirements-narrow" => {
            let sides = read(&types);
            Some(Box::new(move || narrow_all(&sides)))
        }
        "requirements-conflict" => {
            let sides = read(&types);
            Some(Box::new(move || {
                black_box(count_conflicts(&sides));
            }))
        }
        _ => None,
    }
}

fn read(types: &[InstanceType]) -> Sides {
    let normalization = Normalization::core();
    let mut vocabulary = Vocabulary::new();
    let mut set = |entries: &[RequirementEntry]| {
        Requirements::from_entries(entries, &normalization, &mut vocabulary)
            .expect("every bound above is an integer")
    };
    let instance_types = types.iter().map(|one| set(&one.requirements)).collect();
    let entry = |(key, operator, values): &Ask| {
        RequirementEntry::new(key, *operator, values.iter().copied())
    };
    let pods = ASKS.map(|asks| set(&asks.iter().map(entry).collect::<Vec<_>>())).into();
    Sides { vocabulary, instance_types, pods, undefined: KeySet::new() }
}

/// Every instance type narrowed to what every pod leaves of it.
fn narrow_all(sides: &Sides) {
    for instance_type in &sides.instance_types {
        for pod in &sides.pods {
            let mut left = instance_type.clone();
            left.narrow(pod, &sides.vocabulary);
            black_box(&left);
        }
    }
}

/// How many pairs of an instance type and a pod do not go together.
fn count_conflicts(sides: &Sides) -> usize {
    let pairs =
        sides.instance_types.iter().flat_map(|one| sides.pods.iter().map(move |pod| (one, pod)));
    let conflict = |(instance_type, pod): &(&Requirements, &Requirements)| {
        instance_type.conflict(pod, &sides.undefined, &sides.vocabulary).is_some()
    };
    pairs.filter(conflict).count()
}
