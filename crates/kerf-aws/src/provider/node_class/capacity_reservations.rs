//! The capacity reservations of a node class.

use std::collections::BTreeMap;

use aws_sdk_ec2::operation::describe_capacity_reservations::DescribeCapacityReservationsOutput;
use aws_sdk_ec2::primitives::DateTimeFormat;
use aws_sdk_ec2::types::{CapacityReservationType as Sold, InstanceMatchCriteria as Matched};
use kerf_api::ec2_node_class::{
    CapacityReservation, CapacityReservationSelectorTerm, CapacityReservationState,
    CapacityReservationType, InstanceMatchCriteria,
};
use serde_json::json;
use tracing::warn;

use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// The most results a page has.
const PAGE: i32 = 1_000;
/// Pages read for one answer.
const PAGES_MAX: usize = 10;
/// Capacity blocks are left so long before they end: EC2 ends their instances thirty minutes
/// before, and a drain takes some.
const EXPIRING_SECONDS: i64 = 40 * 60;
/// How EC2 says that there is no such reservation.
const NOT_FOUND: &str = "InvalidCapacityReservationId.NotFound";

/// A reservation with what changes by the minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundReservation {
    reservation: CapacityReservation,
    /// When it ends, in seconds since 1970, if it does.
    ends_at: Option<i64>,
    /// Instances that can still be launched into it.
    pub(super) available: u32,
}

/// One call: by an id, which others may not be combined with, or by filters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Query {
    id: Option<String>,
    filters: Filters,
}

impl FoundReservation {
    /// The id.
    pub(super) fn id(&self) -> &str {
        &self.reservation.id
    }

    /// As the status has it at that time; none once it has ended.
    pub(super) fn at(&self, now: i64) -> Option<CapacityReservation> {
        if self.ends_at.is_some_and(|end| end <= now) {
            return None;
        }
        let is_block =
            self.reservation.reservation_type == Some(CapacityReservationType::CapacityBlock);
        let is_expiring = is_block && self.ends_at.is_some_and(|end| end - now <= EXPIRING_SECONDS);
        let state = match is_expiring {
            true => CapacityReservationState::Expiring,
            false => CapacityReservationState::Active,
        };
        Some(CapacityReservation { state: Some(state), ..self.reservation.clone() })
    }

    /// When it will next be another: it expires, or ends.
    pub(super) fn changes_at(&self, now: i64) -> Option<i64> {
        let end = self.ends_at?;
        [end - EXPIRING_SECONDS, end].into_iter().find(|time| *time > now)
    }
}

/// The reservations that any term selects, by id.
pub(super) async fn find(
    context: &Context,
    terms: &[CapacityReservationSelectorTerm],
) -> Result<Vec<FoundReservation>> {
    let mut found = BTreeMap::new();
    for query in queries(terms) {
        let reservations = describe(context, &query).await?;
        found.extend(reservations.into_iter().map(|it| (it.reservation.id.clone(), it)));
    }
    Ok(found.into_values().collect())
}

/// A term that has both an id and more asks twice; equal questions are asked once.
fn queries(terms: &[CapacityReservationSelectorTerm]) -> Vec<Query> {
    let mut queries: Vec<Query> = Vec::new();
    for term in terms {
        let by_id = term.id.clone().map(|id| Query { id: Some(id), filters: Filters::default() });
        let mut filters = term.tags.as_ref().map(Filters::tags).unwrap_or_default();
        if let Some(criteria) = term.instance_match_criteria {
            let word = match criteria {
                InstanceMatchCriteria::Open => "open",
                InstanceMatchCriteria::Targeted => "targeted",
            };
            filters = filters.with("instance-match-criteria", word);
        }
        let is_asked = filters != Filters::default();
        if let Some(owner) = &term.owner_id {
            filters = filters.with("owner-id", owner);
        }
        let by_filters = is_asked.then_some(Query { id: None, filters });
        for query in by_id.into_iter().chain(by_filters) {
            if !queries.contains(&query) {
                queries.push(query);
            }
        }
    }
    queries
}

async fn describe(context: &Context, query: &Query) -> Result<Vec<FoundReservation>> {
    let filters = query.filters.clone().with("state", "active").to_sdk();
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let call = |token| {
        let ids = query.id.clone().map(|id| vec![id]);
        // A page size cannot be combined with ids.
        let page_size = ids.is_none().then_some(PAGE);
        let call = context.clients.ec2.describe_capacity_reservations();
        let call = call.set_capacity_reservation_ids(ids).set_filters(Some(filters.clone()));
        call.set_max_results(page_size).set_next_token(token).send()
    };
    let take = |page: DescribeCapacityReservationsOutput| {
        for reservation in page.capacity_reservations() {
            match described(reservation) {
                Some(reservation) => found.push(reservation),
                None => unknown.extend(reservation.capacity_reservation_id().map(str::to_owned)),
            }
        }
        page.next_token
    };
    let action = AwsAction::DescribeCapacityReservations;
    match context.calls.pages(action, PAGES_MAX, call, take).await {
        Err(error) if error.code() == Some(NOT_FOUND) => return Ok(Vec::new()),
        read => read?,
    }
    if !unknown.is_empty() {
        warn!(reservations = unknown.join(", "), "capacity reservations of a kind unknown to Kerf");
    }
    Ok(found)
}

fn described(sold: &aws_sdk_ec2::types::CapacityReservation) -> Option<FoundReservation> {
    let instance_match_criteria = match sold.instance_match_criteria()? {
        Matched::Open => InstanceMatchCriteria::Open,
        Matched::Targeted => InstanceMatchCriteria::Targeted,
        _ => return None,
    };
    let reservation_type = match sold.reservation_type() {
        None | Some(Sold::Default) => CapacityReservationType::Default,
        Some(Sold::CapacityBlock) => CapacityReservationType::CapacityBlock,
        Some(_) => return None,
    };
    let end = sold.end_date();
    let end_text = end.and_then(|end| end.fmt(DateTimeFormat::DateTime).ok());
    Some(FoundReservation {
        reservation: CapacityReservation {
            availability_zone: sold.availability_zone()?.to_owned(),
            end_time: end_text.and_then(|text| serde_json::from_value(json!(text)).ok()),
            id: sold.capacity_reservation_id()?.to_owned(),
            instance_match_criteria,
            instance_type: sold.instance_type()?.to_owned(),
            interruptible: sold.interruptible().filter(|is_so| *is_so),
            owner_id: sold.owner_id()?.to_owned(),
            reservation_type: Some(reservation_type),
            state: None,
        },
        ends_at: end.map(|end| end.secs()),
        available: u32::try_from(sold.available_instance_count().unwrap_or(0)).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::primitives::DateTime;

    use super::*;

    /// The seconds of some morning.
    const END: i64 = 1_780_000_000;

    fn sold(kind: &str) -> aws_sdk_ec2::types::builders::CapacityReservationBuilder {
        aws_sdk_ec2::types::CapacityReservation::builder()
            .capacity_reservation_id("cr-1")
            .owner_id("123456789012")
            .availability_zone("us-east-1a")
            .instance_type("p5.48xlarge")
            .instance_match_criteria(Matched::Targeted)
            .reservation_type(Sold::from(kind))
            .available_instance_count(3)
            .end_date(DateTime::from_secs(END))
    }

    #[test]
    fn a_capacity_block_expires_forty_minutes_before_it_ends() {
        let block = described(&sold("capacity-block").build()).unwrap();
        let state = |now| block.at(now).map(|it| it.state.unwrap());
        assert_eq!(state(END - 2401), Some(CapacityReservationState::Active));
        assert_eq!(state(END - 2400), Some(CapacityReservationState::Expiring));
        assert_eq!(state(END), None);
        assert_eq!(block.changes_at(END - 2401), Some(END - 2400));
        assert_eq!(block.changes_at(END - 2400), Some(END));
        assert_eq!(block.changes_at(END), None);
        let other = described(&sold("default").build()).unwrap();
        assert_eq!(other.at(END - 1).unwrap().state, Some(CapacityReservationState::Active));
    }

    #[test]
    fn a_reservation_is_told_as_the_status_has_it() {
        let found = described(&sold("default").interruptible(true).build()).unwrap();
        let status = serde_json::to_value(found.at(0)).unwrap();
        assert_eq!(
            status,
            json!({
                "availabilityZone": "us-east-1a", "endTime": "2026-05-28T20:26:40Z", "id": "cr-1",
                "instanceMatchCriteria": "targeted", "instanceType": "p5.48xlarge",
                "interruptible": true, "ownerID": "123456789012", "reservationType": "default",
                "state": "active",
            })
        );
        assert_eq!((found.id(), found.available), ("cr-1", 3));
        assert_eq!(described(&sold("bought-at-the-fair").build()), None, "skipped");
    }

    #[test]
    fn an_id_beside_other_things_is_a_question_of_its_own() {
        let term = CapacityReservationSelectorTerm {
            id: Some("cr-1".to_owned()),
            instance_match_criteria: Some(InstanceMatchCriteria::Open),
            owner_id: Some("123456789012".to_owned()),
            tags: None,
        };
        let by_id = Query { id: Some("cr-1".to_owned()), filters: Filters::default() };
        let filters = Filters::default().with("instance-match-criteria", "open");
        let by_filters = Query { id: None, filters: filters.with("owner-id", "123456789012") };
        assert_eq!(queries(&[term.clone(), term]), [by_id, by_filters]);
    }
}
