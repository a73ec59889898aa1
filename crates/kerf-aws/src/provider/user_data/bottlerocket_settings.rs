//! The settings of `[settings.kubernetes]` that are known, and what each takes.

use toml_edit::{Array, Item, TableLike};

use super::UserDataError;

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Bool,
    TextList,
    TextMap,
    /// Texts or lists of texts by name.
    Taints,
    Table,
}

use Kind::{Bool, Integer, Table, Taints, Text, TextList, TextMap};

/// Every known setting, in the order they are written.
#[rustfmt::skip]
pub(super) const KNOWN: [(&str, Kind); 49] = [
    ("api-server", Text), ("cloud-provider", Text), ("cluster-certificate", Text),
    ("cluster-name", Text), ("cluster-dns-ip", Text), ("cluster-domain", Text),
    ("max-pods", Integer), ("ids-per-pod", Integer), ("pod-pids-limit", Integer),
    ("eviction-max-pod-grace-period", Integer),
    ("image-gc-high-threshold-percent", Text), ("image-gc-low-threshold-percent", Text),
    ("cpu-cfs-quota-enforced", Bool), ("allowed-unsafe-sysctls", TextList),
    ("server-tls-bootstrap", Bool), ("registry-qps", Integer), ("registry-burst", Integer),
    ("event-qps", Integer), ("event-burst", Integer), ("kube-api-qps", Integer),
    ("kube-api-burst", Integer), ("container-log-max-size", Text),
    ("container-log-max-files", Integer), ("container-log-max-workers", Integer),
    ("container-log-monitor-interval", Text), ("cpu-manager-policy", Text),
    ("cpu-manager-policy-options", TextList), ("cpu-manager-reconcile-period", Text),
    ("memory-manager-policy", Text), ("memory-manager-reserved-memory", Table),
    ("topology-manager-scope", Text), ("topology-manager-policy", Text),
    ("topology-manager-policy-options", Table), ("shutdown-grace-period", Text),
    ("shutdown-grace-period-for-critical-pods", Text), ("seccomp-default", Bool),
    ("device-ownership-from-security-context", Bool), ("single-process-oom-kill", Bool),
    ("hostname-override-source", Text), ("log-level", Integer),
    ("node-labels", TextMap), ("node-taints", Taints), ("system-reserved", TextMap),
    ("kube-reserved", TextMap), ("eviction-hard", TextMap), ("eviction-soft", TextMap),
    ("eviction-soft-grace-period", TextMap), ("credential-providers", Table),
    ("static-pods", Table),
];

impl Kind {
    /// Checks a setting; the path is for the reader of the error.
    pub(super) fn check(self, path: &str, item: &Item) -> Result<(), UserDataError> {
        match self {
            TextMap => each(path, table(path, item)?, |path, item| Text.check(path, item)),
            Taints => each(path, table(path, item)?, |path, item| match item.is_str() {
                true => Ok(()),
                false => TextList.check(path, item),
            }),
            Table => table(path, item).map(|_| ()),
            _ if self.admits(item) => Ok(()),
            _ => Err(wrong(path, self.expectation(), item)),
        }
    }

    fn admits(self, item: &Item) -> bool {
        let all_texts = |list: &Array| list.iter().all(|value| value.is_str());
        match self {
            Text => item.is_str(),
            Integer => item.is_integer(),
            Bool => item.is_bool(),
            TextList => item.as_array().is_some_and(all_texts),
            TextMap | Taints | Table => item.is_table_like(),
        }
    }

    const fn expectation(self) -> &'static str {
        match self {
            Text => "a string",
            Integer => "a whole number",
            Bool => "true or false",
            TextList => "a list of strings",
            TextMap | Taints | Table => "a table",
        }
    }
}

/// The table a path has.
pub(super) fn table<'i>(path: &str, item: &'i Item) -> Result<&'i dyn TableLike, UserDataError> {
    item.as_table_like().ok_or_else(|| wrong(path, "a table", item))
}

fn each(
    path: &str,
    table: &dyn TableLike,
    check: impl Fn(&str, &Item) -> Result<(), UserDataError>,
) -> Result<(), UserDataError> {
    table.iter().try_for_each(|(key, item)| check(&format!("{path}.{key}"), item))
}

fn wrong(path: &str, expected: &'static str, item: &Item) -> UserDataError {
    UserDataError::Setting { field: path.to_owned(), expected, found: item.type_name() }
}
