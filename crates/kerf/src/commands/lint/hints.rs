//! Values that no node has: everybody stores them, and the pool finds nothing.

use std::collections::BTreeSet;

use kerf_catalog::name::name_parts;
use kerf_catalog::region::{regions, zones};
use kerf_lint::SemanticFinding;
use kerf_model::labels::aws::{
    INSTANCE_CATEGORY, INSTANCE_FAMILY, INSTANCE_GENERATION, INSTANCE_SIZE,
};
use kerf_model::labels::well_known::{
    ARCH, ARCH_AMD64, ARCH_ARM64, CAPACITY_TYPE, CAPACITY_TYPES, INSTANCE_TYPE, OLD_SPELLINGS, OS,
    OS_LINUX, OS_WINDOWS, REGION, ZONE,
};
use kerf_model::nearest::nearest;
use serde_json::Value;

/// Where our kinds have requirements.
const REQUIREMENTS: [&str; 2] = ["spec.template.spec.requirements", "spec.requirements"];

/// Words of other worlds for values of ours.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("x86_64", ARCH_AMD64),
    ("x86-64", ARCH_AMD64),
    ("x86", ARCH_AMD64),
    ("x64", ARCH_AMD64),
    ("aarch64", ARCH_ARM64),
    ("graviton", ARCH_ARM64),
    ("normal", "on-demand"),
];

/// What is named in the requirements of an object and exists nowhere.
pub(super) fn hints(object: &Value) -> Vec<SemanticFinding> {
    let mut found = Vec::new();
    if !is_on_aws(object) {
        return found;
    }
    for path in REQUIREMENTS {
        let requirements = object.pointer(&format!("/{}", path.replace('.', "/")));
        let Some(requirements) = requirements.and_then(Value::as_array) else { continue };
        let regions = named_regions(requirements);
        for (place, requirement) in requirements.iter().enumerate() {
            let field = format!("{path}[{place}].values");
            of_requirement(requirement, &field, &regions, &mut found);
        }
    }
    found
}

/// What AWS has says nothing of pools of another provider.
fn is_on_aws(object: &Value) -> bool {
    let at = ["/spec/template/spec/nodeClassRef/group", "/spec/nodeClassRef/group"];
    let group = at.into_iter().find_map(|pointer| object.pointer(pointer)?.as_str());
    group.is_none_or(|group| group == "karpenter.k8s.aws")
}

fn of_requirement(
    requirement: &Value,
    field: &str,
    regions: &[&str],
    found: &mut Vec<SemanticFinding>,
) {
    let text = |name: &str| requirement.get(name).and_then(Value::as_str);
    let (Some(key), Some("In" | "NotIn")) = (text("key"), text("operator")) else { return };
    let key = OLD_SPELLINGS.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new);
    let values = requirement.get("values").and_then(Value::as_array).into_iter().flatten();
    for (place, value) in values.enumerate() {
        let Some(value) = value.as_str() else { continue };
        let Some((message, instead)) = strange(key, value, regions) else { continue };
        let field = format!("{field}[{place}]");
        found.push(SemanticFinding { field, rule: key.to_owned(), message, instead });
    }
}

/// The regions that the pool asks for.
fn named_regions(requirements: &[Value]) -> Vec<&str> {
    let is_region = |requirement: &&Value| {
        let text = |name: &str| requirement.get(name).and_then(Value::as_str);
        text("operator") == Some("In") && text("key") == Some(REGION)
    };
    let values =
        requirements.iter().filter(is_region).filter_map(|it| it.get("values")?.as_array());
    values.flatten().filter_map(Value::as_str).collect()
}

/// What is strange about a value, and what to write instead.
fn strange(key: &str, value: &str, regions: &[&str]) -> Option<(String, Option<String>)> {
    if key == ZONE {
        return strange_zone(value, regions);
    }
    let known = known_values(key)?;
    if known.contains(value) || value.is_empty() {
        return None;
    }
    let other = OTHER_WORDS.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(value));
    let other = other.map(|(_, ours)| ours).filter(|ours| known.contains(*ours));
    let near = other.or_else(|| nearest(value, known.iter().copied()));
    let what = match key {
        CAPACITY_TYPE => "capacity type",
        ARCH => "architecture",
        OS => "operating system",
        REGION => "region",
        INSTANCE_TYPE => "instance type",
        INSTANCE_FAMILY => "instance family",
        INSTANCE_CATEGORY => "instance category",
        INSTANCE_GENERATION => "instance generation",
        _ => "instance size",
    };
    Some((format!("AWS has no {what} {value:?}"), near.map(str::to_owned)))
}

fn known_values(key: &str) -> Option<BTreeSet<&'static str>> {
    let shapes = || kerf_catalog::table::shapes().iter();
    let parts = || shapes().map(|shape| name_parts(&shape.name));
    Some(match key {
        CAPACITY_TYPE => CAPACITY_TYPES.into(),
        ARCH => [ARCH_AMD64, ARCH_ARM64].into(),
        OS => [OS_LINUX, OS_WINDOWS].into(),
        REGION => regions().collect(),
        INSTANCE_TYPE => shapes().map(|shape| shape.name.as_str()).collect(),
        INSTANCE_FAMILY => parts().filter_map(|parts| parts.family).collect(),
        INSTANCE_SIZE => parts().filter_map(|parts| parts.size).collect(),
        INSTANCE_CATEGORY => parts().filter_map(|parts| parts.category).collect(),
        INSTANCE_GENERATION => parts().filter_map(|parts| parts.generation).collect(),
        _ => return None,
    })
}

/// A zone that its region does not have, or that is of another region than the pool asks for. Local
/// zones and those of regions nothing is known of pass.
fn strange_zone(zone: &str, wanted: &[&str]) -> Option<(String, Option<String>)> {
    let region = zone.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    // Local zones (us-east-1-bos-1a) begin with their region, too.
    let home = regions().find(|known| region.starts_with(&format!("{known}-")));
    let Ok(known) = zones(region) else {
        let near = nearest(zone, regions());
        let is_known = home.is_some();
        let message = || format!("AWS has no zone {zone:?}");
        // A region of its own right, or a misspelt one?
        return (!is_known && near.is_some()).then(|| (message(), near.map(|it| format!("{it}a"))));
    };
    if !known.iter().any(|known| known == zone) {
        let message = format!("{region} has no zone {zone:?}; it has {}", known.join(", "));
        let near = nearest(zone, known.iter().map(String::as_str));
        return Some((message, near.map(str::to_owned)));
    }
    let is_elsewhere = !wanted.is_empty() && !wanted.contains(&region);
    is_elsewhere.then(|| {
        let message =
            format!("{zone} is no zone of {}, which the pool asks for", wanted.join(", "));
        let letter = zone.trim_start_matches(region);
        let same = format!("{}{letter}", wanted[0]);
        let is_there = zones(wanted[0]).is_ok_and(|known| known.contains(&same));
        (message, is_there.then_some(same))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is said of a pool that requires these values of a key.
    fn said(requirements: &[(&str, &[&str])]) -> Vec<(String, Option<String>)> {
        let requirements: Vec<Value> = requirements
            .iter()
            .map(|(key, values)| json!({"key": key, "operator": "In", "values": values}))
            .collect();
        let pool = json!({"kind": "NodePool", "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"},
            "requirements": requirements,
        }}}});
        hints(&pool).into_iter().map(|hint| (hint.message, hint.instead)).collect()
    }

    #[test]
    fn values_that_aws_does_not_have_are_named_with_the_nearest_that_it_has() {
        for (key, value, instead) in [
            (CAPACITY_TYPE, "ondemand", Some("on-demand")),
            (CAPACITY_TYPE, "Spot", Some("spot")),
            (ARCH, "x86_64", Some("amd64")),
            (ARCH, "aarch64", Some("arm64")),
            (OS, "Linux", Some("linux")),
            (INSTANCE_TYPE, "m5.larg", Some("m5.large")),
            (INSTANCE_SIZE, "2xlarg", Some("2xlarge")),
            (INSTANCE_CATEGORY, "cc", Some("c")),
            (REGION, "eu-wst-1", Some("eu-west-1")),
            (ZONE, "us-east-1z", Some("us-east-1a")),
            ("failure-domain.beta.kubernetes.io/zone", "eu-west-1d", Some("eu-west-1a")),
        ] {
            let said = said(&[(key, &[value])]);
            assert_eq!(said.len(), 1, "{key} {value}");
            assert_eq!(said[0].1.as_deref(), instead, "{key} {value}: {}", said[0].0);
            assert!(said[0].0.contains(value), "{}", said[0].0);
        }
        assert!(said(&[(INSTANCE_FAMILY, &["m99"])])[0].0.contains("no instance family \"m99\""));
    }

    #[test]
    fn values_that_exist_or_may_exist_pass() {
        for (key, value) in [
            (CAPACITY_TYPE, "reserved"),
            (ZONE, "us-east-1a"),
            (ZONE, "us-east-1-bos-1a"),
            (ZONE, "xx-nowhere-9a"),
            (INSTANCE_FAMILY, "m7i-flex"),
            ("example.com/team", "anything"),
        ] {
            assert_eq!(said(&[(key, &[value])]), [], "{key} {value}");
        }
    }

    #[test]
    fn a_zone_of_another_region_than_the_pool_asks_for_is_named() {
        let said = said(&[(REGION, &["eu-west-1"]), (ZONE, &["us-east-1b", "eu-west-1a"])]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0].1.as_deref(), Some("eu-west-1b"));
    }

    #[test]
    fn pools_of_other_providers_are_left_alone() {
        let pool = json!({"spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "a"},
            "requirements": [{"key": ZONE, "operator": "In", "values": ["test-zone-a"]}],
        }}}});
        assert_eq!(hints(&pool), []);
    }
}
