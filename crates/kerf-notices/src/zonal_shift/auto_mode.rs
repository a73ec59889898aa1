//! Stand-ins for the pools EKS Auto Mode brings along, which nobody may edit.
//!
//! A stand-in is a full copy that avoids the zones and is tried first. The built-in pool stays as
//! it is; when the shift is over the stand-in goes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::keep_out::{KeptOut, Restriction, Zones, keep_out};
use super::pool::{AWAY_ZONES, COPY_OF, ORIGINAL_ZONES, Pool};
use super::pool_edit::{CopyEdit, PoolAction};
use super::pool_plan::SkipReason;
use super::pool_record::{read_zones, write_zones};

/// What a stand-in's name ends in.
const COPY_SUFFIX: &str = "-kss";
/// The API allows no greater weight.
const WEIGHT_MAX: i64 = 100;
/// The least a stand-in gets, so that pools made later with a small weight stay behind it.
const COPY_WEIGHT_MIN: i64 = 50;

/// What becomes of stand-ins when the shift is over: `--auto-mode-revert`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AutoModeRevert {
    /// They are deleted and their nodes drained.
    #[default]
    Delete,
    /// They take no more nodes and are deleted when the last is gone.
    Retire,
}

/// What a built-in pool needs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CopyPlan {
    AsItShouldBe,
    Edit(CopyEdit),
    Skip(SkipReason),
}

/// The name of a built-in pool's stand-in.
pub(super) fn copy_name(built_in: &str) -> String {
    format!("{built_in}{COPY_SUFFIX}")
}

/// The weight of stand-ins beside these pools: above all others, as far as the API allows.
pub(super) fn copy_weight<'a>(others: impl Iterator<Item = &'a Pool<'a>>) -> i64 {
    let highest = others.map(Pool::weight).max().unwrap_or(0);
    highest.saturating_add(1).clamp(COPY_WEIGHT_MIN, WEIGHT_MAX)
}

/// Plans the stand-in of a built-in pool. `copy` is the pool of that name, if there is one.
pub(super) fn plan_copy(
    built_in: &Pool<'_>,
    copy: Option<&Pool<'_>>,
    weight: i64,
    zones: Zones<'_>,
    retirement: Retirement,
) -> CopyPlan {
    match keep_out(built_in.requirements.map(Vec::as_slice), zones) {
        KeptOut::WouldEmpty => CopyPlan::Skip(SkipReason::WouldEmpty),
        KeptOut::ZonesUnknown => CopyPlan::Skip(SkipReason::ZonesUnknown),
        KeptOut::Unreached => copy.map_or(CopyPlan::AsItShouldBe, |copy| remove(copy, retirement)),
        KeptOut::By(restriction) => match copy {
            Some(copy) if !is_ours(copy) => CopyPlan::Skip(SkipReason::CopyNameTaken),
            Some(copy) => update(built_in, copy, weight, &restriction, zones),
            None => {
                let object = manifest(built_in, weight, &restriction);
                CopyPlan::Edit(CopyEdit::Create { object })
            }
        },
    }
}

/// How a stand-in goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retirement {
    pub(super) revert: AutoModeRevert,
    pub(super) has_nodes: bool,
}

/// Takes a stand-in away, if it is one.
pub(super) fn remove(copy: &Pool<'_>, retirement: Retirement) -> CopyPlan {
    if !is_ours(copy) {
        return CopyPlan::AsItShouldBe;
    }
    let Retirement { revert, has_nodes } = retirement;
    if revert == AutoModeRevert::Delete || !has_nodes {
        return CopyPlan::Edit(CopyEdit::Delete { pool: copy.key.clone() });
    }
    let none = json!({"cpu": "0", "memory": "0"});
    if copy.object.pointer("/spec/limits") == Some(&none) {
        return CopyPlan::AsItShouldBe;
    }
    let mut object = copy.object.clone();
    object["spec"]["limits"] = none;
    CopyPlan::Edit(CopyEdit::Replace { object, action: PoolAction::RetireCopy })
}

/// Whether a pool is a stand-in. Tools before Kerf made them without the label; the annotation
/// gives those away, unless it stands beside those of a pool changed in place.
pub(super) fn is_ours(copy: &Pool<'_>) -> bool {
    let has = |annotation: &str| copy.annotations.contains_key(annotation);
    copy.copy_of().is_some() || (has(AWAY_ZONES) && !has(ORIGINAL_ZONES))
}

fn update(
    built_in: &Pool<'_>,
    copy: &Pool<'_>,
    weight: i64,
    restriction: &Restriction,
    zones: Zones<'_>,
) -> CopyPlan {
    let wanted = spec(built_in, weight, restriction);
    let away = copy.annotations.get(AWAY_ZONES).map(|text| read_zones(text, zones.table));
    let is_current = copy.object.get("spec") == Some(&wanted)
        && copy.copy_of() == Some(built_in.key.name.as_str())
        && away.as_ref() == Some(&restriction.zones);
    if is_current {
        return CopyPlan::AsItShouldBe;
    }
    let mut object = copy.object.clone();
    object["spec"] = wanted;
    let metadata = &mut object["metadata"];
    set(metadata, "labels", COPY_OF, &built_in.key.name);
    set(metadata, "annotations", AWAY_ZONES, &write_zones(&restriction.zones));
    CopyPlan::Edit(CopyEdit::Replace { object, action: PoolAction::UpdateCopy })
}

fn set(metadata: &mut Value, map: &str, name: &str, text: &str) {
    let fields = metadata.as_object_mut().expect("a pool that has a name has metadata");
    let map = fields.entry(map).or_insert_with(|| Value::Object(Map::new()));
    if !map.is_object() {
        *map = Value::Object(Map::new());
    }
    map[name] = json!(text);
}

fn manifest(built_in: &Pool<'_>, weight: i64, restriction: &Restriction) -> Value {
    json!({
        "apiVersion": built_in.key.api_version,
        "kind": built_in.key.kind,
        "metadata": {
            "name": copy_name(&built_in.key.name),
            "labels": {COPY_OF: built_in.key.name},
            "annotations": {AWAY_ZONES: write_zones(&restriction.zones)},
        },
        "spec": spec(built_in, weight, restriction),
    })
}

/// The built-in pool's whole spec, but for weight and zones.
fn spec(built_in: &Pool<'_>, weight: i64, restriction: &Restriction) -> Value {
    let mut spec = built_in.object.get("spec").cloned().unwrap_or_default();
    spec["weight"] = json!(weight);
    spec["template"]["spec"]["requirements"] = json!(restriction.requirements);
    spec
}
