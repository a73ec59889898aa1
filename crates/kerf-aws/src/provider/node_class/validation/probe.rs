//! The instance types a class is tried with.
//!
//! Which pools use the class is not known here, so that it is tried with what every region sells;
//! and if its images or settings do not go with these, with whatever they go with.

use std::sync::Arc;

use kerf_api::ec2_node_class::EC2NodeClass;
use kerf_catalog::settings::PlacementGroup;
use kerf_engine::action::LaunchOffering;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{aws, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::catalogue::{InstanceTypesQuery, NamedLabels, instance_types};

/// One for each architecture, in the order in which they are tried.
const USUAL: [&str; 2] = ["m5.large", "m6g.large"];
/// The region whose types stand for those of a region that the tables do not know.
const ANY_REGION: &str = "us-east-1";
/// The labels that images tell instance types by.
const LABELS: [&str; 2] = [aws::INSTANCE_GPU_COUNT, aws::INSTANCE_ACCELERATOR_COUNT];

/// The usual types, as nodes of the class would be.
pub(super) fn usual_types(
    region: &str,
    class: &EC2NodeClass,
    group: Option<&PlacementGroup>,
) -> Vec<InstanceType> {
    let named = RequirementEntry::new(well_known::INSTANCE_TYPE, Operator::In, USUAL);
    types(region, class, group, Some(&[vec![named]]))
}

/// All types that the region sells.
pub(super) fn all_types(
    region: &str,
    class: &EC2NodeClass,
    group: Option<&PlacementGroup>,
) -> Vec<InstanceType> {
    types(region, class, group, None)
}

fn types(
    region: &str,
    class: &EC2NodeClass,
    group: Option<&PlacementGroup>,
    pools: Option<&[Vec<RequirementEntry>]>,
) -> Vec<InstanceType> {
    let mut labels = NamedLabels::default();
    LABELS.iter().for_each(|label| labels.note(label));
    // In all zones: what counts is that there is such a type.
    let everywhere = EC2NodeClass { status: None, ..class.clone() };
    let ask = |region| {
        let node_class = Some(&everywhere);
        instance_types(InstanceTypesQuery { region, node_class, labels: &labels, pools })
    };
    let found: Arc<[InstanceType]> = ask(region).or_else(|_| ask(ANY_REGION)).unwrap_or_default();
    let mut found = found.to_vec();
    if let Some(group) = group {
        let id = [group.id.as_str()];
        let entry = RequirementEntry::new(aws::PLACEMENT_GROUP_ID, Operator::In, id);
        found.iter_mut().for_each(|it| it.add_requirement(entry.clone()));
    }
    found.sort_by_key(|it| USUAL.iter().position(|name| *name == it.name).unwrap_or(USUAL.len()));
    found
}

/// One way to buy each type on demand; none of a type that cannot be what the class asks for.
pub(super) fn offerings(types: &[InstanceType]) -> impl Iterator<Item = LaunchOffering<'_>> {
    types.iter().filter_map(|instance_type| {
        let mut offerings = instance_type.offerings.iter().filter(|it| it.available);
        let offering = offerings.find(|it| {
            it.requirements.iter().any(|entry| {
                entry.key == well_known::CAPACITY_TYPE
                    && entry.values.iter().any(|value| value == well_known::ON_DEMAND)
            })
        })?;
        Some(LaunchOffering { instance_type, offering })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn class(settings: &serde_json::Value) -> EC2NodeClass {
        let mut object = json!({
            "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "nodes",
                "subnetSelectorTerms": [], "securityGroupSelectorTerms": []},
        });
        for (field, value) in settings.as_object().unwrap() {
            object["spec"][field] = value.clone();
        }
        serde_json::from_value(object).unwrap()
    }

    fn names(types: &[InstanceType]) -> Vec<&str> {
        offerings(types).map(|it| it.instance_type.name.as_str()).collect()
    }

    #[test]
    fn a_class_is_tried_with_a_type_of_each_architecture() {
        let usual = usual_types("eu-central-1", &class(&json!({})), None);
        assert_eq!(names(&usual), USUAL);
        let usual = usual_types("mars-north-1", &class(&json!({})), None);
        assert_eq!(names(&usual), USUAL, "also in a region that is not known");
    }

    #[test]
    fn types_that_cannot_be_what_the_class_asks_for_are_not_tried() {
        let interfaces = json!({"networkInterfaces": [
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
        ]});
        let class = class(&interfaces);
        assert_eq!(names(&usual_types("us-east-1", &class, None)), [""; 0]);
        assert!(!names(&all_types("us-east-1", &class, None)).is_empty());
    }

    #[test]
    fn types_are_in_the_placement_group_of_the_class() {
        let strategy = kerf_catalog::shape::PlacementStrategy::Spread;
        let group = PlacementGroup { id: "pg-1".to_owned(), strategy, partitions: 0 };
        let usual = usual_types("us-east-1", &class(&json!({})), Some(&group));
        let has_group = |it: &InstanceType| {
            it.requirements
                .iter()
                .any(|entry| entry.key == aws::PLACEMENT_GROUP_ID && entry.values == ["pg-1"])
        };
        assert!(usual.iter().all(has_group));
    }
}
