//! Launch templates: everything about an instance that its launch does not choose.
//!
//! ```text
//!  TemplateRequest ──┐                        ┌─► LaunchTemplate: name, content, tags
//!  offerings ────────┴─ plan ─ one per Variant ┴─► and the offerings launched by it
//! ```
//!
//! Instance types that need the same image, settings and interfaces share a template. Its name is a
//! hash of its content: equal content has one template, and a template never changes.

mod block_devices;
mod content;
mod image;
mod kubelet;
mod market;
mod network_interfaces;
mod placement;
#[cfg(test)]
mod tests;
mod variant;

use std::collections::BTreeMap;

use aws_sdk_ec2::types::RequestLaunchTemplateData;
use kerf_api::ec2_node_class::{EC2NodeClass, EC2NodeClassStatus};
use kerf_engine::action::LaunchOffering;
use kerf_model::claim::NodeClaim;
use kerf_model::hash::Fnv1a;
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList;
use kerf_model::taint::Taint;
use thiserror::Error;

use super::tags::{self, Tags};
use super::user_data::{UserDataError, UserDataWarning};
use super::{AwsSettings, Cluster};
pub(crate) use image::{Asked, Images, asked};
pub(crate) use placement::Placement;
use variant::Variant;

/// What every name begins with; permissions may go by it.
pub(crate) const NAME_PREFIX: &str = "karpenter.k8s.aws/";

/// What templates are wanted for: a claim, or the test of a node class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TemplateRequest<'a> {
    /// The cluster that instances join.
    pub(crate) cluster: &'a Cluster,
    /// The provider's settings.
    pub(crate) settings: &'a AwsSettings,
    /// The node class, with what was found for it.
    pub(crate) node_class: &'a EC2NodeClass,
    /// The pool; empty in the test of a node class.
    pub(crate) pool: &'a str,
    /// The labels of the claim.
    pub(crate) labels: &'a BTreeMap<String, String>,
    /// What the claim asks of its labels.
    pub(crate) requirements: &'a [RequirementEntry],
    /// The claim's taints.
    pub(crate) taints: &'a [Taint],
    /// The claim's taints that something else removes.
    pub(crate) startup_taints: &'a [Taint],
    /// What the claim's pods ask for.
    pub(crate) requests: &'a ResourceList,
    /// How instances are bought: `spot`, `on-demand` or `reserved`.
    pub(crate) capacity_type: &'a str,
    /// Whose hardware they run on: `default` or `dedicated`.
    pub(crate) tenancy: &'a str,
}

/// A launch template and what is launched by it.
#[derive(Clone, Debug)]
pub(crate) struct LaunchTemplate<'a> {
    /// Made from the content: equal names mean equal templates.
    pub(crate) name: String,
    /// What it says.
    pub(crate) data: RequestLaunchTemplateData,
    /// The tags of the template itself.
    pub(crate) tags: Tags,
    /// The image.
    pub(crate) image_id: String,
    /// The reservation that instances are launched into, if into one.
    pub(crate) reservation: Option<String>,
    /// The place in a placement group, if in one.
    pub(crate) placement: Option<Placement>,
    /// What of the offerings asked for is launched by it; never empty.
    pub(crate) offerings: Vec<LaunchOffering<'a>>,
    /// The size of the user data before it is encoded.
    pub(crate) user_data_bytes: usize,
    /// What the owner of the node class should know about the user data.
    pub(crate) warnings: Vec<UserDataWarning>,
}

/// Why there is no template. The node class must change; trying again alone does not help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum TemplateError {
    /// The class's user data cannot be merged, or is too long.
    #[error(transparent)]
    UserData(#[from] UserDataError),
    /// No image of the class runs on any of the instance types.
    #[error(
        "no image of EC2NodeClass {class} runs on any of {instance_types}; see its status.amis"
    )]
    NoImage {
        /// The class.
        class: String,
        /// Some of the types.
        instance_types: String,
    },
    /// There is no instance type at all that can be what the class asks for.
    #[error(
        "no instance type can be what EC2NodeClass {class} asks for in spec.networkInterfaces, \
         spec.cpuOptions, spec.connectionTracking and spec.placementGroupSelector"
    )]
    NoType {
        /// The class.
        class: String,
    },
    /// The family of the images is not known.
    #[error("EC2NodeClass {class} has neither amiFamily nor an alias in amiSelectorTerms")]
    NoFamily {
        /// The class.
        class: String,
    },
}

impl TemplateError {
    /// In one word, as conditions of classes and claims say it.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::UserData(error) if error.is_too_large() => "UserDataSizeLimitExceeded",
            Self::UserData(_) => "InvalidUserData",
            Self::NoImage { .. } | Self::NoType { .. } | Self::NoFamily { .. } => {
                "NoCompatibleInstanceType"
            }
        }
    }
}

/// The templates that these offerings are launched by, with the offerings of each. Offerings of
/// instance types that no image runs on are left out.
///
/// # Errors
/// There are no types, no image fits any of them, or the user data cannot be written.
pub(crate) fn plan<'a>(
    request: &TemplateRequest<'_>,
    offerings: impl IntoIterator<Item = LaunchOffering<'a>>,
) -> Result<Vec<LaunchTemplate<'a>>, TemplateError> {
    let status = request.status();
    let images = Images::of(status);
    let mut of_types: BTreeMap<&'a str, Option<Variant>> = BTreeMap::new();
    let mut variants: BTreeMap<Variant, Vec<LaunchOffering<'a>>> = BTreeMap::new();
    for offering in offerings {
        let instance_type = offering.instance_type;
        let of_type = of_types.entry(&instance_type.name);
        let of_type = of_type.or_insert_with(|| Variant::of(request, &images, instance_type));
        if let Some(variant) = of_type {
            let variant = variant.clone().bought_by(offering.offering);
            variants.entry(variant).or_default().push(offering);
        }
    }
    if of_types.is_empty() {
        return Err(TemplateError::NoType { class: request.class_name().to_owned() });
    }
    if variants.is_empty() {
        return Err(no_image(request, of_types.into_keys().collect()));
    }
    let template = |(variant, offerings)| template(request, &variant, offerings);
    variants.into_iter().map(template).collect()
}

fn template<'a>(
    request: &TemplateRequest<'_>,
    variant: &Variant,
    offerings: Vec<LaunchOffering<'a>>,
) -> Result<LaunchTemplate<'a>, TemplateError> {
    let user_data = content::user_data(request, variant)?;
    let tags = request.tags();
    let data = content::data(request, variant, &user_data.text, &tags)?;
    Ok(LaunchTemplate {
        name: name(&data, &user_data.text, &tags),
        data,
        tags,
        image_id: variant.image_id.clone(),
        reservation: variant.reservation.clone(),
        placement: variant.placement.clone(),
        offerings,
        user_data_bytes: user_data.text.len(),
        warnings: user_data.warnings,
    })
}

/// The name of a template. Everything is in it: the debug form shows every field but the user data,
/// which it keeps secret.
fn name(data: &RequestLaunchTemplateData, user_data: &str, tags: &Tags) -> String {
    let mut hash = Fnv1a::default();
    hash.write_field(format!("{data:?}").as_bytes());
    hash.write_field(user_data.as_bytes());
    for (key, value) in tags {
        hash.write_field(key.as_bytes());
        hash.write_field(value.as_bytes());
    }
    format!("{NAME_PREFIX}{}", hash.finish())
}

fn no_image(request: &TemplateRequest<'_>, mut unfit: Vec<&str>) -> TemplateError {
    const NAMED_MAX: usize = 5;
    let more = unfit.len().saturating_sub(NAMED_MAX);
    unfit.truncate(NAMED_MAX);
    let mut instance_types = unfit.join(", ");
    if more > 0 {
        instance_types.push_str(&format!(" and {more} more"));
    }
    TemplateError::NoImage { class: request.class_name().to_owned(), instance_types }
}

impl<'a> TemplateRequest<'a> {
    /// For a claim.
    pub(crate) fn for_claim(
        cluster: &'a Cluster,
        settings: &'a AwsSettings,
        node_class: &'a EC2NodeClass,
        claim: &'a NodeClaim,
        capacity_type: &'a str,
        tenancy: &'a str,
    ) -> Self {
        use kerf_model::labels::well_known::NODE_POOL;
        Self {
            cluster,
            settings,
            node_class,
            pool: claim.labels.get(NODE_POOL).map(String::as_str).unwrap_or_default(),
            labels: &claim.labels,
            requirements: &claim.node.requirements,
            taints: &claim.node.taints,
            startup_taints: &claim.node.startup_taints,
            requests: &claim.requests,
            capacity_type,
            tenancy,
        }
    }

    /// The tags of all that is launched.
    pub(crate) fn tags(&self) -> Tags {
        let own = self.node_class.spec.tags.as_ref();
        tags::of_launch(&self.cluster.name, self.class_name(), self.pool, own)
    }

    fn class_name(&self) -> &'a str {
        self.node_class.metadata.name.as_deref().unwrap_or_default()
    }

    fn status(&self) -> Option<&'a EC2NodeClassStatus> {
        self.node_class.status.as_ref()
    }
}
