//! A pool's requirements as they would be without the shift: the original, with what an operator
//! changed since.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::pool_record::{Added, Memento, Record};
use super::zone::{ZoneName, ZoneTable};
use super::zone_requirement::{ZoneOperator, ZoneRequirement, values_of};

/// The requirements without the shift; `None` when the pool would have no list at all.
pub(super) fn without_shift(
    current: Option<&[Value]>,
    record: &Record,
    table: &ZoneTable,
) -> Option<Vec<Value>> {
    let entries = current.unwrap_or_default();
    match record {
        Record::None => current.map(<[Value]>::to_vec),
        Record::Ours(memento) => {
            let base = undo(entries, memento);
            let list_was_absent = memento.changes.iter().any(|(_, a)| a.added == Added::List);
            let is_absent = base.is_empty() && (list_was_absent || current.is_none());
            (!is_absent).then_some(base)
        }
        Record::ZonesOnly { away, .. } => current.map(|entries| give_back(entries, away, table)),
    }
}

/// Another tool's edit, undone as well as can be: its zones go to the end of the first list.
fn give_back(entries: &[Value], zones: &BTreeSet<ZoneName>, table: &ZoneTable) -> Vec<Value> {
    let mut base = entries.to_vec();
    let first = base.iter_mut().find_map(|entry| {
        let requirement = ZoneRequirement::read(entry)?;
        (requirement.operator == ZoneOperator::In).then_some((entry, requirement))
    });
    if let Some((entry, mut requirement)) = first {
        requirement.append(zones, table);
        *entry = requirement.into_entry(usize::MAX);
    }
    base
}

/// Puts each requirement Kerf wrote back to what it was, where it stands now.
fn undo(entries: &[Value], memento: &Memento) -> Vec<Value> {
    let pairs = pair(entries, memento);
    let undone = entries.iter().enumerate().filter_map(|(index, entry)| {
        let Some(change) = pairs.get(&index) else { return Some(entry.clone()) };
        let (original, applied) = &memento.changes[*change];
        if *entry == applied.requirement {
            return original.clone();
        }
        let stand_in = || open_list(&applied.requirement, &memento.away);
        let original = original.clone().unwrap_or_else(stand_in);
        merge(&original, &applied.requirement, entry)
    });
    undone.collect()
}

/// Which change each current entry goes back to, by index: the same entry if it is still there,
/// else the first of the same key and operator. What finds no partner an operator took away or
/// added.
fn pair(entries: &[Value], memento: &Memento) -> BTreeMap<usize, usize> {
    let mut pairs = BTreeMap::new();
    let mut open: Vec<usize> = (0..memento.changes.len()).collect();
    let is_same = |a: &Value, b: &Value| a == b;
    let is_alike = |a: &Value, b: &Value| {
        a.get("key") == b.get("key") && a.get("operator") == b.get("operator")
    };
    for matches in [&is_same as &dyn Fn(&Value, &Value) -> bool, &is_alike] {
        open.retain(|&change| {
            let applied = &memento.changes[change].1.requirement;
            let mut free = entries.iter().enumerate().filter(|(i, _)| !pairs.contains_key(i));
            let partner = free.find(|(_, entry)| matches(entry, applied)).map(|(index, _)| index);
            partner.is_none_or(|index| pairs.insert(index, change).is_some())
        });
    }
    pairs
}

/// Where Kerf added the entry, the original is "any zone": in words that can be merged with, the
/// zones left and those avoided.
fn open_list(applied: &Value, away: &BTreeSet<ZoneName>) -> Value {
    let left = values_of(applied).into_iter().map(ZoneName::new);
    ZoneRequirement::exactly(&left.chain(away.iter().cloned()).collect())
}

/// Original, plus what differs between applied and current. Values are merged one by one, other
/// fields as a whole. Nothing is left of a `NotIn` without values.
fn merge(original: &Value, applied: &Value, current: &Value) -> Option<Value> {
    let none = Map::new();
    let fields = |value: &'_ Value| value.as_object().unwrap_or(&none).clone();
    let (original_fields, applied_fields, current_fields) =
        (fields(original), fields(applied), fields(current));
    let names: BTreeSet<_> = [&original_fields, &applied_fields, &current_fields]
        .into_iter()
        .flat_map(Map::keys)
        .collect();
    let mut merged = Map::new();
    for name in names.into_iter().filter(|name| *name != "values") {
        let is_as_applied = applied_fields.get(name) == current_fields.get(name);
        let source = if is_as_applied { &original_fields } else { &current_fields };
        if let Some(value) = source.get(name) {
            merged.insert(name.clone(), value.clone());
        }
    }
    let values = merge_values(&values_of(original), &values_of(applied), &values_of(current));
    let is_void = values.is_empty() && current_fields.get("operator") != Some(&json!("Exists"));
    if !values.is_empty() || original_fields.contains_key("values") {
        merged.insert("values".to_owned(), json!(values));
    }
    // An operator who swapped a zone for one being avoided leaves fewer than there were.
    let possible = values.len() as u64;
    if merged.get("operator") == Some(&json!("In"))
        && merged.get("minValues").and_then(Value::as_u64).is_some_and(|min| min > possible)
    {
        merged.insert("minValues".to_owned(), json!(possible));
    }
    (!is_void).then_some(Value::Object(merged))
}

fn merge_values<'a>(
    original: &[&'a str],
    applied: &[&'a str],
    current: &[&'a str],
) -> Vec<&'a str> {
    let is_removed = |value: &&str| applied.contains(value) && !current.contains(value);
    let added = current.iter().filter(|value| !applied.contains(value));
    let mut merged: Vec<_> = original.iter().copied().filter(|v| !is_removed(v)).collect();
    for &value in added {
        if !merged.contains(&value) {
            merged.push(value);
        }
    }
    merged
}
