//! Zonal shifts, as Application Recovery Controller lists them.

use aws_sdk_arczonalshift::Client;
use aws_sdk_arczonalshift::primitives::DateTime;
use aws_sdk_arczonalshift::types::{AutoshiftExecutionStatus, ZonalShiftStatus};

use crate::call_metrics::CallMetrics;
use crate::{CallError, Result, Session};

/// As the SDKs name it.
const SERVICE: &str = "ARC Zonal Shift";

/// Items of a page of ListZonalShifts or ListAutoshifts; more are not allowed.
const PAGE: i32 = 100;

/// Pages read for one answer: a thousand shifts at once is more than an account can have.
const PAGES_MAX: usize = 10;

/// One shift, in the words of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedZonalShift {
    /// The id of the zone to be avoided.
    pub away_from: String,
    /// When it began, in seconds since 1970.
    pub start_seconds: i64,
    /// When it ends by itself; autoshifts do not.
    pub expiry_seconds: Option<i64>,
    /// The shifted resource; autoshifts have none.
    pub resource: Option<String>,
    /// `APPLIED` or `NOT_APPLIED`, where it is about one resource.
    pub applied_status: Option<String>,
    /// `ZONAL_SHIFT`, `PRACTICE_RUN` and so on, where the service says so.
    pub shift_type: Option<String>,
}

/// What is shifted of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagedResource {
    /// Shifts somebody or something asked for.
    pub zonal_shifts: Vec<ListedZonalShift>,
    /// Shifts AWS made.
    pub autoshifts: Vec<ListedZonalShift>,
}

/// Listings of zonal shifts.
#[derive(Clone, Debug)]
pub struct ZonalShifts {
    client: Client,
    metrics: CallMetrics,
}

impl ZonalShifts {
    pub(crate) fn new(session: &Session) -> Self {
        Self { client: Client::new(session.sdk_config()), metrics: session.metrics().clone() }
    }

    /// What is shifted of a resource; nothing if it is not registered.
    pub async fn managed_resource(&self, arn: &str) -> Result<Option<ManagedResource>> {
        const ACTION: &str = "arc-zonal-shift:GetManagedResource";
        let call = self.client.get_managed_resource().resource_identifier(arn).send();
        let answer = self.metrics.count(SERVICE, "GetManagedResource", call).await;
        let Some(answer) = CallError::or_none(ACTION, arn, answer)? else { return Ok(None) };
        let shifts = answer.zonal_shifts().iter().map(|shift| ListedZonalShift {
            away_from: shift.away_from().to_owned(),
            start_seconds: shift.start_time().secs(),
            expiry_seconds: Some(shift.expiry_time().secs()),
            resource: Some(shift.resource_identifier().to_owned()),
            applied_status: Some(shift.applied_status().as_str().to_owned()),
            shift_type: shift.shift_type().map(|kind| kind.as_str().to_owned()),
        });
        let autoshifts = answer.autoshifts().iter().map(|shift| ListedZonalShift {
            applied_status: Some(shift.applied_status().as_str().to_owned()),
            ..autoshift(shift.away_from(), shift.start_time())
        });
        let (zonal_shifts, autoshifts) = (shifts.collect(), autoshifts.collect());
        Ok(Some(ManagedResource { zonal_shifts, autoshifts }))
    }

    /// Every active shift that somebody or something asked for, of any resource.
    pub async fn active_zonal_shifts(&self) -> Result<Vec<ListedZonalShift>> {
        const ACTION: &str = "arc-zonal-shift:ListZonalShifts";
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.list_zonal_shifts().status(ZonalShiftStatus::Active);
            let call = call.max_results(PAGE).set_next_token(token).send();
            let answer = self.metrics.count(SERVICE, "ListZonalShifts", call).await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            found.extend(page.items().iter().map(|shift| ListedZonalShift {
                away_from: shift.away_from().to_owned(),
                start_seconds: shift.start_time().secs(),
                expiry_seconds: Some(shift.expiry_time().secs()),
                resource: Some(shift.resource_identifier().to_owned()),
                applied_status: None,
                shift_type: shift.shift_type().map(|kind| kind.as_str().to_owned()),
            }));
            token = page.next_token().map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Every active shift that AWS made.
    pub async fn active_autoshifts(&self) -> Result<Vec<ListedZonalShift>> {
        const ACTION: &str = "arc-zonal-shift:ListAutoshifts";
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.list_autoshifts().status(AutoshiftExecutionStatus::Active);
            let call = call.max_results(PAGE).set_next_token(token).send();
            let answer = self.metrics.count(SERVICE, "ListAutoshifts", call).await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            let item = |shift: &aws_sdk_arczonalshift::types::AutoshiftSummary| {
                autoshift(shift.away_from(), shift.start_time())
            };
            found.extend(page.items().iter().map(item));
            token = page.next_token().map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

fn autoshift(away_from: &str, start: &DateTime) -> ListedZonalShift {
    ListedZonalShift {
        away_from: away_from.to_owned(),
        start_seconds: start.secs(),
        expiry_seconds: None,
        resource: None,
        applied_status: None,
        shift_type: None,
    }
}
