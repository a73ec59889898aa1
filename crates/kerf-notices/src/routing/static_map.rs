//! Queues of clusters as an operator lists them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::SettingsError;
use crate::message::Kind;

/// One queue of a cluster and what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The URL of the queue.
    pub url: Arc<str>,
    /// The words of the kinds it wants ([`Kind::word`]); empty means all.
    pub(super) kinds: Vec<String>,
    /// The required tag, by its place in the settings.
    pub(super) required_tag: Option<u32>,
}

impl Route {
    /// A queue that wants everything.
    pub(super) fn plain(url: &str) -> Self {
        Self { url: url.into(), kinds: Vec::new(), required_tag: None }
    }

    /// Whether the queue wants this kind.
    pub(super) fn wants(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|word| word == kind.word())
    }
}

/// The setting `CLUSTER_QUEUES`: `{"name": "url"}` or `{"name": [{"url", "kinds", "requireTag"}]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticMap {
    pub(super) clusters: BTreeMap<Arc<str>, Arc<[Route]>>,
    /// The tags that routes ask for, each once.
    pub(super) required_tags: Vec<String>,
}

/// Required tags are kept as bits of a 64-bit number.
const REQUIRED_TAGS_MAX: usize = 64;

#[derive(Deserialize)]
#[serde(untagged)]
enum WireRoutes {
    Url(String),
    Routes(Vec<WireRoute>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireRoute {
    url: String,
    #[serde(default)]
    kinds: Vec<String>,
    require_tag: Option<String>,
}

impl StaticMap {
    /// Reads the setting. An empty text is an empty map.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let mut map = Self::default();
        if text.trim().is_empty() {
            return Ok(map);
        }
        let wire: BTreeMap<String, WireRoutes> = serde_json::from_str(text).map_err(|error| {
            SettingsError::new("CLUSTER_QUEUES", format!("not a map of names to queues: {error}"))
        })?;
        for (cluster, routes) in wire {
            let routes = match routes {
                WireRoutes::Url(url) => vec![WireRoute { url, kinds: vec![], require_tag: None }],
                WireRoutes::Routes(routes) => routes,
            };
            let routes = routes.into_iter().map(|route| map.route(&cluster, route));
            let routes = routes.collect::<Result<Vec<_>, _>>()?;
            map.clusters.insert(cluster.into(), routes.into());
        }
        Ok(map)
    }

    fn route(&mut self, cluster: &str, wire: WireRoute) -> Result<Route, SettingsError> {
        let wrong = |why: String| SettingsError::new("CLUSTER_QUEUES", format!("{cluster}: {why}"));
        if !is_url(&wire.url) {
            return Err(wrong(format!("\"{}\" is not the URL of a queue", wire.url)));
        }
        if let Some(word) = wire.kinds.iter().find(|word| !Kind::WORDS.contains(&word.as_str())) {
            let words = Kind::WORDS.join(", ");
            return Err(wrong(format!("there is no kind \"{word}\"; the kinds are {words}")));
        }
        let required_tag = wire.require_tag.map(|tag| self.tag_index(tag).map_err(wrong));
        let required_tag = required_tag.transpose()?;
        Ok(Route { url: wire.url.into(), kinds: wire.kinds, required_tag })
    }

    fn tag_index(&mut self, tag: String) -> Result<u32, String> {
        let known = self.required_tags.iter().position(|known| *known == tag);
        let index = known.unwrap_or_else(|| {
            self.required_tags.push(tag);
            self.required_tags.len() - 1
        });
        match index < REQUIRED_TAGS_MAX {
            // Below 64, which 32 bits hold.
            true => Ok(index as u32),
            false => Err(format!("more than {REQUIRED_TAGS_MAX} different required tags")),
        }
    }
}

pub(super) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.len() > 2 && rest.contains('/'))
        && text.bytes().all(|b| b.is_ascii_graphic())
}
