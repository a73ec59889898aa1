//! Selectors of that era: one map of texts that mixes ids, names, owners and tags.

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::rules::rule;

/// A selector as it stands in a manifest.
pub(crate) type SelectorMap = BTreeMap<String, String>;

/// The two spellings of the key whose value is a list of ids.
pub(crate) const IDS_KEYS: [&str; 2] = ["aws-ids", "aws::ids"];
/// The key whose value is a list of image names.
pub(crate) const NAME_KEY: &str = "aws::name";
/// The key whose value is a list of image owners.
pub(crate) const OWNERS_KEY: &str = "aws::owners";

/// Most entries of one selector: what a term of today's selectors may have.
pub(crate) const ENTRIES_MAX: usize = 20;
/// Longest value of an entry. EC2 tag values end at 256 characters; a list may hold several.
const VALUE_CHARS_MAX: u32 = 4096;

/// What a selector selects by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selector {
    /// Exactly these things.
    Ids(Vec<String>),
    /// Things that have, for every key, one of the values.
    Tags(BTreeMap<String, Vec<String>>),
}

impl Selector {
    /// Reads a map; ids win over everything else, as they did.
    pub(crate) fn of(map: &SelectorMap) -> Self {
        match IDS_KEYS.iter().find_map(|key| map.get(*key)) {
            Some(ids) => Self::Ids(alternatives(ids)),
            None => Self::Tags(tag_alternatives(map)),
        }
    }
}

/// The parts of a comma-separated value.
pub(crate) fn alternatives(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Every entry that is a tag, with the values it allows.
pub(crate) fn tag_alternatives(map: &SelectorMap) -> BTreeMap<String, Vec<String>> {
    map.iter()
        .filter(|(key, _)| !is_reserved_key(key))
        .map(|(key, value)| (key.clone(), alternatives(value)))
        .collect()
}

fn is_reserved_key(key: &str) -> bool {
    IDS_KEYS.contains(&key) || key == NAME_KEY || key == OWNERS_KEY
}

/// Whether the text is an id with the prefix, such as `subnet-0a1b`.
pub(crate) fn is_id(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-')).is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    })
}

/// Subnets by id or tag.
pub(crate) fn subnet_selector(_: &mut SchemaGenerator) -> Schema {
    selector("subnet", "Which subnets instances may be launched into.")
}

/// Security groups by id or tag.
pub(crate) fn security_group_selector(_: &mut SchemaGenerator) -> Schema {
    selector("sg", "Which security groups instances get.")
}

/// Images by id, name, owner or tag.
pub(crate) fn ami_selector(_: &mut SchemaGenerator) -> Schema {
    selector("ami", "Which images instances may start from.")
}

fn selector(prefix: &str, description: &str) -> Schema {
    let id = format!(r"\\s*{prefix}-[0-9a-z]+\\s*");
    let ids = |key: &str| {
        rule(
            &format!("!('{key}' in self) || self['{key}'].matches('^{id}(,{id})*$')"),
            &format!("'{key}' must be a comma-separated list of ids that start with '{prefix}-'"),
        )
    };
    json_schema!({
        "type": "object",
        "description": description,
        "minProperties": 1,
        "maxProperties": ENTRIES_MAX,
        "additionalProperties": { "type": "string", "minLength": 1, "maxLength": VALUE_CHARS_MAX },
        "x-kubernetes-validations": [
            rule("!('' in self)", "a selector cannot have an empty key"),
            rule(
                "self.size() == 1 || !('aws-ids' in self || 'aws::ids' in self)",
                "'aws-ids' and 'aws::ids' cannot be combined with other keys",
            ),
            ids(IDS_KEYS[0]),
            ids(IDS_KEYS[1]),
        ],
    })
}
