//! Where SSM has the images that AWS publishes, by alias.

use kerf_catalog::ami_family::AmiFamily as Family;
use kerf_model::labels::{aws, well_known};
use kerf_model::requirement::{Operator, RequirementEntry};

use crate::provider::KubernetesVersion;
use crate::provider::node_class::part::PartError;

/// The version of an alias that follows new releases.
const LATEST: &str = "latest";
/// EKS publishes no AL2 images from this version of Kubernetes on.
const AL2_ENDS_AT: KubernetesVersion = KubernetesVersion { major: 1, minor: 33 };
/// And no images of Windows Server 2025 before this one.
const WINDOWS_2025_BEGINS_AT: KubernetesVersion = KubernetesVersion { major: 1, minor: 35 };

/// A parameter that holds the id of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// What the image is for. Each is an image of its own in the status.
    pub(super) variants: Vec<Variant>,
    /// Whether its value changes with new releases.
    pub(super) is_latest: bool,
}

/// The instance types an image is for, beside its architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Those without GPUs and accelerators.
    Standard,
    /// Those with GPUs.
    Nvidia,
    /// Those with accelerators of AWS.
    Neuron,
    /// Those that run Windows, by its build.
    Windows(&'static str),
}

impl Variant {
    /// What the labels of the instance types are.
    pub(super) fn requirements(self) -> Vec<RequirementEntry> {
        let accelerators = aws::INSTANCE_ACCELERATOR_COUNT;
        let entry = |key, operator| RequirementEntry::new(key, operator, []);
        let one = |key, value| RequirementEntry::new(key, Operator::In, [value]);
        match self {
            Self::Standard => vec![
                entry(aws::INSTANCE_GPU_COUNT, Operator::DoesNotExist),
                entry(accelerators, Operator::DoesNotExist),
            ],
            Self::Nvidia => vec![entry(aws::INSTANCE_GPU_COUNT, Operator::Exists)],
            Self::Neuron => vec![entry(accelerators, Operator::Exists)],
            Self::Windows(build) => vec![
                one(well_known::OS, well_known::OS_WINDOWS),
                one(well_known::WINDOWS_BUILD, build),
            ],
        }
    }
}

/// The parameters behind an alias such as `al2023@latest`.
pub(super) fn parameters(
    alias: &str,
    kubernetes: KubernetesVersion,
) -> Result<Vec<Parameter>, PartError> {
    let (family, version) = alias.split_once('@').unwrap_or((alias, LATEST));
    let is_latest = version == LATEST;
    let parameter = |name: String, variants: &[Variant]| Parameter {
        name,
        variants: variants.to_vec(),
        is_latest,
    };
    let parameters = match family {
        "al2" if kubernetes >= AL2_ENDS_AT => {
            return Err(unsupported(alias, kubernetes, "use al2023 or bottlerocket"));
        }
        "windows2025" if kubernetes < WINDOWS_2025_BEGINS_AT => {
            return Err(unsupported(alias, kubernetes, "use windows2022"));
        }
        "al2" => al2(kubernetes, version).map(|(name, variants)| parameter(name, variants)).into(),
        "al2023" => {
            let names = al2023(kubernetes, version);
            names.map(|(name, variant)| parameter(name, &[variant])).into()
        }
        "bottlerocket" => bottlerocket(kubernetes, version)
            .map(|(name, variants)| parameter(name, variants))
            .into(),
        "windows2019" => vec![windows(Family::Windows2019, "2019", kubernetes)],
        "windows2022" => vec![windows(Family::Windows2022, "2022", kubernetes)],
        "windows2025" => vec![windows(Family::Windows2025, "2025", kubernetes)],
        _ => return Err(unsupported(alias, kubernetes, "there is no such family")),
    };
    Ok(parameters)
}

fn unsupported(alias: &str, kubernetes: KubernetesVersion, advice: &str) -> PartError {
    let message = format!(
        "spec.amiSelectorTerms: there are no images of the alias {alias} for Kubernetes \
         {kubernetes}: {advice}"
    );
    PartError::not_ready("UnsupportedAlias", message)
}

/// The last but one part of a parameter's name.
fn release(version: &str, named: String) -> String {
    if version == LATEST { "recommended".to_owned() } else { named }
}

fn al2(kubernetes: KubernetesVersion, version: &str) -> [(String, &'static [Variant]); 3] {
    let name = |suffix: &str, named: &str| {
        let release = release(version, format!("amazon-eks-{named}node-{kubernetes}-{version}"));
        format!(
            "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2{suffix}/{release}/image_id"
        )
    };
    [
        (name("", ""), &[Variant::Standard]),
        (name("-arm64", "arm64-"), &[Variant::Standard]),
        (name("-gpu", "gpu-"), &[Variant::Neuron, Variant::Nvidia]),
    ]
}

fn al2023(kubernetes: KubernetesVersion, version: &str) -> [(String, Variant); 5] {
    let name = |arch: &str, kind: &str| {
        let named = format!("amazon-eks-node-al2023-{arch}-{kind}-{kubernetes}-{version}");
        let release = release(version, named);
        format!(
            "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{arch}/{kind}/{release}/image_id"
        )
    };
    [
        (name("x86_64", "standard"), Variant::Standard),
        (name("arm64", "standard"), Variant::Standard),
        (name("x86_64", "nvidia"), Variant::Nvidia),
        (name("arm64", "nvidia"), Variant::Nvidia),
        (name("x86_64", "neuron"), Variant::Neuron),
    ]
}

fn bottlerocket(kubernetes: KubernetesVersion, version: &str) -> [(String, &'static [Variant]); 4] {
    let release = version.strip_prefix('v').unwrap_or(version);
    let name = |flavour: &str, arch: &str| {
        format!("/aws/service/bottlerocket/aws-k8s-{kubernetes}{flavour}/{arch}/{release}/image_id")
    };
    [
        (name("", "x86_64"), &[Variant::Standard, Variant::Neuron]),
        (name("", "arm64"), &[Variant::Standard]),
        (name("-nvidia", "x86_64"), &[Variant::Nvidia]),
        (name("-nvidia", "arm64"), &[Variant::Nvidia]),
    ]
}

fn windows(family: Family, year: &str, kubernetes: KubernetesVersion) -> Parameter {
    let name = format!(
        "/aws/service/ami-windows-latest/\
         Windows_Server-{year}-English-Core-EKS_Optimized-{kubernetes}/image_id"
    );
    let build = family.windows_build().unwrap_or_default();
    Parameter { name, variants: vec![Variant::Windows(build)], is_latest: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1_32: KubernetesVersion = KubernetesVersion { major: 1, minor: 32 };
    const V1_36: KubernetesVersion = KubernetesVersion { major: 1, minor: 36 };

    fn names(alias: &str, kubernetes: KubernetesVersion) -> Vec<String> {
        let found = parameters(alias, kubernetes).unwrap();
        found.into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn images_of_amazon_linux_2023_are_where_eks_publishes_them() {
        let root = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023";
        assert_eq!(
            names("al2023@latest", V1_36),
            [
                format!("{root}/x86_64/standard/recommended/image_id"),
                format!("{root}/arm64/standard/recommended/image_id"),
                format!("{root}/x86_64/nvidia/recommended/image_id"),
                format!("{root}/arm64/nvidia/recommended/image_id"),
                format!("{root}/x86_64/neuron/recommended/image_id"),
            ]
        );
        let pinned = &names("al2023@v20260101", V1_36)[0];
        let release = "amazon-eks-node-al2023-x86_64-standard-1.36-v20260101";
        assert_eq!(*pinned, format!("{root}/x86_64/standard/{release}/image_id"));
    }

    #[test]
    fn images_of_amazon_linux_2_are_where_eks_publishes_them() {
        let root = "/aws/service/eks/optimized-ami/1.32/amazon-linux-2";
        assert_eq!(
            names("al2@v20250101", V1_32),
            [
                format!("{root}/amazon-eks-node-1.32-v20250101/image_id"),
                format!("{root}-arm64/amazon-eks-arm64-node-1.32-v20250101/image_id"),
                format!("{root}-gpu/amazon-eks-gpu-node-1.32-v20250101/image_id"),
            ]
        );
        let gpu = &parameters("al2@latest", V1_32).unwrap()[2];
        assert_eq!(gpu.variants, [Variant::Neuron, Variant::Nvidia]);
        assert!(gpu.name.ends_with("-gpu/recommended/image_id"), "{}", gpu.name);
    }

    #[test]
    fn a_version_of_bottlerocket_may_have_a_v_before_it() {
        let root = "/aws/service/bottlerocket/aws-k8s-1.36";
        assert_eq!(names("bottlerocket@v1.50.0", V1_36), names("bottlerocket@1.50.0", V1_36));
        assert_eq!(
            names("bottlerocket@latest", V1_36),
            [
                format!("{root}/x86_64/latest/image_id"),
                format!("{root}/arm64/latest/image_id"),
                format!("{root}-nvidia/x86_64/latest/image_id"),
                format!("{root}-nvidia/arm64/latest/image_id"),
            ]
        );
    }

    #[test]
    fn windows_images_are_for_types_that_run_that_build() {
        let found = &parameters("windows2022@latest", V1_36).unwrap()[0];
        assert_eq!(
            found.name,
            "/aws/service/ami-windows-latest/\
             Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id"
        );
        let build = &found.variants[0].requirements()[1];
        assert_eq!(
            (build.key.as_str(), &build.values[..]),
            (well_known::WINDOWS_BUILD, &["10.0.20348".to_owned()][..])
        );
    }

    #[test]
    fn aliases_that_have_no_images_for_the_cluster_are_refused() {
        for (alias, kubernetes) in [
            ("al2@latest", KubernetesVersion { major: 1, minor: 33 }),
            ("windows2025@latest", KubernetesVersion { major: 1, minor: 34 }),
            ("ubuntu@latest", V1_36),
        ] {
            let Err(PartError::NotReady(refused)) = parameters(alias, kubernetes) else {
                panic!("{alias} is accepted");
            };
            assert_eq!(refused.reason, "UnsupportedAlias");
            assert!(refused.message.contains(alias), "{}", refused.message);
        }
        assert!(parameters("al2@latest", V1_32).is_ok());
        assert!(parameters("windows2025@latest", V1_36).is_ok());
    }
}
