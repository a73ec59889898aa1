//! The bit set against the standard library's sorted set.

use std::collections::BTreeSet;

use kerf_model::bitset::BitSet;
use proptest::prelude::*;

fn indexes() -> impl Strategy<Value = BTreeSet<u32>> {
    // Clusters far apart make windows that overlap, touch and miss each other.
    let index = prop_oneof![0..130_u32, 190..200_u32, 1_000..1_300_u32, Just(4_000_000)];
    proptest::collection::btree_set(index, 0..12)
}

fn bits(members: &BTreeSet<u32>) -> BitSet {
    members.iter().copied().collect()
}

/// Members agree and the storage is canonical, which equality would otherwise miss.
fn assert_same(actual: &BitSet, expected: &BTreeSet<u32>) {
    assert_eq!(actual.iter().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
    assert_eq!(actual, &bits(expected));
    assert_eq!(actual.count(), expected.len());
    assert_eq!(actual.is_empty(), expected.is_empty());
    assert_eq!(actual.min(), expected.first().copied());
}

proptest! {
    #[test]
    fn in_place_operations_agree_with_a_sorted_set(left in indexes(), right in indexes()) {
        let (a, b) = (bits(&left), bits(&right));
        let changed = |change: fn(&mut BitSet, &BitSet)| {
            let mut set = a.clone();
            change(&mut set, &b);
            set
        };
        assert_same(&changed(BitSet::and_with), &(&left & &right));
        assert_same(&changed(BitSet::and_not_with), &(&left - &right));
        assert_same(&changed(BitSet::or_with), &(&left | &right));
    }

    #[test]
    fn questions_agree_with_a_sorted_set(left in indexes(), right in indexes()) {
        let (a, b) = (bits(&left), bits(&right));
        prop_assert_eq!(a.intersects(&b), !left.is_disjoint(&right));
        prop_assert_eq!(a.is_subset(&b), left.is_subset(&right));
        prop_assert_eq!(a.intersection_count(&b), left.intersection(&right).count());
        prop_assert!(a.iter_and(&b).eq(left.intersection(&right).copied()));
        prop_assert!(a.iter_and_not(&b).eq(left.difference(&right).copied()));
        prop_assert!(right.iter().all(|index| a.contains(*index) == left.contains(index)));
    }

    #[test]
    fn insert_remove_and_retain_agree_with_a_sorted_set(
        start in indexes(),
        steps in proptest::collection::vec((any::<bool>(), 0..300_u32), 0..20),
    ) {
        let (mut set, mut expected) = (bits(&start), start);
        for (add, index) in steps {
            let (actual, wanted) = if add {
                (set.insert(index), expected.insert(index))
            } else {
                (set.remove(index), expected.remove(&index))
            };
            prop_assert_eq!(actual, wanted);
        }
        assert_same(&set, &expected);
        set.retain(|index| index % 3 == 0);
        expected.retain(|index| index % 3 == 0);
        assert_same(&set, &expected);
    }
}

#[test]
fn the_first_n_are_all_below_n() {
    for end in [0, 1, 63, 64, 65, 128, 1_000] {
        assert_same(&BitSet::first(end), &(0..end).collect());
    }
}
