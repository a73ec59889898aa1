//! Which instance types a replacement may be so that it is cheaper, whatever the launch brings.
//!
//! A launch may become any instance type and offering that it names. So it names only those that
//! cost less than what is removed even at the most expensive offering of the capacity type that is
//! tried first.

use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::well_known;
use kerf_model::min_values::review_min_values;
use kerf_model::price::Price;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::vocabulary::{KeyId, Vocabulary};
use kerf_scheduler::{NewNode, PlacementProblem, TypeOption};

use crate::kept::Kept;

/// The capacity types in the order a launch tries them.
const TIERS: [&str; 3] = [well_known::RESERVED, well_known::SPOT, well_known::ON_DEMAND];
/// So many instance types must be cheaper before one spot node replaces another: with fewer the
/// replacement is likely to be interrupted soon, or to be replaced again.
const SPOT_TO_SPOT_TYPES_MIN: usize = 15;

/// What the nodes that go have in common.
#[derive(Clone, Debug)]
pub(crate) struct Removed<'a> {
    pub(crate) count: usize,
    /// What they cost together.
    pub(crate) price: Price,
    pub(crate) all_spot: bool,
    /// The instance type and price of each.
    pub(crate) types: Vec<(&'a str, Price)>,
}

/// An instance type that a launch may be.
#[derive(Clone, Copy, Debug)]
struct Choice {
    option: TypeOption,
    tier: usize,
    worst: Price,
}

/// A launch with its instance types cut down.
#[derive(Clone, Debug)]
pub(crate) struct Narrowed {
    pub(crate) node: NewNode,
    pub(crate) worst: Price,
}

/// Cuts launches down to what is cheaper than the nodes they replace.
pub(crate) fn narrow(
    problem: &PlacementProblem,
    launches: &[NewNode],
    removed: &Removed<'_>,
    spot_to_spot: bool,
) -> Result<Vec<Narrowed>, Kept> {
    let mut reader = Reader { problem, vocabulary: Vocabulary::new() };
    let wanted: Vec<Requirements> =
        launches.iter().map(|node| reader.read(&node.requirements)).collect();
    let is_spot_to_spot =
        removed.all_spot && wanted.iter().any(|wanted| reader.allows(wanted, well_known::SPOT));
    if is_spot_to_spot && !spot_to_spot {
        return Err(Kept::SpotToSpotOff);
    }
    let tiers = if is_spot_to_spot { &TIERS[1..2] } else { &TIERS[..] };
    let mut choices: Vec<Vec<Choice>> = launches
        .iter()
        .zip(&wanted)
        .map(|(node, wanted)| reader.choices(node, wanted, tiers))
        .collect();
    keep_cheaper(&mut choices, removed.price)?;
    for ((node, wanted), choices) in launches.iter().zip(&wanted).zip(&mut choices) {
        let types = &problem.pools[node.pool].instance_types;
        if removed.count > 1 {
            drop_same_types(choices, types, removed)?;
        }
        let allows = |paid| reader.allows(wanted, paid);
        if allows(well_known::SPOT) && (allows(well_known::ON_DEMAND) || is_spot_to_spot) {
            let first = choices.iter().map(|choice| choice.tier).min();
            choices.retain(|choice| Some(choice.tier) == first);
        }
        let needed = reader.check_min_values(node, wanted, choices)?;
        if is_spot_to_spot && removed.count == 1 {
            let (found, most) = (choices.len(), needed.max(SPOT_TO_SPOT_TYPES_MIN));
            if found < SPOT_TO_SPOT_TYPES_MIN {
                return Err(Kept::TooFewTypes { found, needed: SPOT_TO_SPOT_TYPES_MIN });
            }
            choices.truncate(most);
        }
    }
    let narrowed = launches.iter().zip(choices);
    Ok(narrowed.map(|(node, choices)| narrowed_to(problem, node, &choices, tiers)).collect())
}

/// Keeps instance types with which all launches together cost less than so much, at worst. What
/// several launches leave of it is shared out in proportion to the cheapest of each.
fn keep_cheaper(choices: &mut [Vec<Choice>], price: Price) -> Result<(), Kept> {
    let micros = |price: Price| u128::from(price.micros_per_hour());
    let least = |choices: &Vec<Choice>| choices.iter().map(|choice| micros(choice.worst)).min();
    let Some(leasts) = choices.iter().map(least).collect::<Option<Vec<u128>>>() else {
        return Err(Kept::TooFewTypes { found: 0, needed: 1 });
    };
    let together: u128 = leasts.iter().sum();
    let Some(slack) = micros(price).checked_sub(together).filter(|slack| *slack > 0) else {
        let best = u64::try_from(together).unwrap_or(u64::MAX);
        return Err(Kept::NotCheaper { price, best: Price::from_micros_per_hour(best) });
    };
    let is_single = choices.len() == 1;
    for (choices, least) in choices.iter_mut().zip(leasts) {
        choices.retain(|choice| {
            let more = micros(choice.worst) - least;
            more == 0 || if is_single { more < slack } else { more * together < slack * least }
        });
    }
    Ok(())
}

/// Where a replacement could be of a type that is removed, only instance types stay that are
/// cheaper than the cheapest such node: otherwise that node could stay itself.
fn drop_same_types(
    choices: &mut Vec<Choice>,
    types: &[InstanceType],
    removed: &Removed<'_>,
) -> Result<(), Kept> {
    let offered: Vec<&str> =
        choices.iter().map(|choice| types[choice.option.instance_type].name.as_str()).collect();
    let same = removed.types.iter().filter(|(name, _)| offered.contains(name));
    let Some(limit) = same.map(|(_, price)| *price).min() else { return Ok(()) };
    let best = choices.iter().map(|choice| choice.worst).min().unwrap_or(Price::ZERO);
    choices.retain(|choice| choice.worst < limit);
    if choices.is_empty() {
        return Err(Kept::NotCheaper { price: removed.price, best });
    }
    Ok(())
}

/// The launch with these instance types and no others.
fn narrowed_to(
    problem: &PlacementProblem,
    node: &NewNode,
    choices: &[Choice],
    tiers: &[&str],
) -> Narrowed {
    let types = &problem.pools[node.pool].instance_types;
    let mut names: Vec<&str> =
        choices.iter().map(|choice| types[choice.option.instance_type].name.as_str()).collect();
    names.sort_unstable();
    let mut node = NewNode {
        pods: Vec::new(),
        options: choices.iter().map(|choice| choice.option).collect(),
        ..node.clone()
    };
    set(&mut node.requirements, well_known::INSTANCE_TYPE, &names);
    let mut paid: Vec<usize> = choices.iter().map(|choice| choice.tier).collect();
    paid.sort_unstable();
    paid.dedup();
    if let [tier] = paid[..] {
        set(&mut node.requirements, well_known::CAPACITY_TYPE, &[tiers[tier]]);
    }
    let worst = choices.iter().map(|choice| choice.worst).max().unwrap_or(Price::ZERO);
    Narrowed { node, worst }
}

/// Replaces the values of a key, which keeps its `minValues`.
fn set(requirements: &mut Vec<RequirementEntry>, key: &str, values: &[&str]) {
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    let min_values = requirements.iter().find(|it| it.key == key).and_then(|it| it.min_values);
    requirements.retain(|entry| entry.key != key);
    let entry =
        RequirementEntry { key: key.to_owned(), operator: Operator::In, values, min_values };
    let place = requirements.partition_point(|known| known.key.as_str() < key);
    requirements.insert(place, entry);
}

/// Reads requirements of one problem.
struct Reader<'a> {
    problem: &'a PlacementProblem,
    vocabulary: Vocabulary,
}

impl Reader<'_> {
    /// What has no meaning asks for nothing: the scheduler made these of what it understood.
    fn read<'e>(
        &mut self,
        entries: impl IntoIterator<Item = &'e RequirementEntry>,
    ) -> Requirements {
        let normalization = self.problem.settings.label_rules.normalization();
        let read = Requirements::from_entries(entries, normalization, &mut self.vocabulary);
        read.unwrap_or_default()
    }

    fn allows(&self, wanted: &Requirements, capacity_type: &str) -> bool {
        let wanted = wanted.find(KeyId::CAPACITY_TYPE);
        wanted.is_none_or(|wanted| wanted.has_text(capacity_type, &self.vocabulary))
    }

    /// What each instance type of a launch costs at best and at worst, cheapest first; those that
    /// are not sold in any of the tiers are left out.
    fn choices(&mut self, node: &NewNode, wanted: &Requirements, tiers: &[&str]) -> Vec<Choice> {
        let types = &self.problem.pools[node.pool].instance_types;
        // Clouds sell all their types in the same few ways, so these lists are shared.
        let mut known: Vec<(usize, bool, Option<usize>)> = Vec::new();
        let mut choices: Vec<Choice> = Vec::with_capacity(node.options.len());
        for option in &node.options {
            let offerings = &types[option.instance_type].offerings;
            let mut best: Option<(usize, usize, Price, Price)> = None;
            // Where the scheduler did not count on a reservation, what is left of it is promised.
            let may_reserve = offerings[option.offering].reservation.is_some();
            let can_be_had =
                |it: &Offering| is_launchable(it) && (may_reserve || it.reservation.is_none());
            for (index, offering) in offerings.iter().enumerate().filter(|it| can_be_had(it.1)) {
                let address = offering.requirements.as_ptr().addr();
                let found = known.iter().find(|(known, ..)| *known == address);
                let (fits, tier) = match found {
                    Some((_, fits, tier)) => (*fits, *tier),
                    None => {
                        let read = self.read(&*offering.requirements);
                        let fits = read.intersects(wanted, &self.vocabulary);
                        let tier = tiers.iter().position(|tier| self.allows(&read, tier));
                        known.push((address, fits, tier));
                        (fits, tier)
                    }
                };
                let Some(tier) = tier.filter(|_| fits) else { continue };
                best = Some(match best {
                    Some(known) if known.0 < tier => known,
                    Some((same, cheapest, price, worst)) if same == tier => {
                        let is_cheaper = offering.price < price;
                        let cheapest = if is_cheaper { index } else { cheapest };
                        (tier, cheapest, price.min(offering.price), worst.max(offering.price))
                    }
                    _ => (tier, index, offering.price, offering.price),
                });
            }
            if let Some((tier, offering, price, worst)) = best {
                let option = TypeOption { offering, price, ..*option };
                choices.push(Choice { option, tier, worst });
            }
        }
        choices.sort_by_key(|choice| (choice.option.price, choice.option.instance_type));
        choices
    }

    /// How many instance types, from the cheapest on, `minValues` needs.
    fn check_min_values(
        &mut self,
        node: &NewNode,
        wanted: &Requirements,
        choices: &[Choice],
    ) -> Result<usize, Kept> {
        if node.min_values_relaxed || !wanted.has_min_values() {
            return Ok(0);
        }
        let types = &self.problem.pools[node.pool].instance_types;
        let read: Vec<Requirements> = choices
            .iter()
            .map(|choice| self.read(&*types[choice.option.instance_type].requirements))
            .collect();
        let review = review_min_values(wanted, &read);
        match review.shortfalls.first() {
            Some(short) => Err(Kept::TooFewTypes {
                found: short.achieved as usize,
                needed: short.wanted as usize,
            }),
            None => Ok(review.needed_types),
        }
    }
}

/// Whether an offering can be had now; a reservation that is full cannot.
fn is_launchable(offering: &Offering) -> bool {
    offering.available && offering.reservation.as_ref().is_none_or(|it| it.remaining > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Price {
        Price::from_micros_per_hour(micros)
    }

    fn choice(instance_type: usize, worst: u64) -> Choice {
        let option = TypeOption { instance_type, offering: 0, price: micros(worst) };
        Choice { option, tier: 2, worst: micros(worst) }
    }

    fn left(choices: &[Vec<Choice>]) -> Vec<Vec<usize>> {
        let types = |it: &Vec<Choice>| it.iter().map(|it| it.option.instance_type).collect();
        choices.iter().map(types).collect()
    }

    #[test]
    fn one_launch_keeps_whatever_is_cheaper_and_several_share_what_is_left() {
        let offered = || vec![choice(0, 100), choice(1, 150), choice(2, 200), choice(3, 300)];
        let mut one = [offered()];
        assert_eq!(keep_cheaper(&mut one, micros(300)), Ok(()));
        assert_eq!(left(&one), [[0, 1, 2]]);
        // Of 320 the cheapest leave 120, which is 60 for each.
        let mut two = [offered(), offered()];
        assert_eq!(keep_cheaper(&mut two, micros(320)), Ok(()));
        assert_eq!(left(&two), [[0, 1], [0, 1]]);
        let kept = Kept::NotCheaper { price: micros(200), best: micros(200) };
        assert_eq!(keep_cheaper(&mut [offered(), offered()], micros(200)), Err(kept));
    }

    #[test]
    fn several_nodes_are_not_replaced_by_one_of_their_own_type_at_its_price() {
        let named = |name: &str| InstanceType {
            name: name.to_owned(),
            requirements: [].into(),
            capacity: Default::default(),
            overhead: Default::default(),
            offerings: [].into(),
        };
        let types = [named("small"), named("same"), named("other")];
        let removed = Removed {
            count: 2,
            price: micros(600),
            all_spot: false,
            types: vec![("same", micros(300)), ("same", micros(250))],
        };
        let mut choices = vec![choice(0, 200), choice(1, 250), choice(2, 400)];
        assert_eq!(drop_same_types(&mut choices, &types, &removed), Ok(()));
        assert_eq!(left(&[choices]), [[0]]);
        let mut choices = vec![choice(2, 400)];
        assert_eq!(drop_same_types(&mut choices, &types, &removed), Ok(()));
        assert_eq!(left(&[choices]), [[2]], "none of the removed nodes is of that type");
    }
}
