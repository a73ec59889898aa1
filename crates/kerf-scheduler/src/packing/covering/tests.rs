//! The bound is proven again here, by means that share nothing with the code under test: exact
//! fleets, exact vertices, and programmes built around an optimum that is known beforehand.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Column, Cover, DUAL_PRICE_FRACTION_BITS, DualPrice, cover};

/// An instance type that owns its amounts.
#[derive(Clone, Debug)]
struct PoolInstanceType {
    cost_micros: u64,
    amounts: Vec<i64>,
}

fn instance_type(cost_micros: u64, amounts: &[i64]) -> PoolInstanceType {
    PoolInstanceType { cost_micros, amounts: amounts.to_vec() }
}

fn cover_by(instance_types: &[PoolInstanceType], demand: &[i64]) -> Option<Cover> {
    let columns: Vec<Column<'_>> = instance_types
        .iter()
        .map(|instance_type| Column {
            cost_micros: instance_type.cost_micros,
            amounts: &instance_type.amounts,
        })
        .collect();
    let cover = cover(&columns, demand)?;
    assert_eq!(cover.dual_prices.len(), demand.len());
    assert_eq!(cover.bound_micros, cover.value_micros(demand.iter().copied()));
    for instance_type in instance_types {
        assert_affordable(&cover, instance_type);
        assert!(
            cover.value_micros(instance_type.amounts.iter().copied()) <= instance_type.cost_micros
        );
    }
    Some(cover)
}

/// What a column offers is worth at most `cost · 2^64`, so a plain `u128` sum must hold it.
fn assert_affordable(cover: &Cover, instance_type: &PoolInstanceType) {
    let mut sum: u128 = 0;
    for (DualPrice(numerator), &amount) in cover.dual_prices.iter().zip(&instance_type.amounts) {
        let value = numerator.checked_mul(amount.max(0) as u128).expect("one row is affordable");
        sum = sum.checked_add(value).expect("all rows together are affordable");
    }
    assert!(sum <= u128::from(instance_type.cost_micros) << DUAL_PRICE_FRACTION_BITS);
}

fn bound(instance_types: &[PoolInstanceType], demand: &[i64]) -> Option<u64> {
    cover_by(instance_types, demand).map(|cover| cover.bound_micros)
}

/// What a bound may lose to rounding: one micro, and a share far below what prices resolve.
fn assert_near(bound_micros: u64, optimum_micros: u128) {
    let bound_micros = u128::from(bound_micros);
    assert!(bound_micros <= optimum_micros, "{bound_micros} is above {optimum_micros}");
    let slack_micros = 1 + optimum_micros / 1_000_000_000;
    assert!(bound_micros + slack_micros >= optimum_micros, "{bound_micros} of {optimum_micros}");
}

#[test]
fn the_bound_mixes_instance_types_where_that_is_cheaper() {
    // One instance type strong in cpu, one in memory: half of each row from either costs 2/3 + 2/3.
    let instance_types =
        [instance_type(1_000_000, &[2000, 1000]), instance_type(1_000_000, &[1000, 2000])];
    assert_near(bound(&instance_types, &[2000, 2000]).unwrap(), 1_333_333);
    // Cpu alone needs only the first, and then memory is worth nothing.
    let cover = cover_by(&instance_types, &[2000, 10]).unwrap();
    assert_near(cover.bound_micros, 1_000_000);
    assert_eq!(cover.dual_prices[1], DualPrice(0));
}

#[test]
fn odd_inputs_have_exact_answers() {
    let small = || instance_type(100, &[4, 8]);
    type Case<'a> = (&'a str, Vec<PoolInstanceType>, &'a [i64], Option<u64>);
    let cases: &[Case<'_>] = &[
        ("nothing demanded, nothing offered", vec![], &[], Some(0)),
        ("zero demand", vec![small()], &[0, 0], Some(0)),
        ("zero demand without columns", vec![], &[0, 0], Some(0)),
        ("negative demand", vec![small()], &[-4, i64::MIN], Some(0)),
        ("a demand without columns", vec![], &[1], None),
        ("a row that no column provides", vec![small()], &[1, 1, 1], None),
        ("a row that columns only name", vec![instance_type(1, &[4, 0])], &[4, 1], None),
        ("a row that columns take away", vec![instance_type(1, &[4, -2])], &[4, 1], None),
        ("negative amounts count as none", vec![instance_type(64, &[4, -2])], &[4, 0], Some(64)),
        (
            "negative amounts leave no room for others",
            vec![instance_type(64, &[4, 4, -2]), instance_type(100, &[0, 0, 8])],
            &[4, 4, 8],
            Some(164),
        ),
        ("one row", vec![instance_type(64, &[4]), instance_type(33, &[2])], &[6], Some(96)),
        ("a row the demand does not name", vec![small()], &[4], Some(100)),
        ("a part of an instance type", vec![small()], &[1, 1], Some(25)),
        ("everything for nothing", vec![small(), instance_type(0, &[1, 1])], &[4, 8], Some(0)),
        ("one row for nothing", vec![small(), instance_type(0, &[0, 1])], &[4, 99], Some(100)),
        (
            "an instance type of nothing",
            vec![small(), instance_type(0, &[0, 0])],
            &[4, 8],
            Some(100),
        ),
        ("duplicates", vec![small(), small(), small()], &[4, 8], Some(100)),
        ("less than a micro", vec![instance_type(1, &[1000])], &[999], Some(0)),
        ("beyond what micros can count", vec![instance_type(u64::MAX, &[1])], &[2], Some(u64::MAX)),
    ];
    for (name, instance_types, demand, expected) in cases {
        assert_eq!(bound(instance_types, demand), *expected, "{name}");
    }
}

#[test]
fn value_is_exact_and_stops_at_the_greatest_count() {
    let unit = 1 << DUAL_PRICE_FRACTION_BITS;
    let dual_prices = [DualPrice(unit / 2), DualPrice(3 * unit + unit / 4), DualPrice(u128::MAX)];
    let cover = Cover { bound_micros: 0, dual_prices: dual_prices.into_iter().collect() };
    for (amounts, expected) in [
        (vec![], 0),
        (vec![1], 0),
        (vec![3], 1),
        (vec![1, 2], 7),
        (vec![1, 1], 3),
        (vec![-9, 4], 13),
        (vec![0, i64::MAX / 4], 3 * (i64::MAX as u64 / 4) + (i64::MAX as u64 / 16)),
        (vec![0, 0, 1], u64::MAX),
        (vec![i64::MAX; 3], u64::MAX),
    ] {
        assert_eq!(cover.value_micros(amounts.iter().copied()), expected, "{amounts:?}");
    }
}

#[test]
fn value_does_not_go_round_past_the_end_of_its_sum() {
    // The first three are worth 2^128 - 1 micros; going round, five more would come out as four.
    let dual_prices =
        [DualPrice(u128::MAX), DualPrice(u128::MAX), DualPrice(u128::MAX), DualPrice(1 << 64)];
    let cover = Cover { bound_micros: 0, dual_prices: dual_prices.into_iter().collect() };
    assert_eq!(cover.value_micros([i64::MAX, i64::MAX, 2, 5]), u64::MAX);
}

#[test]
fn tied_columns_neither_cycle_nor_cost_quality() {
    // Every column is a multiple of one of eight unit instance types and all ratios tie.
    let instance_types: Vec<PoolInstanceType> = (0..400)
        .map(|index| {
            let size = 1 + index as i64 / 8;
            let row = |row| if row == index % 8 { 3 * size } else { size };
            instance_type(10 * size as u64, &(0..8).map(row).collect::<Vec<_>>())
        })
        .collect();
    // One of each unit instance type offers ten of every row for 80.
    assert_near(bound(&instance_types, &[1_000_000; 8]).unwrap(), 8_000_000);
}

#[test]
fn a_thousand_types_each_best_for_some_demand_are_told_apart() {
    // The cost is convex in the mix, so a demand between two neighbours is met best by those two.
    let cost = |cpu: u64| cpu * cpu + (1000 - cpu) * (1000 - cpu);
    let instance_types: Vec<PoolInstanceType> =
        (0..=1000).map(|cpu| instance_type(cost(cpu), &[cpu as i64, 1000 - cpu as i64])).collect();
    for cpu in (350..650).step_by(7) {
        let demand = [2 * cpu as i64 + 1, 1999 - 2 * cpu as i64];
        assert_near(bound(&instance_types, &demand).unwrap(), (cost(cpu) + cost(cpu + 1)).into());
    }
}

/// Amounts of a row: often none, else up to `greatest`.
fn amount(greatest: i64) -> impl Strategy<Value = i64> {
    prop_oneof![1 => Just(0), 4 => 1..=greatest]
}

/// Up to eight instance types in the units of cpu milli, memory bytes, and pods.
fn instance_types(rows: usize) -> impl Strategy<Value = Vec<PoolInstanceType>> {
    let amounts = (amount(200_000), amount(1 << 43), amount(1000));
    let costs = prop_oneof![1 => 0..=3u64, 9 => 1..=100_000_000u64];
    let one = (costs, amounts).prop_map(move |(cost_micros, (cpu, memory, pods))| {
        instance_type(cost_micros, &[cpu, memory, pods][..rows])
    });
    vec(one, 1..=8)
}

fn programme() -> impl Strategy<Value = (Vec<PoolInstanceType>, Vec<i64>)> {
    (1..=3usize).prop_flat_map(|rows| {
        let demand = (amount(10_000_000), amount(1 << 50), amount(100_000))
            .prop_map(move |(cpu, memory, pods)| vec![cpu, memory, pods][..rows].to_vec());
        (instance_types(rows), demand)
    })
}

/// The optimum of the dual by trying every vertex, rounded down; `None` without a bound.
///
/// A vertex lies on as many of the planes `Σ y · amount = cost` and `y_r = 0` as there are rows.
/// Cramer's rule gives its coordinates as exact fractions over one determinant; the largest number,
/// `6 · cost · Π amount · demand / amount`, stays below 10^37.
fn optimum_micros(instance_types: &[PoolInstanceType], demand: &[i64]) -> Option<u128> {
    let rows = demand.len();
    let provided =
        |row: usize| instance_types.iter().any(|instance_type| instance_type.amounts[row] > 0);
    if !(0..rows).all(|row| demand[row] == 0 || provided(row)) {
        return None;
    }
    // A row nobody demands is worth nothing in some optimum, so its axis may always be chosen.
    let mut planes: Vec<[i128; 4]> = (0..3).map(|axis| plane(&[], 0, Some(axis))).collect();
    planes.extend(
        instance_types
            .iter()
            .map(|instance_type| plane(&instance_type.amounts, instance_type.cost_micros, None)),
    );
    let mut best = 0;
    for first in 0..planes.len() {
        for second in 0..first {
            for third in 0..second {
                let vertex = vertex([planes[first], planes[second], planes[third]]);
                best = best
                    .max(vertex.and_then(|at| value_at(at, instance_types, demand)).unwrap_or(0));
            }
        }
    }
    Some(best)
}

/// Three coefficients and the right-hand side.
fn plane(amounts: &[i64], cost_micros: u64, axis: Option<usize>) -> [i128; 4] {
    let mut plane = [0, 0, 0, i128::from(cost_micros)];
    for (coefficient, &amount) in plane.iter_mut().zip(amounts) {
        *coefficient = amount.into();
    }
    if let Some(axis) = axis {
        plane[axis] = 1;
    }
    plane
}

/// Where three planes meet: three numerators over a positive denominator.
fn vertex(planes: [[i128; 4]; 3]) -> Option<([i128; 3], i128)> {
    let determinant = |columns: [usize; 3]| {
        let [a, b, c] = planes.map(|plane| columns.map(|column| plane[column]));
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let denominator = determinant([0, 1, 2]);
    let numerators = [determinant([3, 1, 2]), determinant([0, 3, 2]), determinant([0, 1, 3])];
    (denominator != 0)
        .then(|| (numerators.map(|number| number * denominator.signum()), denominator.abs()))
}

/// The worth of the demand at a vertex, if every instance type can afford that vertex.
fn value_at(
    (numerators, denominator): ([i128; 3], i128),
    instance_types: &[PoolInstanceType],
    demand: &[i64],
) -> Option<u128> {
    let dot = |amounts: &[i64]| -> i128 {
        numerators.iter().zip(amounts).map(|(number, &amount)| number * i128::from(amount)).sum()
    };
    let feasible = numerators.iter().all(|&number| number >= 0)
        && instance_types.iter().all(|instance_type| {
            dot(&instance_type.amounts) <= i128::from(instance_type.cost_micros) * denominator
        });
    feasible.then(|| (dot(demand) / denominator) as u128)
}

/// Dual prices, how many of each instance type used an optimal fleet has, and what the instance
/// types offer.
type Planted = (Vec<u64>, Vec<(Vec<i64>, u64, u64)>);

fn planted() -> impl Strategy<Value = Planted> {
    (1..=8usize).prop_flat_map(|rows| {
        let dual_prices = vec(prop_oneof![1 => Just(0), 4 => 1..=5000u64], rows);
        let amounts = vec(amount(1_000_000), rows);
        // No instances of a type in the fleet: it may cost more than it is worth.
        let count = prop_oneof![1 => 1..=1000u64, 3 => Just(0)];
        (dual_prices, vec((amounts, count, 0..=1_000_000u64), 1..=60))
    })
}

proptest! {
    #[test]
    fn the_bound_is_the_optimum_that_trying_every_vertex_finds((instance_types, demand) in programme()) {
        let found = bound(&instance_types, &demand);
        let optimum = optimum_micros(&instance_types, &demand);
        prop_assert_eq!(found.is_some(), optimum.is_some());
        if let (Some(found), Some(optimum)) = (found, optimum) {
            assert_near(found, optimum);
        }
    }

    #[test]
    fn no_fleet_that_meets_the_demand_costs_less_than_the_bound(
        instance_types in instance_types(3),
        counts in vec(0..=50i64, 8),
        kept_percent in vec(0..=100i64, 3),
    ) {
        let mut demand = vec![0i64; 3];
        let mut cost_micros: u128 = 0;
        for (instance_type, &count) in instance_types.iter().zip(&counts) {
            cost_micros += u128::from(instance_type.cost_micros) * count as u128;
            for (demand, &amount) in demand.iter_mut().zip(&instance_type.amounts) {
                *demand += amount * count;
            }
        }
        for (demand, &percent) in demand.iter_mut().zip(&kept_percent) {
            *demand = *demand / 100 * percent;
        }
        let bound = bound(&instance_types, &demand).expect("the fleet provides every row");
        prop_assert!(u128::from(bound) <= cost_micros, "{} of {}", bound, cost_micros);
    }

    /// Instance types of the fleet cost exactly what they are worth and meet the demand exactly, so
    /// fleet and dual prices prove each other optimal, whatever the size.
    #[test]
    fn the_bound_finds_an_optimum_that_was_planted((dual_prices, offerings) in planted()) {
        let rows = dual_prices.len();
        let mut demand = vec![0i64; rows];
        let mut optimum_micros: u128 = 0;
        let mut instance_types = Vec::new();
        for (amounts, count, surcharge) in &offerings {
            let value: u64 = amounts.iter().zip(&dual_prices).map(|(&a, &w)| a as u64 * w).sum();
            let cost_micros = if *count > 0 { value } else { value + surcharge };
            optimum_micros += u128::from(cost_micros) * u128::from(*count);
            for (demand, &amount) in demand.iter_mut().zip(amounts) {
                *demand += amount * *count as i64;
            }
            instance_types.push(instance_type(cost_micros, amounts));
        }
        assert_near(bound(&instance_types, &demand).expect("the fleet provides it"), optimum_micros);
    }

    #[test]
    fn numbers_of_any_size_give_a_valid_bound(
        instance_types in vec((any::<u64>(), 0..64u32, vec((any::<i64>(), 0..64u32), 0..=9)), 0..=20),
        demand in vec((any::<i64>(), 0..64u32), 0..=9),
    ) {
        // Shifting spreads the numbers evenly over all magnitudes.
        let spread = |numbers: &[(i64, u32)]| -> Vec<i64> {
            numbers.iter().map(|&(number, bits)| number >> bits).collect()
        };
        let instance_types: Vec<PoolInstanceType> = instance_types
            .iter()
            .map(|(cost, bits, amounts)| instance_type(cost >> bits, &spread(amounts)))
            .collect();
        let demand = spread(&demand);
        let provided = |row: usize| {
            instance_types.iter().any(|instance_type| instance_type.amounts.get(row).is_some_and(|&a| a > 0))
        };
        let possible = (0..demand.len()).all(|row| demand[row] <= 0 || provided(row));
        prop_assert_eq!(bound(&instance_types, &demand).is_some(), possible);
    }

    #[test]
    fn one_huge_row_is_priced_within_the_rounding_of_a_float(
        cost_micros in 1..=u64::MAX,
        amount in (i64::MAX / 8)..=(i64::MAX / 4),
        demand in (i64::MAX / 8)..=(i64::MAX / 4),
    ) {
        let exact = u128::from(cost_micros) * demand as u128 / amount as u128;
        let found = bound(&[instance_type(cost_micros, &[amount])], &[demand]).unwrap();
        assert_near(found, exact.min(u128::from(u64::MAX)));
    }
}
