//! How many pods a new node takes while enough different instance types could still be launched for
//! it (`minValues`).
//!
//! More pods of one kind rule out instance types only because they no longer fit. Everything else
//! that rules them out depends on who is there and not on how many, so it is worked out once for
//! each set of demands.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::rc::Rc;

use kerf_model::bitset::BitSet;
use kerf_model::min_values::review_min_values;
use kerf_model::requirements::Requirements;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::packing::bin::{Bin, Choice};
use crate::packing::item::{Item, PackingContext};
use crate::reading::demand::DemandId;
use crate::units::{self, Amounts};

/// The instance types a new node may be as long as its pods fit, cheapest first.
pub(crate) struct OpenTypes {
    choices: Vec<Choice>,
    /// What fits in here leaves enough different ones open; nothing if that cannot be said of any
    /// amount.
    surely_met: Option<Amounts>,
    /// How many are enough, if any of them are as good as others, …
    enough: Option<usize>,
    /// … and what so many leave to pods at most, resource by resource: with more than that of any,
    /// there are too few.
    at_most: Option<Amounts>,
}

/// What the open instance types of a node depend on.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    template: usize,
    /// Where the pool has limits: nothing larger than this one is open.
    made_for: Option<usize>,
    reserved: Option<usize>,
    /// In order.
    demands: SmallVec<[DemandId; 4]>,
}

/// The open instance types of the nodes that were looked at.
#[derive(Default)]
pub(crate) struct KnownOpenTypes(RefCell<FxHashMap<Key, Rc<OpenTypes>>>);

impl KnownOpenTypes {
    /// Those of a node that one more demand comes to.
    fn with(&self, bin: &Bin, demand: DemandId, context: &PackingContext<'_>) -> Rc<OpenTypes> {
        let mut demands: SmallVec<[DemandId; 4]> = bin.demands().into();
        demands.push(demand);
        demands.sort_unstable();
        demands.dedup();
        let has_limits = !context.instance_types.templates[bin.template].limits.is_empty();
        let made_for = has_limits.then_some(bin.instance_type);
        let key = Key { template: bin.template, made_for, reserved: bin.reserved, demands };
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let open = Rc::new(OpenTypes::of(bin, demand, context));
        self.0.borrow_mut().insert(key, open.clone());
        open
    }
}

impl OpenTypes {
    fn of(bin: &Bin, demand: DemandId, context: &PackingContext<'_>) -> Self {
        let mut requirements = bin.requirements.clone();
        requirements.narrow(&context.demands.get(demand).requirements, context.vocabulary);
        let choices = bin.priced_choices(&requirements, context);
        let asked = &context.instance_types.templates[bin.template].requirements;
        let enough = enough_of_any(&choices, asked, context);
        // A launch names the cheapest only. Where it cannot name all, it must not matter which.
        let is_sure = choices.len() <= context.options_max || enough.is_some();
        let surely_met = is_sure.then(|| surely_met(&choices, asked, context)).flatten();
        let at_most = enough.map(|enough| at_most(enough, &choices, context));
        Self { choices, surely_met, enough, at_most }
    }
}

/// What each of the largest instance types that are enough together leaves to pods.
fn surely_met(
    choices: &[Choice],
    asked: &Requirements,
    context: &PackingContext<'_>,
) -> Option<Amounts> {
    let all = &context.instance_types.all;
    let mut seen = BitSet::new();
    let mut largest: Vec<usize> = choices.iter().map(|choice| choice.instance_type).collect();
    largest.retain(|index| all[*index].free.iter().all(|free| *free >= 0));
    largest.sort_by_key(|index| (Reverse(&all[*index].free), *index));
    largest.retain(|index| {
        seen.insert(u32::try_from(all[*index].type_index).expect("fewer than 2³² types"))
    });
    let review = review_min_values(asked, largest.iter().map(|index| &all[*index].requirements));
    if !review.is_satisfied() || review.needed_types > context.options_max {
        return None;
    }
    let mut enough = largest[..review.needed_types].iter().map(|index| &all[*index].free);
    let first = enough.next()?.clone();
    Some(enough.fold(first, |mut least, free| {
        least.truncate(free.len());
        least.iter_mut().zip(free).for_each(|(least, free)| *least = (*least).min(*free));
        least
    }))
}

/// The most that so many of the instance types leave to pods, resource by resource.
fn at_most(enough: usize, choices: &[Choice], context: &PackingContext<'_>) -> Amounts {
    let frees = choices.iter().map(|choice| &context.instance_types.all[choice.instance_type].free);
    let resources = frees.clone().map(|free| free.len()).max().unwrap_or(0);
    let nth_largest = |resource: usize| {
        let of_each = frees.clone().map(|free| free.get(resource).copied().unwrap_or(0));
        let mut amounts: Vec<i64> = of_each.collect();
        amounts.sort_unstable_by_key(|amount| Reverse(*amount));
        let place = enough.saturating_sub(1);
        amounts.get(place).copied().unwrap_or(0)
    };
    (0..resources).map(nth_largest).collect()
}

/// How many instance types are enough, if each has one value of its own for every key that asks for
/// several.
fn enough_of_any(
    choices: &[Choice],
    asked: &Requirements,
    context: &PackingContext<'_>,
) -> Option<usize> {
    let all = &context.instance_types.all;
    let mut enough = 0;
    for each in asked.iter() {
        let Some(wanted) = each.min_values() else { continue };
        let mut owned = FxHashSet::default();
        for choice in choices {
            let own = all[choice.instance_type].requirements.find(each.key());
            let mut values = own.filter(|own| !own.is_complement())?.values().iter();
            let is_own = values.next().is_some_and(|value| owned.insert(value));
            if !is_own || values.next().is_some() {
                return None;
            }
        }
        enough = enough.max(wanted as usize);
    }
    (enough <= context.options_max).then_some(enough)
}

impl Bin {
    /// The most pods of an item after which enough different values are still possible.
    pub(crate) fn headroom_by_min_values(
        &self,
        item: &Item,
        context: &PackingContext<'_>,
        headroom: i64,
    ) -> i64 {
        if context.best_effort_min_values {
            return headroom;
        }
        let open = context.known_open_types.with(self, item.demand, context);
        let asked = &context.classes[item.class].requests;
        let has_ports = !context.classes[item.class].shape.host_ports.is_empty();
        let may_clash = has_ports || self.has_host_ports(context);
        let all = &context.instance_types.all;
        let holds = |count: i64| {
            let mut requests = self.requests.clone();
            units::add(&mut requests, asked, count);
            let fitting = open.choices.iter().copied().filter(|choice| {
                units::fits(&requests, &all[choice.instance_type].free)
                    && !(may_clash && self.would_clash(item, choice.instance_type, context))
            });
            self.meets_min_values(context.options(fitting), context)
        };
        let known = (!may_clash).then(|| self.known_headroom(&open, asked, headroom, context));
        if let Some(known) = known.flatten() {
            debug_assert!(known == 0 || holds(known), "so many leave enough open");
            debug_assert!(known == headroom || !holds(known + 1), "one more leaves too few open");
            return known;
        }
        // More pods only ever leave fewer instance types, so the answer can be searched for.
        let (mut good, mut bad) = (0, headroom + 1);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if holds(middle) { good = middle } else { bad = middle }
        }
        good
    }

    /// The same where amounts alone tell.
    fn known_headroom(
        &self,
        open: &OpenTypes,
        asked: &Amounts,
        headroom: i64,
        context: &PackingContext<'_>,
    ) -> Option<i64> {
        let beside = |amounts| units::times_fitting_beside(asked, &self.requests, amounts);
        let surely = open.surely_met.as_ref();
        let surely = surely.filter(|amounts| units::fits(&self.requests, amounts));
        let surely = surely.map_or(0, beside).min(headroom);
        if surely == headroom || open.at_most.as_ref().is_some_and(|most| beside(most) <= surely) {
            return Some(surely);
        }
        let enough = open.enough?;
        Some(self.held_by(enough, open, asked, context).min(headroom))
    }

    /// How many pods more so many of the open instance types can hold.
    fn held_by(
        &self,
        enough: usize,
        open: &OpenTypes,
        asked: &Amounts,
        context: &PackingContext<'_>,
    ) -> i64 {
        let all = &context.instance_types.all;
        let frees = open.choices.iter().map(|choice| &all[choice.instance_type].free);
        let frees = frees.filter(|free| units::fits(&self.requests, free));
        let mut held: Vec<i64> =
            frees.map(|free| units::times_fitting_beside(asked, &self.requests, free)).collect();
        match enough.checked_sub(1) {
            None => i64::MAX,
            Some(place) if place >= held.len() => 0,
            Some(place) => *held.select_nth_unstable_by(place, |a, b| b.cmp(a)).1,
        }
    }

    /// Whether these instance types offer the different values the pool asks for.
    pub(crate) fn meets_min_values(
        &self,
        choices: impl IntoIterator<Item = Choice>,
        context: &PackingContext<'_>,
    ) -> bool {
        let all = &context.instance_types.all;
        let types = choices.into_iter().map(|choice| &all[choice.instance_type].requirements);
        let asked = &context.instance_types.templates[self.template].requirements;
        review_min_values(asked, types).is_satisfied()
    }
}
