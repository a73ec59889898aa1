//! The structural schema of a CRD version, read once into what the checks need.
//!
//! | module | what an API server does there |
//! |---|---|
//! | [`unknown`] | strict field validation: fields the schema does not name |
//! | [`fill`] | removes meaningless nulls, then fills in defaults |
//! | [`check`] | types, enums and the walk over the value |
//! | [`strings`], [`numbers`], [`collections`] | the keywords of one kind of value |
//! | [`combine`] | `allOf`, `anyOf`, `oneOf`, `not` |
//! | [`list_type`] | `x-kubernetes-list-type` set and map |

pub(crate) mod check;
mod collections;
mod combine;
pub(crate) mod fill;
mod formats;
pub(crate) use formats::is_date_time;
pub(crate) mod list_type;
mod numbers;
pub(crate) mod pattern;
mod strings;
pub(crate) mod unknown;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cel::CelRule;
use crate::schema::pattern::Pattern;

/// Deepest schema read. An API server refuses a CRD long before its schema is this deep.
const SCHEMA_DEPTH_MAX: usize = 64;

/// What a node of the schema says of the value it describes.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub type_name: Option<String>,
    pub format: Option<String>,
    pub nullable: bool,
    pub int_or_string: bool,
    pub preserve_unknown: bool,
    pub embedded_resource: bool,
    pub default: Option<Value>,
    pub allowed: Vec<Value>,
    pub pattern: Option<Pattern>,
    pub bounds: Bounds,
    pub required: Vec<String>,
    pub properties: BTreeMap<String, Schema>,
    pub additional: Additional,
    pub items: Option<Box<Schema>>,
    pub all_of: Vec<Schema>,
    pub any_of: Vec<Schema>,
    pub one_of: Vec<Schema>,
    pub not: Option<Box<Schema>>,
    pub list_type: ListType,
    pub rules: Vec<CelRule>,
}

/// Numeric bounds on sizes and values.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
}

/// What the schema says of keys it does not name.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    /// Nothing: such keys are unknown.
    #[default]
    Unnamed,
    /// `true` or `false`.
    Flag(bool),
    /// They hold values of this schema.
    Schema(Box<Schema>),
}

/// How the items of a list are told apart.
#[derive(Debug, Default)]
pub(crate) enum ListType {
    /// By their place.
    #[default]
    Atomic,
    /// By their value.
    Set,
    /// By the values of these fields.
    Map(Vec<String>),
}

impl Schema {
    /// Reads `openAPIV3Schema`. Total: what is not understood is not checked.
    pub(crate) fn parse(schema: &Value) -> Self {
        Self::parse_at(schema, 0)
    }

    fn parse_at(schema: &Value, depth: usize) -> Self {
        if depth > SCHEMA_DEPTH_MAX {
            return Self { preserve_unknown: true, ..Self::default() };
        }
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let flag = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or(false);
        let inside =
            |name: &str| schema.get(name).map(|inner| Box::new(Self::parse_at(inner, depth + 1)));
        let several = |name: &str| -> Vec<Self> {
            let list = schema.get(name).and_then(Value::as_array);
            list.into_iter().flatten().map(|inner| Self::parse_at(inner, depth + 1)).collect()
        };
        let type_name = text("type").filter(|name| !name.is_empty()).map(str::to_owned);
        Self {
            format: formats::enforced(text("format"), type_name.as_deref()),
            type_name,
            nullable: flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            allowed: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            pattern: text("pattern").filter(|text| !text.is_empty()).map(Pattern::new),
            bounds: Bounds::parse(schema),
            required: strings_of(schema.get("required")),
            properties: properties_of(schema, depth),
            additional: match schema.get("additionalProperties") {
                None | Some(Value::Null) => Additional::Unnamed,
                Some(Value::Bool(allowed)) => Additional::Flag(*allowed),
                Some(inner) => Additional::Schema(Box::new(Self::parse_at(inner, depth + 1))),
            },
            items: inside("items"),
            all_of: several("allOf"),
            any_of: several("anyOf"),
            one_of: several("oneOf"),
            not: inside("not"),
            list_type: match text("x-kubernetes-list-type") {
                Some("set") => ListType::Set,
                Some("map") => ListType::Map(strings_of(schema.get("x-kubernetes-list-map-keys"))),
                _ => ListType::Atomic,
            },
            rules: CelRule::read_all(schema.get("x-kubernetes-validations")),
        }
    }

    /// The types a value may have; none means any.
    pub(crate) fn type_names(&self) -> Vec<&str> {
        if self.int_or_string {
            return vec!["integer", "string"];
        }
        self.type_name.as_deref().into_iter().collect()
    }

    /// The schema of the value under `key`, if the schema says anything of it.
    pub(crate) fn below(&self, key: &str) -> Option<&Schema> {
        match (self.properties.get(key), &self.additional) {
            (Some(property), _) => Some(property),
            (None, Additional::Schema(schema)) => Some(schema),
            (None, _) => None,
        }
    }

    /// Whether any CEL rule stands anywhere in the schema.
    pub(crate) fn has_rules(&self) -> bool {
        let additional = match &self.additional {
            Additional::Schema(inner) => Some(inner.as_ref()),
            _ => None,
        };
        let inside = self.properties.values().chain(self.items.as_deref()).chain(additional);
        !self.rules.is_empty() || inside.chain(&self.all_of).any(Schema::has_rules)
    }

    /// The paths, outermost first, at which the schema names a field `name`.
    pub(crate) fn places_of(&self, name: &str) -> Vec<String> {
        let mut places = Vec::new();
        self.collect_places(name, "", &mut places);
        places.sort_by_key(|place| (place.matches(['.', '[']).count(), place.clone()));
        places
    }

    fn collect_places(&self, name: &str, prefix: &str, places: &mut Vec<String>) {
        for (field, schema) in &self.properties {
            let path = if prefix.is_empty() { field.clone() } else { format!("{prefix}.{field}") };
            if field == name {
                places.push(path.clone());
            }
            schema.collect_places(name, &path, places);
        }
        if let Some(items) = &self.items {
            items.collect_places(name, &format!("{prefix}[]"), places);
        }
    }
}

impl Bounds {
    fn parse(schema: &Value) -> Self {
        let size = |name: &str| schema.get(name).and_then(Value::as_u64);
        let number = |name: &str| schema.get(name).and_then(Value::as_f64);
        let flag = |name: &str| schema.get(name).and_then(Value::as_bool).unwrap_or(false);
        Self {
            min_length: size("minLength"),
            max_length: size("maxLength"),
            min_items: size("minItems"),
            max_items: size("maxItems"),
            min_properties: size("minProperties"),
            max_properties: size("maxProperties"),
            minimum: number("minimum"),
            maximum: number("maximum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            multiple_of: number("multipleOf"),
        }
    }
}

fn properties_of(schema: &Value, depth: usize) -> BTreeMap<String, Schema> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields
        .into_iter()
        .flatten()
        .map(|(name, inner)| (name.clone(), Schema::parse_at(inner, depth + 1)))
        .collect()
}

fn strings_of(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
