//! Which clusters there are: searched for beside the batches, so that none waits for it.
//!
//! An edge asks [`Router::searches_due`](super::Router::searches_due) what to look for, does so
//! whenever it likes, and tells [`Router::learn_clusters`](super::Router::learn_clusters). What was
//! found stays in use while it is looked for again.

use std::sync::Arc;

use super::CallFailure;

/// A way to learn which clusters there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Discovery {
    /// Every row of the table.
    Table,
    /// Queues with the tag `kerf.sh/cluster`.
    Tags,
}

/// How long what was found is used if every search since has failed: an hour of a broken service
/// should not keep a zonal shift from the clusters of that morning.
const USABLE_MS: u64 = 3_600_000;

/// A search without an answer for this long is taken for lost and begun anew.
const SEARCH_MS_MAX: u64 = 60_000;

/// After a failed search, before the next. Doubles up to the second number.
const RETRY_FIRST_MS: u64 = 1_000;
const RETRY_LAST_MS: u64 = 60_000;

/// The two ways to search.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterSearches([Search; 2]);

/// One way to search, and what it gave.
#[derive(Clone, Debug, Default)]
struct Search {
    found: Option<Found>,
    /// Until when the search under way is waited for.
    under_way_until_ms: Option<u64>,
    failure: Option<CallFailure>,
    /// No search before this moment.
    not_before_ms: u64,
    failures: u32,
}

#[derive(Clone, Debug)]
struct Found {
    clusters: Vec<Arc<str>>,
    usable_until_ms: u64,
}

impl ClusterSearches {
    /// Whether to search that way now; if so, the search counts as begun.
    pub(super) fn begin(&mut self, how: Discovery, now_ms: u64) -> bool {
        let search = &mut self.0[how as usize];
        if search.next_ms() > now_ms {
            return false;
        }
        search.under_way_until_ms = Some(now_ms.saturating_add(SEARCH_MS_MAX));
        true
    }

    /// When the next search of that way is due.
    pub(super) fn next_ms(&self, how: Discovery) -> u64 {
        self.0[how as usize].next_ms()
    }

    /// Takes in the clusters there are. They are not searched for again before `fresh_until_ms`.
    pub(super) fn found(
        &mut self,
        how: Discovery,
        clusters: Vec<Arc<str>>,
        fresh_until_ms: u64,
        now_ms: u64,
    ) {
        let usable_until_ms = fresh_until_ms.max(now_ms.saturating_add(USABLE_MS));
        self.0[how as usize] = Search {
            found: Some(Found { clusters, usable_until_ms }),
            not_before_ms: fresh_until_ms,
            ..Search::default()
        };
    }

    /// Takes in that a search gave nothing. Without the right to search, the answer is that no
    /// cluster is found that way, and the failure is told.
    pub(super) fn failed(
        &mut self,
        how: Discovery,
        failure: CallFailure,
        fresh_until_ms: u64,
        now_ms: u64,
    ) {
        if matches!(failure, CallFailure::Denied(_)) {
            self.found(how, Vec::new(), fresh_until_ms, now_ms);
            self.0[how as usize].failure = Some(failure);
            return;
        }
        let search = &mut self.0[how as usize];
        let wait_ms = RETRY_FIRST_MS << search.failures.min(6);
        search.failures = search.failures.saturating_add(1);
        search.under_way_until_ms = None;
        search.not_before_ms = now_ms.saturating_add(wait_ms.min(RETRY_LAST_MS));
        search.failure = Some(failure);
    }

    /// The clusters that were found that way, if that is known well enough.
    pub(super) fn clusters(&self, how: Discovery, now_ms: u64) -> Option<&[Arc<str>]> {
        let found = self.0[how as usize].found.as_ref()?;
        (now_ms < found.usable_until_ms).then_some(found.clusters.as_slice())
    }

    /// Why the last search of that way gave nothing, if so.
    pub(super) fn failure(&self, how: Discovery) -> Option<&CallFailure> {
        self.0[how as usize].failure.as_ref()
    }
}

impl Search {
    fn next_ms(&self) -> u64 {
        self.under_way_until_ms.unwrap_or(self.not_before_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_search_is_under_way_until_its_answer_or_until_it_is_lost() {
        let mut searches = ClusterSearches::default();
        assert!(searches.begin(Discovery::Tags, 0));
        assert!(!searches.begin(Discovery::Tags, 10), "asked once, however many ask");
        assert!(searches.begin(Discovery::Table, 10), "the other way is its own search");
        assert!(!searches.begin(Discovery::Tags, SEARCH_MS_MAX - 1));
        assert!(searches.begin(Discovery::Tags, SEARCH_MS_MAX));
    }

    #[test]
    fn what_was_found_is_used_while_it_is_searched_for_again_and_searches_fail() {
        let mut searches = ClusterSearches::default();
        searches.found(Discovery::Tags, vec!["a".into()], 600_000, 0);
        assert!(!searches.begin(Discovery::Tags, 599_999));
        assert!(searches.begin(Discovery::Tags, 600_000));
        let failure = CallFailure::Unavailable("503".to_owned());
        searches.failed(Discovery::Tags, failure, 1_200_000, 601_000);
        assert_eq!(searches.clusters(Discovery::Tags, 601_000).map(<[_]>::len), Some(1));
        assert!(
            !searches.begin(Discovery::Tags, 601_999) && searches.begin(Discovery::Tags, 602_000)
        );
        assert_eq!(searches.clusters(Discovery::Tags, USABLE_MS), None, "an hour is too old");
    }
}
