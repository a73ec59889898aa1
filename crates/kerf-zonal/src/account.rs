//! What is asked of AWS. A call that is not permitted is logged once and answers nothing; the rest
//! keeps working.

use kerf_aws::{
    CallError, ClusterDescription, Clusters, ListedZonalShift, Network, Session, ZonalShifts,
};
use kerf_engine::zonal_shift::{ArcReading, ShiftNetwork};
use kerf_kube::{Pending, ShiftAccount};
use kerf_notices::zonal_shift::{
    ArcReplies, Listing, Matching, Origin, Subnet, ZoneId, ZoneName, ZoneTable,
};
use kerf_runtime::{FailureLog, Kind};
use serde_json::{Map, Value, json};

/// The origins ARC knows of; when it lists all of them, age need not end a shift.
const ARC_ORIGINS: [Origin; 4] = [Origin::Autoshift, Origin::Fis, Origin::Manual, Origin::Practice];

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

/// The account of one cluster, with what is asked of it for NodePool mode.
#[derive(Clone, Debug)]
pub(crate) struct ClusterAccount {
    pub(crate) account: Account,
    pub(crate) cluster_name: String,
    pub(crate) matching: Matching,
    pub(crate) failures: FailureLog,
}

/// ARC's answers as JSON; absent where it gave none.
#[derive(Clone, Debug, Default, PartialEq)]
struct ArcAnswers {
    managed_resource: Option<Value>,
    zonal_shifts: Option<Vec<Value>>,
    autoshifts: Option<Vec<Value>>,
    /// Whether a permission is missing, so that absence will last.
    is_denied: bool,
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
}

impl ShiftAccount for ClusterAccount {
    fn describe_network(&self) -> Pending<'_, ShiftNetwork> {
        Box::pin(async {
            let zones = self.zones().await;
            let cluster = self.cluster().await;
            let vpc_id = cluster.as_ref().and_then(|cluster| cluster.vpc_id.clone());
            let subnets = match &vpc_id {
                Some(vpc_id) => self.subnets(vpc_id).await,
                None => None,
            };
            let cluster_arn = cluster.map(|cluster| cluster.arn);
            ShiftNetwork { zones, cluster_arn, vpc_id, subnets }
        })
    }

    fn list_shifts<'a>(&'a self, cluster_arn: Option<&'a str>) -> Pending<'a, ArcReading> {
        Box::pin(async move {
            let answers = self.arc(cluster_arn).await;
            let replies = ArcReplies {
                managed_resource: answers.managed_resource.as_ref(),
                zonal_shifts: answers.zonal_shifts.as_deref(),
                autoshifts: answers.autoshifts.as_deref(),
            };
            let listing = Listing::read(replies, &self.matching);
            let lists = |origin: &Origin| listing.complete_for.contains(origin);
            let is_complete = ARC_ORIGINS.iter().all(lists);
            ArcReading { listing, is_complete, is_denied: answers.is_denied }
        })
    }
}

impl ClusterAccount {
    /// Ids and names of zones.
    async fn zones(&self) -> Option<ZoneTable> {
        let zones = self.account.network.zones().await;
        let zones = self.answered("zones", "zone ids cannot be translated", zones)?;
        let mut table = ZoneTable::default();
        for zone in zones {
            table.learn(&ZoneId::new(&zone.id), &ZoneName::new(&zone.name));
        }
        Some(table)
    }

    /// The cluster.
    async fn cluster(&self) -> Option<ClusterDescription> {
        const WHAT: &str = "cluster";
        let name = &self.cluster_name;
        let answer = self.account.clusters.describe(name).await;
        let found = self.answered(WHAT, "the cluster's network is not known", answer)?;
        if found.is_none() {
            let message = format!(
                "there is no EKS cluster {name} in this account and region; check CLUSTER_NAME and \
                 AWS_REGION"
            );
            self.failures.failed(WHAT, "no such cluster", message);
        }
        found
    }

    /// The subnets of a network.
    async fn subnets(&self, vpc_id: &str) -> Option<Vec<Subnet>> {
        let subnets = self.account.network.subnets(vpc_id).await;
        let effect = "pools without zones can only be kept out of one by their node class";
        let subnets = self.answered("subnets", effect, subnets)?;
        let subnet = |one: kerf_aws::SubnetDescription| Subnet {
            vpc_id: one.vpc_id,
            zone: ZoneName::new(&one.zone),
            is_available: one.is_available,
            tags: one.tags.into_iter().collect(),
        };
        Some(subnets.into_iter().map(subnet).collect())
    }

    /// What ARC lists, of the cluster and of everything else.
    async fn arc(&self, arn: Option<&str>) -> ArcAnswers {
        let mut answers = ArcAnswers::default();
        let effect = "shifts whose events are lost are not made good, and end by age";
        let shifts = &self.account.zonal_shifts;
        if let Some(arn) = arn {
            let answer = shifts.managed_resource(arn).await;
            answers.is_denied |= is_denied(&answer);
            let found = self.answered("ARC's managed resource", effect, answer).flatten();
            answers.managed_resource = found.map(|resource| {
                json!({
                    "zonalShifts": items(resource.zonal_shifts),
                    "autoshifts": items(resource.autoshifts),
                })
            });
        }
        let answer = shifts.active_zonal_shifts().await;
        answers.is_denied |= is_denied(&answer);
        answers.zonal_shifts = self.answered("ARC's zonal shifts", effect, answer).map(items);
        let answer = shifts.active_autoshifts().await;
        answers.is_denied |= is_denied(&answer);
        answers.autoshifts = self.answered("ARC's autoshifts", effect, answer).map(items);
        answers
    }

    /// The answer, or nothing and a failure in the log.
    fn answered<T>(&self, what: &str, effect: &str, answer: Result<T, CallError>) -> Option<T> {
        match answer {
            Ok(answer) => {
                self.failures.recovered(what);
                Some(answer)
            }
            Err(error) => {
                let message = format!("{error}; until then {effect}");
                self.failures.failed(what, error.kind(), message);
                None
            }
        }
    }
}

fn is_denied<T>(answer: &Result<T, CallError>) -> bool {
    matches!(answer, Err(CallError::Denied { .. }))
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
