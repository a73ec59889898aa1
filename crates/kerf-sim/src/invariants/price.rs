//! Net price: what consolidation puts in the place of nodes costs no more than they did, at the
//! prices that could be known when it was decided.

use kerf_engine::command::record::Record;
use kerf_engine::observed::{Claim, Name};
use kerf_engine::time::Span;
use kerf_model::budget::DisruptionReason;

use super::{Checker, Rule};
use crate::cloud::Cloud;
use crate::store::Store;

/// A plan is searched for and kept for a while before its commands are decided on.
const PLAN_KEPT_FOR: Span = Span::from_minutes(10);

impl Checker {
    /// Looks at a node that is given up for what comes in its place; once for each command.
    pub(super) fn check_price(
        &mut self,
        claim: &Claim,
        reason: DisruptionReason,
        store: &Store,
        cloud: &Cloud,
    ) {
        let record = Record::on(claim).filter(|it| it.disruption_reason() == Some(reason));
        let Some(record) = record.filter(|_| reason == DisruptionReason::Underutilized) else {
            return;
        };
        if self.is_overlap() || !self.priced.insert(record.id.clone()) {
            return;
        }
        let until = record.decided_at();
        let from = until - self.staleness - PLAN_KEPT_FOR;
        let bounds = |name: &Name| {
            let id = store.claims.get(name)?.status.provider_id.as_ref()?;
            Some(cloud.price_bounds(cloud.instances.get(id)?.offering, from, until))
        };
        // Where one of them is gone already, nobody can tell what it cost.
        let before: Option<u64> = record.candidates.iter().map(|it| Some(bounds(it)?.1)).sum();
        let after: Option<u64> = record.replacements.iter().map(|it| Some(bounds(it)?.0)).sum();
        if let (Some(before), Some(after)) = (before, after)
            && after > before
        {
            let what = format!("{}: {after} micro-dollars an hour for {before}", record.id.0);
            self.object(Rule::Dearer, what);
        }
    }
}
