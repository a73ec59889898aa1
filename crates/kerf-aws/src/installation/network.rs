//! The subnets and security groups that nodes are launched in, and what launches left behind.

use std::collections::BTreeSet;

use aws_sdk_ec2::types::{Filter, RouteTable, Tag};

use super::Installation;
use crate::instances::pairs;
use crate::{CallError, Result};

/// Pages read for one answer.
const PAGES_MAX: usize = 10;
/// Resources that one call tags.
const TAGGED_AT_ONCE: usize = 500;

/// A subnet that nodes may be launched in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledSubnet {
    /// Its id.
    pub id: String,
    /// Its zone.
    pub zone: String,
    /// Whether a route leads from it to the internet and back.
    pub is_public: bool,
    /// Addresses that are left.
    pub free_addresses: u32,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

/// A security group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedGroup {
    /// Its id.
    pub id: String,
    /// Keys and values.
    pub tags: Vec<(String, String)>,
}

impl Installation {
    /// The subnets of a network.
    pub async fn subnets(&self, vpc_id: &str) -> Result<Vec<InstalledSubnet>> {
        const ACTION: &str = "ec2:DescribeSubnets";
        let public = self.public_subnets(vpc_id).await?;
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.ec2.describe_subnets().filters(filter("vpc-id", vpc_id));
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, vpc_id, error))?;
            found.extend(page.subnets().iter().filter_map(|one| {
                let id = one.subnet_id()?.to_owned();
                Some(InstalledSubnet {
                    zone: one.availability_zone()?.to_owned(),
                    is_public: public.contains(&id),
                    free_addresses: one.available_ip_address_count()?.try_into().unwrap_or(0),
                    tags: pairs(one.tags()),
                    id,
                })
            }));
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// The subnets whose own route table leads to an internet gateway. One without a table of its
    /// own has the network's main table, which is looked at by whoever chooses.
    async fn public_subnets(&self, vpc_id: &str) -> Result<BTreeSet<String>> {
        const ACTION: &str = "ec2:DescribeRouteTables";
        let answer =
            self.ec2.describe_route_tables().filters(filter("vpc-id", vpc_id)).send().await;
        let answer = answer.map_err(|error| CallError::new(ACTION, vpc_id, error))?;
        let public = answer.route_tables().iter().filter(|table| leads_out(table));
        let subnets = public.flat_map(|table| table.associations());
        Ok(subnets.filter_map(|one| one.subnet_id()).map(str::to_owned).collect())
    }

    /// Security groups of a network.
    pub async fn security_groups(&self, vpc_id: &str) -> Result<Vec<TaggedGroup>> {
        const ACTION: &str = "ec2:DescribeSecurityGroups";
        let call = self.ec2.describe_security_groups().filters(filter("vpc-id", vpc_id));
        let answer = call.send().await.map_err(|error| CallError::new(ACTION, vpc_id, error))?;
        let group = |one: &aws_sdk_ec2::types::SecurityGroup| {
            Some(TaggedGroup { id: one.group_id()?.to_owned(), tags: pairs(one.tags()) })
        };
        Ok(answer.security_groups().iter().filter_map(group).collect())
    }

    /// Gives resources a tag.
    pub async fn tag(&self, ids: &[String], key: &str, value: &str) -> Result<()> {
        for some in ids.chunks(TAGGED_AT_ONCE) {
            let tag = Tag::builder().key(key).value(value).build();
            let call = self.ec2.create_tags().set_resources(Some(some.to_vec())).tags(tag);
            let answer = call.send().await;
            answer.map_err(|error| CallError::new("ec2:CreateTags", &some.join(","), error))?;
        }
        Ok(())
    }
}

fn filter(name: &str, value: &str) -> Filter {
    Filter::builder().name(name).values(value).build()
}

fn leads_out(table: &RouteTable) -> bool {
    table.routes().iter().any(|route| route.gateway_id().is_some_and(|id| id.starts_with("igw-")))
}
