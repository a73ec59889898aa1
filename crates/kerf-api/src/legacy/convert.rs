//! Legacy objects to the NodePools and EC2NodeClasses that mean the same.
//!
//! ```text
//!  Provisioner ─ reading ─┐                       ┌─ node_pool ──────────────────► NodePool
//!  (provider inside?)     ├─ placement: who gets ─┤
//!  AWSNodeTemplate ───────┘   which class name    └─ node_class + kubelet ───────► EC2NodeClass
//! ```
//!
//! An object with an error is left out of the result and the error says why; the others do not
//! suffer from it. A NodePool is given even if the class it names was refused, so that a class
//! written by hand under that name completes it.

mod block_devices;
mod images;
mod kubelet;
mod node_class;
mod node_pool;
mod object_meta;
mod placement;
mod reading;
mod tags;
mod terms;

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt;

use super::aws_node_template::AWSNodeTemplate;
use super::finding::LegacyFinding;
use super::provisioner::Provisioner;
use crate::ec2_node_class::EC2NodeClass;
use crate::node_pool::NodePool;
use placement::Placement;
use reading::{ProvisionerReading, TemplateReading};

/// What the cluster's old global settings and the person converting add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Tags that every template had on top of its own: the old setting `aws.tags`. A template's
    /// own tag wins.
    pub global_tags: BTreeMap<String, String>,
    /// For templates without an instance profile: the old setting `aws.defaultInstanceProfile`.
    pub default_instance_profile: Option<String>,
    /// The node role for classes that get no instance profile from either place.
    pub role: Option<String>,
    /// Write a budget of 100 %, as there were no budgets then; otherwise a NodePool's default of
    /// 10 % applies.
    pub strict_budgets: bool,
    /// The EKS cluster's name, where it is known: inline providers without selectors found subnets
    /// and security groups by the tag `kubernetes.io/cluster/<name>`.
    pub cluster_name: Option<String>,
    /// The minor version of the cluster's Kubernetes, where it is known: what says nothing of its
    /// images gets AL2 only as long as there are AL2 images for it.
    pub kubernetes_minor: Option<u32>,
}

/// What came of a conversion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// One for every Provisioner without an error, in the order given.
    pub node_pools: Vec<NodePool>,
    /// One for every template without an error, in the order given; then more for those whose
    /// Provisioners differ in their kubelet settings; then those of inline providers.
    pub node_classes: Vec<EC2NodeClass>,
    /// Errors and warnings: first of Provisioners, then of templates.
    pub problems: Vec<LegacyFinding>,
}

impl Converted {
    /// Whether everything that was given was converted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.problems.iter().any(LegacyFinding::is_error)
    }
}

/// Converts Provisioners and the templates they use, which should be given together: kubelet
/// settings move from the former to the classes made of the latter.
#[must_use]
pub fn convert(
    provisioners: &[Provisioner],
    templates: &[AWSNodeTemplate],
    options: &Options,
) -> Converted {
    let mut provisioners: Vec<_> =
        provisioners.iter().map(|it| ProvisionerReading::of(it, options)).collect();
    let mut templates: Vec<_> =
        templates.iter().map(|it| TemplateReading::of(it, options)).collect();
    refuse_repeated_names(&mut provisioners, &mut templates);

    let placement = Placement::of(&mut provisioners, &templates);
    let mut node_classes = Vec::new();
    for plan in &placement.classes {
        node_classes.extend(node_class::build(plan, &mut provisioners, &templates));
    }
    let mut node_pools = Vec::new();
    for (reading, class) in provisioners.iter_mut().zip(&placement.class_of_provisioner) {
        node_pools.extend(node_pool::build(reading, class, options));
    }
    let of_provisioners = provisioners.into_iter().map(|reading| reading.findings);
    let of_templates = templates.into_iter().map(|reading| reading.findings);
    let problems =
        of_provisioners.chain(of_templates).flat_map(|findings| findings.into_problems()).collect();
    Converted { node_pools, node_classes, problems }
}

/// Manifests from several files may give one name twice; the first stands.
fn refuse_repeated_names(
    provisioners: &mut [ProvisionerReading<'_>],
    templates: &mut [TemplateReading<'_>],
) {
    const MESSAGE: &str = "another object of this kind has the same name; keep one of them";
    let mut seen = BTreeSet::new();
    for reading in provisioners {
        if !seen.insert(reading.provisioner.name_any()) {
            reading.findings.error("metadata.name", MESSAGE);
        }
    }
    let mut seen = BTreeSet::new();
    for reading in templates {
        if !seen.insert(reading.template.name_any()) {
            reading.findings.error("metadata.name", MESSAGE);
        }
    }
}
