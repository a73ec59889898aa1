//! Filters of EC2's descriptions, as plain data.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::Filter;

/// What a tag's value is in a selector where any will do.
const ANY: &str = "*";

/// Filters of one call; what is described passes all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filters(BTreeMap<String, Vec<String>>);

impl Filters {
    /// One filter: any of these values.
    pub(crate) fn any_of(name: &str, values: Vec<String>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), values)]))
    }

    /// All these tags.
    pub(crate) fn tags(tags: &BTreeMap<String, String>) -> Self {
        let mut filters = Self::default();
        for (key, value) in tags {
            match value.as_str() {
                ANY => filters = filters.with_tag_key(key),
                _ => filters = filters.with(&format!("tag:{key}"), value),
            }
        }
        filters
    }

    /// And a tag of this key, whatever its value.
    #[must_use]
    pub(crate) fn with_tag_key(mut self, key: &str) -> Self {
        self.0.entry("tag-key".to_owned()).or_default().push(key.to_owned());
        self
    }

    /// And one more filter.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), vec![value.to_owned()]);
        self
    }

    /// As the client library has them. Values of one filter are alternatives, and several tag keys
    /// are wanted all at once, so that each becomes a filter of its own.
    pub(crate) fn to_sdk(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        for (name, values) in &self.0 {
            let filter = |values: &[String]| {
                Filter::builder().name(name).set_values(Some(values.to_vec())).build()
            };
            match name.as_str() {
                "tag-key" => filters.extend(values.chunks(1).map(filter)),
                _ => filters.push(filter(values)),
            }
        }
        filters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_with_any_value_is_asked_for_by_its_key() {
        let tags = [("Name", "web"), ("team", "*"), ("zone", "*")];
        let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let filters = Filters::tags(&tags).with("state", "available").to_sdk();
        let text =
            |filter: &Filter| format!("{}={}", filter.name().unwrap(), filter.values().join(","));
        let texts: Vec<String> = filters.iter().map(text).collect();
        assert_eq!(texts, ["state=available", "tag-key=team", "tag-key=zone", "tag:Name=web"]);
    }
}
