//! Zones of the account and subnets of a network.

use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{Filter, SubnetState};

use crate::call_metrics::CallMetrics;
use crate::instances::pairs;
use crate::{CallError, Result, Session};

/// As the SDKs name it.
const SERVICE: &str = "EC2";

/// The most results a page of DescribeSubnets has.
const PAGE: i32 = 1_000;

/// Pages read for one answer. A network has two hundred subnets unless somebody asks for more.
const PAGES_MAX: usize = 10;

/// A zone, by both its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The same place for every account: `use1-az2`.
    pub id: String,
    /// What this account calls it: `us-east-1a`.
    pub name: String,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubnetDescription {
    /// The network it belongs to.
    pub vpc_id: String,
    /// The name of its zone.
    pub zone: String,
    /// The id of its zone.
    pub zone_id: String,
    /// Whether its state is `available`.
    pub is_available: bool,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

/// Descriptions of zones and subnets.
#[derive(Clone, Debug)]
pub struct Network {
    client: Client,
    metrics: CallMetrics,
}

impl Network {
    pub(crate) fn new(session: &Session) -> Self {
        Self { client: Client::new(session.sdk_config()), metrics: session.metrics().clone() }
    }

    /// The account's zones in the region, also those not opted in to.
    pub async fn zones(&self) -> Result<Vec<Zone>> {
        let call = self.client.describe_availability_zones().all_availability_zones(true);
        let answer = self.metrics.count(SERVICE, "DescribeAvailabilityZones", call.send()).await;
        let answer =
            answer.map_err(|error| CallError::new("ec2:DescribeAvailabilityZones", "*", error))?;
        let zone = |zone: &aws_sdk_ec2::types::AvailabilityZone| {
            let (id, name) = (zone.zone_id()?, zone.zone_name()?);
            Some(Zone { id: id.to_owned(), name: name.to_owned() })
        };
        Ok(answer.availability_zones().iter().filter_map(zone).collect())
    }

    /// The subnets of a network.
    pub async fn subnets(&self, vpc_id: &str) -> Result<Vec<SubnetDescription>> {
        const ACTION: &str = "ec2:DescribeSubnets";
        let filter = Filter::builder().name("vpc-id").values(vpc_id).build();
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.client.describe_subnets().filters(filter.clone()).max_results(PAGE);
            let call = call.set_next_token(token).send();
            let answer = self.metrics.count(SERVICE, "DescribeSubnets", call).await;
            let page = answer.map_err(|error| CallError::new(ACTION, "*", error))?;
            found.extend(page.subnets().iter().filter_map(described));
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

fn described(subnet: &aws_sdk_ec2::types::Subnet) -> Option<SubnetDescription> {
    Some(SubnetDescription {
        vpc_id: subnet.vpc_id()?.to_owned(),
        zone: subnet.availability_zone()?.to_owned(),
        zone_id: subnet.availability_zone_id().unwrap_or_default().to_owned(),
        is_available: subnet.state() == Some(&SubnetState::Available),
        tags: pairs(subnet.tags()),
    })
}
