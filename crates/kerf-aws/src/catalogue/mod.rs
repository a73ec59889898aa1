//! The instance types of AWS as node classes change them, from built-in tables: no call is made.

mod expression_problems;
pub(crate) mod kubelet_expressions;
mod named_labels;
pub(crate) mod node_class;

use std::sync::Arc;

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_catalog::aws::{self, OwnLabels, Wanted, Zones};
use kerf_catalog::region::UnknownRegion;
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;
use kerf_model::instance_type::InstanceType;
use kerf_model::requirement::RequirementEntry;

pub use expression_problems::{ExpressionProblem, expression_problems};
use kubelet_expressions::KubeletExpressions;
pub use named_labels::NamedLabels;

/// What is asked of the tables; the less, the faster the answer.
#[derive(Clone, Copy, Debug)]
pub struct InstanceTypesQuery<'a> {
    /// Where instances are launched.
    pub region: &'a str,
    /// What instances are launched with; without one, with no settings at all. The subnets in its
    /// status say in which zones.
    pub node_class: Option<&'a EC2NodeClass>,
    /// The labels somebody names. Labels of AWS's own beyond these are left out.
    pub labels: &'a NamedLabels,
    /// Only types that one of these pools can use; all types if none are given.
    pub pools: Option<&'a [Vec<RequirementEntry>]>,
}

/// What is wrong with the expressions among a class's kubelet settings, if anything is.
#[must_use]
pub fn expression_problem(class: &EC2NodeClass) -> Option<String> {
    let expressions = class.spec.kubelet.as_ref().map(KubeletExpressions::of)?;
    expressions.err().map(|error| error.to_string())
}

/// The instance types that nodes of a node class can be made of.
///
/// # Errors
/// Nothing is known about the region.
pub fn instance_types(query: InstanceTypesQuery<'_>) -> Result<Arc<[InstanceType]>, UnknownRegion> {
    let InstanceTypesQuery { region, node_class, labels, pools } = query;
    let settings = node_class.map_or_else(NodeClassSettings::default, node_class::settings);
    let zones = node_class.map(node_class::zones).unwrap_or_default();
    let zones = if zones.is_empty() { Zones::All } else { Zones::Only(&zones) };
    let labels = labels.keys();
    let wanted = Wanted { labels: OwnLabels::Only(&labels), pools };
    let kubelet = node_class.and_then(|class| class.spec.kubelet.as_ref());
    // What cannot be computed is told by validation; here it is left to its default.
    let expressions = kubelet.and_then(|kubelet| KubeletExpressions::of(kubelet).ok().flatten());
    let Some(expressions) = expressions else {
        return Ok(aws::instance_types(region, &settings, zones, wanted)?.collect());
    };
    let settings_of = |shape: &Shape| expressions.settings_for(shape, &settings).0;
    Ok(aws::instance_types_by_shape(region, zones, wanted, settings_of)?.into())
}
