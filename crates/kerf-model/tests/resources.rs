//! Several resources at once, by name and by id.

use kerf_model::quantity::Quantity;
use kerf_model::resources::{
    CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceId, ResourceList, ResourceNames, ResourceVector,
};
use proptest::prelude::*;

fn list(entries: &[(&str, &str)]) -> ResourceList {
    let quantity = |text: &str| Quantity::parse(text).expect("tests write quantities");
    entries.iter().map(|(name, text)| (*name, quantity(text))).collect()
}

fn text(list: &ResourceList) -> String {
    let entries: Vec<String> = list.iter().map(|(name, q)| format!("{name}={q}")).collect();
    entries.join(" ")
}

#[test]
fn adding_joins_the_names_and_sums_what_both_have() {
    let mut sum = list(&[("cpu", "500m"), ("memory", "1Gi")]);
    sum.add(&list(&[("cpu", "1"), ("pods", "1")]));
    assert_eq!(text(&sum), "cpu=1500m memory=1Gi pods=1");
}

#[test]
fn raising_takes_the_larger_of_each() {
    let mut most = list(&[("cpu", "500m"), ("memory", "1Gi")]);
    most.raise_to(&list(&[("cpu", "1"), ("memory", "1G"), ("pods", "1")]));
    assert_eq!(text(&most), "cpu=1 memory=1Gi pods=1");
}

#[test]
fn subtracting_leaves_names_alone_that_are_not_there() {
    let mut left = list(&[("cpu", "2"), ("memory", "1Gi")]);
    left.subtract(&list(&[("cpu", "2500m"), ("pods", "1")]));
    assert_eq!(text(&left), "cpu=-500m memory=1Gi");
}

#[test]
fn filling_keeps_what_is_there_even_zero() {
    let mut requests = list(&[("cpu", "0")]);
    requests.fill_missing(&list(&[("cpu", "2"), ("memory", "1Gi")]));
    assert_eq!(text(&requests), "cpu=0 memory=1Gi");
}

type Entries = &'static [(&'static str, &'static str)];

/// Wanted, available, fits.
const FITS: &[(Entries, Entries, bool)] = &[
    (&[], &[], true),
    (&[("cpu", "1")], &[("cpu", "1")], true),
    (&[("cpu", "1001m")], &[("cpu", "1")], false),
    (&[("cpu", "1")], &[("memory", "1Gi")], false),
    (&[("gpu", "0")], &[("cpu", "1")], true),
    (&[("cpu", "1")], &[("cpu", "2"), ("memory", "-1")], false),
    (&[], &[("pods", "-1")], false),
    (&[("memory", "1Gi")], &[("memory", "1073741824")], true),
];

#[test]
fn a_request_fits_where_each_amount_is_available_and_none_is_overdrawn() {
    for (wanted, available, fits) in FITS {
        let [wanted, available] = [list(wanted), list(available)];
        assert_eq!(wanted.fits(&available), *fits, "{wanted:?} in {available:?}");
        let mut names = ResourceNames::new();
        let [wanted, available] =
            [wanted, available].map(|list| ResourceVector::from_list(&list, &mut names));
        assert_eq!(wanted.fits(&available), *fits, "{wanted:?} in {available:?}");
    }
}

#[test]
fn a_sum_beyond_the_range_stays_at_its_end_and_fits_nowhere() {
    let huge = list(&[("cpu", "100000000000E")]);
    let mut sum = huge.clone();
    sum.add(&huge);
    assert!(!sum.fits(&huge));
}

#[test]
fn the_usual_resources_have_the_same_id_in_every_table() {
    let mut names = ResourceNames::default();
    let gpu = names.intern("nvidia.com/gpu");
    for (name, id) in [
        (CPU, ResourceId::CPU),
        (MEMORY, ResourceId::MEMORY),
        (EPHEMERAL_STORAGE, ResourceId::EPHEMERAL_STORAGE),
        (PODS, ResourceId::PODS),
        ("nvidia.com/gpu", gpu),
    ] {
        assert_eq!(names.intern(name), id);
        assert_eq!(names.id(name), Some(id));
        assert_eq!(names.name(id), Some(name));
    }
    assert_eq!(names.len(), 5);
    assert_eq!(names.id("amd.com/gpu"), None);
    assert_eq!(ResourceNames::new().name(gpu), None);
}

#[test]
fn a_vector_becomes_a_list_again_without_its_zeros() {
    let mut names = ResourceNames::new();
    let before =
        list(&[("cpu", "1500m"), ("example.com/card", "2"), ("memory", "1Gi"), ("pods", "0")]);
    let vector = ResourceVector::from_list(&before, &mut names);
    assert_eq!(vector.nanos(ResourceId::CPU), 1_500_000_000);
    let after = vector.to_list(&names);
    assert_eq!(text(&after), "cpu=1500m example.com/card=2 memory=1Gi");
}

#[test]
fn vectors_are_equal_by_amount_whatever_their_length() {
    let mut long = ResourceVector::new();
    long.set(ResourceId::PODS, 0);
    assert_eq!(long, ResourceVector::new());
    assert!(long.is_zero());
    long.set(ResourceId::PODS, 1);
    assert_ne!(long, ResourceVector::new());
    assert!(!long.is_zero());
}

fn any_list() -> impl Strategy<Value = ResourceList> {
    let names = prop::sample::select(vec![CPU, MEMORY, EPHEMERAL_STORAGE, PODS, "a/x", "b/y"]);
    let quantity = (-3..20i64).prop_map(Quantity::from_milli);
    prop::collection::btree_map(names, quantity, 0..6).prop_map(|map| map.into_iter().collect())
}

proptest! {
    #[test]
    fn vectors_compute_what_lists_compute(a in any_list(), b in any_list(), c in any_list()) {
        let mut names = ResourceNames::new();
        let mut vector = |list: &ResourceList| ResourceVector::from_list(list, &mut names);
        let [va, vb, vc] = [&a, &b, &c].map(&mut vector);
        let mut sum = a.clone();
        sum.add(&b);
        let mut vsum = va.clone();
        vsum.add(&vb);
        prop_assert_eq!(&vector(&sum), &vsum);
        prop_assert_eq!(sum.fits(&c), vsum.fits(&vc));
        // A list tells absent from zero, so the difference is compared where both know the names.
        let mut difference = sum.clone();
        difference.subtract(&b);
        vsum.subtract(&vb);
        prop_assert_eq!(&vector(&difference), &vsum);
        prop_assert_eq!(&vsum, &va);
    }

    #[test]
    fn the_larger_of_each_is_at_least_both(a in any_list(), b in any_list()) {
        let mut names = ResourceNames::new();
        let [va, vb] = [&a, &b].map(|list| ResourceVector::from_list(list, &mut names));
        let mut most = va.clone();
        most.raise_to(&vb);
        for (id, _) in names.iter() {
            prop_assert_eq!(most.nanos(id), va.nanos(id).max(vb.nanos(id)));
        }
    }

    #[test]
    fn what_fits_still_fits_when_more_is_available(
        a in any_list(),
        b in any_list(),
        more in 0..9i64,
    ) {
        let mut roomier = b.clone();
        roomier.add(&b.iter().map(|(name, _)| (name, Quantity::from_milli(more))).collect());
        prop_assert!(!a.fits(&b) || a.fits(&roomier));
    }
}
