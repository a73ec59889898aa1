//! A region's instance types, from the tables compiled in to a plan: most of what `kerf plan` does.

use std::hint::black_box;
use std::sync::Arc;

use kerf_catalog::aws::{OwnLabels, Wanted, Zones, instance_types};
use kerf_catalog::settings::NodeClassSettings;
use kerf_model::labels::{LabelRules, aws, well_known};
use kerf_model::pod::SpreadConstraint;
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::selector::LabelSelector;
use kerf_scheduler::{PlacementProblem, PoolWithTypes};

use crate::workload;

const REGION: &str = "us-east-1";
/// The labels of AWS's own that the pool asks for.
const ASKED: [&str; 2] = [aws::INSTANCE_CATEGORY, aws::INSTANCE_GENERATION];

/// The work of a name, if it is this: ten pods spread over the zones of a region, as
/// `examples/inflate.yaml` has them.
pub(crate) fn work(name: &str) -> Option<Box<dyn FnMut()>> {
    if name != "region-plan" {
        return None;
    }
    let mut problem = workload::problem("replicas-10").expect("a workload of that name");
    problem.settings.label_rules = LabelRules::core().with(&aws::provider_labels());
    spread_over_zones(&mut problem);
    let mut pool = (*problem.pools[0].pool).clone();
    pool.template.spec.requirements = wanted();
    let (pool, settings) = (Arc::new(pool), NodeClassSettings::default());
    let pools = [wanted()];
    Some(Box::new(move || {
        let wanted = Wanted { labels: OwnLabels::Only(&ASKED), pools: Some(&pools) };
        let types = instance_types(REGION, &settings, Zones::All, wanted);
        let instance_types = types.expect("the region is known").collect();
        problem.pools = vec![PoolWithTypes { pool: pool.clone(), instance_types }];
        let solution = kerf_scheduler::solve(black_box(&problem));
        assert!(solution.unplaced.is_empty(), "there is an instance type for every pod");
        black_box(solution);
    }))
}

fn spread_over_zones(problem: &mut PlacementProblem) {
    for pod in &mut problem.pods {
        let shape = Arc::make_mut(&mut pod.shape);
        shape.spreads = vec![SpreadConstraint {
            topology_key: well_known::ZONE.to_owned(),
            max_skew: 1,
            required: true,
            min_domains: None,
            selector: Some(LabelSelector {
                match_labels: shape.labels.clone(),
                ..LabelSelector::default()
            }),
            match_label_keys: Vec::new(),
            honours_affinity: true,
            honours_taints: false,
        }];
    }
}

fn wanted() -> Vec<RequirementEntry> {
    vec![
        RequirementEntry::new(well_known::ARCH, Operator::In, ["amd64"]),
        RequirementEntry::new(well_known::OS, Operator::In, ["linux"]),
        RequirementEntry::new(well_known::CAPACITY_TYPE, Operator::In, ["spot", "on-demand"]),
        RequirementEntry::new(aws::INSTANCE_CATEGORY, Operator::In, ["c", "m", "r"]),
        RequirementEntry::new(aws::INSTANCE_GENERATION, Operator::Gt, ["2"]),
    ]
}
