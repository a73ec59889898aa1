//! The account and region an event is about.

use std::sync::Arc;

/// Hub routers see as many scopes as accounts × regions; more than this are not remembered, which
/// costs memory allocations and nothing else.
const REMEMBERED_MAX: usize = 256;

/// An account and a region. Empty parts mean the router's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// Twelve digits, or empty.
    pub account: String,
    /// For example `eu-west-1`, or empty.
    pub region: String,
}

impl Scope {
    /// A scope by its parts.
    pub fn new(account: &str, region: &str) -> Self {
        Self { account: account.to_owned(), region: region.to_owned() }
    }
}

/// A cluster as the router tells them apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutedCluster {
    /// Its name.
    pub name: Arc<str>,
    /// Whether it lives in another account than the router. Its queue then cannot be found by
    /// name, and a queue of that name here would be another cluster's.
    pub foreign: bool,
}

/// Gives equal scopes one shared value.
#[derive(Clone, Debug)]
pub(super) struct ScopeBook {
    home: Arc<Scope>,
    seen: Vec<Arc<Scope>>,
}

impl ScopeBook {
    pub(super) fn new(home: Scope) -> Self {
        Self { home: Arc::new(home), seen: Vec::new() }
    }

    /// Whether a scope is another account's.
    pub(super) fn is_foreign(&self, scope: &Scope) -> bool {
        !self.home.account.is_empty() && scope.account != self.home.account
    }

    /// The shared scope; parts that an event does not state are the router's own.
    pub(super) fn of(&mut self, account: Option<&str>, region: Option<&str>) -> Arc<Scope> {
        let account = account.unwrap_or(&self.home.account);
        let region = region.unwrap_or(&self.home.region);
        let same = |scope: &&Arc<Scope>| scope.account == account && scope.region == region;
        if same(&&self.home) {
            return Arc::clone(&self.home);
        }
        if let Some(known) = self.seen.iter().find(same) {
            return Arc::clone(known);
        }
        let scope = Arc::new(Scope::new(account, region));
        if self.seen.len() < REMEMBERED_MAX {
            self.seen.push(Arc::clone(&scope));
        }
        scope
    }
}
