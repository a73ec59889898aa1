//! What is asked of AWS. A call that is not permitted is complained of once and answers nothing;
//! the rest keeps working.

use kerf_aws::{
    CallError, ClusterDescription, Clusters, ListedZonalShift, Network, Session, ZonalShifts,
};
use kerf_notices::zonal_shift::{Subnet, ZoneName};
use serde_json::{Map, Value, json};

use crate::daemon::complaints::{Complaints, Kind};

/// An AWS account and region.
#[derive(Clone, Debug)]
pub struct Account {
    /// Zones and subnets.
    pub network: Network,
    /// Clusters.
    pub clusters: Clusters,
    /// What ARC lists.
    pub zonal_shifts: ZonalShifts,
}

/// ARC's answers, in its own words; absent where it gave none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ArcAnswers {
    pub(crate) managed_resource: Option<Value>,
    pub(crate) zonal_shifts: Option<Vec<Value>>,
    pub(crate) autoshifts: Option<Vec<Value>>,
    /// Whether a permission is missing, so that absence will last.
    pub(crate) is_denied: bool,
}

impl Account {
    /// The account of a session.
    pub fn new(session: &Session) -> Self {
        Self {
            network: session.network(),
            clusters: session.clusters(),
            zonal_shifts: session.zonal_shifts(),
        }
    }

    /// Ids and names of zones.
    pub(crate) async fn zones(&self, complaints: &Complaints) -> Option<Vec<(String, String)>> {
        const WHAT: &str = "zones";
        let zones = self.network.zones().await;
        let zones = heard(WHAT, "zone ids cannot be translated", zones, complaints)?;
        Some(zones.into_iter().map(|zone| (zone.id, zone.name)).collect())
    }

    /// The cluster.
    pub(crate) async fn cluster(
        &self,
        name: &str,
        complaints: &Complaints,
    ) -> Option<ClusterDescription> {
        const WHAT: &str = "cluster";
        let answer = self.clusters.describe(name).await;
        let found = heard(WHAT, "the cluster's network is not known", answer, complaints)?;
        if found.is_none() {
            let words = format!(
                "there is no EKS cluster {name} in this account and region; check CLUSTER_NAME and \
                 AWS_REGION"
            );
            complaints.complain(WHAT, Kind::Denied, words);
        }
        found
    }

    /// The subnets of a network.
    pub(crate) async fn subnets(
        &self,
        vpc_id: &str,
        complaints: &Complaints,
    ) -> Option<Vec<Subnet>> {
        let subnets = self.network.subnets(vpc_id).await;
        let effect = "pools without zones can only be kept out of one by their node class";
        let subnets = heard("subnets", effect, subnets, complaints)?;
        let subnet = |one: kerf_aws::SubnetDescription| Subnet {
            vpc_id: one.vpc_id,
            zone: ZoneName::new(&one.zone),
            is_available: one.is_available,
            tags: one.tags.into_iter().collect(),
        };
        Some(subnets.into_iter().map(subnet).collect())
    }

    /// What ARC lists, of the cluster and of everything else.
    pub(crate) async fn arc(&self, arn: Option<&str>, complaints: &Complaints) -> ArcAnswers {
        let mut answers = ArcAnswers::default();
        let effect = "shifts whose events are lost are not made good, and end by age";
        if let Some(arn) = arn {
            let answer = self.zonal_shifts.managed_resource(arn).await;
            answers.is_denied |= is_denied(&answer);
            let found = heard("ARC's managed resource", effect, answer, complaints).flatten();
            answers.managed_resource = found.map(|resource| {
                json!({
                    "zonalShifts": items(resource.zonal_shifts),
                    "autoshifts": items(resource.autoshifts),
                })
            });
        }
        let answer = self.zonal_shifts.active_zonal_shifts().await;
        answers.is_denied |= is_denied(&answer);
        answers.zonal_shifts = heard("ARC's zonal shifts", effect, answer, complaints).map(items);
        let answer = self.zonal_shifts.active_autoshifts().await;
        answers.is_denied |= is_denied(&answer);
        answers.autoshifts = heard("ARC's autoshifts", effect, answer, complaints).map(items);
        answers
    }
}

fn is_denied<T>(answer: &Result<T, CallError>) -> bool {
    matches!(answer, Err(CallError::Denied { .. }))
}

/// The answer, or nothing and a complaint.
fn heard<T>(
    what: &str,
    effect: &str,
    answer: Result<T, CallError>,
    complaints: &Complaints,
) -> Option<T> {
    match answer {
        Ok(answer) => {
            complaints.settle(what);
            Some(answer)
        }
        Err(error) => {
            let is_denied = matches!(error, CallError::Denied { .. });
            let kind = if is_denied { Kind::Denied } else { Kind::Failing };
            complaints.complain(what, kind, format!("{error}; until then {effect}"));
            None
        }
    }
}

/// Shifts as ARC writes them.
pub(crate) fn items(shifts: Vec<ListedZonalShift>) -> Vec<Value> {
    let item = |shift: ListedZonalShift| {
        let mut item = Map::from_iter([
            ("awayFrom".to_owned(), json!(shift.away_from)),
            ("startTime".to_owned(), json!(shift.start_seconds)),
        ]);
        let texts = [
            ("resourceIdentifier", shift.resource),
            ("appliedStatus", shift.applied_status),
            ("shiftType", shift.shift_type),
        ];
        for (name, text) in texts {
            item.extend(text.map(|text| (name.to_owned(), json!(text))));
        }
        item.extend(shift.expiry_seconds.map(|at| ("expiryTime".to_owned(), json!(at))));
        Value::Object(item)
    };
    shifts.into_iter().map(item).collect()
}
