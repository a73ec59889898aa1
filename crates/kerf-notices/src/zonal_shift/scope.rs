//! Which announcements count for this cluster.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::{Origin, ShiftEvent};

/// The cluster, and how strictly an announcement must name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The cluster's region.
    pub region: String,
    /// The cluster's name.
    pub cluster_name: String,
    /// The cluster's ARN, when known.
    pub cluster_arn: Option<String>,
    /// `--zonal-shift-match`.
    pub matching: Matching,
}

/// How strictly an announcement must name the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matching {
    /// Every shift in the account and region counts.
    #[default]
    Any,
    /// The cluster, or one of these resources, must be listed.
    Cluster {
        /// `--zonal-shift-resources`.
        also: BTreeSet<String>,
    },
}

/// Whether an announcement counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Admission {
    /// It does.
    Counts,
    /// It does, though it names only other resources, which somebody should know.
    CountsThoughAboutOthers,
    /// It is about another region.
    OtherRegion,
    /// It is about other resources, and the setting asks for this cluster.
    OtherResources,
}

impl Scope {
    /// Whether the announcement counts for this cluster.
    pub fn admits(&self, event: &ShiftEvent) -> Admission {
        if event.region != self.region {
            return Admission::OtherRegion;
        }
        let names_us = event.resources.iter().any(|resource| self.is_ours(resource));
        let is_observer_notice = event.resources.is_empty();
        match self.matching {
            _ if names_us => Admission::Counts,
            Matching::Any if is_observer_notice => Admission::Counts,
            Matching::Any => Admission::CountsThoughAboutOthers,
            // An observer hears of autoshifts only; the zone is impaired for everybody in it.
            Matching::Cluster { .. }
                if is_observer_notice && event.kind.origin() == Origin::Autoshift =>
            {
                Admission::Counts
            }
            Matching::Cluster { .. } => Admission::OtherResources,
        }
    }

    fn is_ours(&self, resource: &str) -> bool {
        if resource == self.cluster_name || Some(resource) == self.cluster_arn.as_deref() {
            return true;
        }
        match &self.matching {
            Matching::Any => false,
            Matching::Cluster { also } => also.contains(resource),
        }
    }
}
