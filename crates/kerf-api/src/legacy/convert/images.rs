//! Image family and image selector.

use crate::ec2_node_class::{
    AmiFamily, AmiSelectorTerm, BlockDevice, BlockDeviceMapping, VolumeType,
};
use crate::legacy::aws_node_template::AWSNodeTemplateSpec;
use crate::legacy::finding::Findings;
use crate::legacy::selector::{
    IDS_KEYS, NAME_KEY, OWNERS_KEY, SelectorMap, alternatives, tag_alternatives,
};

use super::reading::ClassDraft;
use super::{Options, terms};

/// The last minor version of Kubernetes with AL2 images.
const AL2_MINOR_MAX: u32 = 32;
/// Says which parts of a class stand in for the Ubuntu family, which is no more.
const UBUNTU_ANNOTATION: &str = "compatibility.karpenter.k8s.aws/v1beta1-ubuntu";

/// Writes family and terms into the draft. Comes after the disks, as Ubuntu looks at them.
pub(super) fn convert(
    template: &AWSNodeTemplateSpec,
    path: &str,
    options: &Options,
    draft: &mut ClassDraft,
    findings: &mut Findings,
) {
    let family = template.ami_family.as_deref().unwrap_or_else(|| default_family(options));
    let Some(selector) = &template.ami_selector else {
        newest_of_family(family, path, draft, findings);
        return;
    };
    draft.spec.ami_selector_terms = selector_terms(selector, path, findings);
    draft.spec.ami_family = match family {
        "Ubuntu" => {
            stand_in_for_ubuntu(draft);
            Some(AmiFamily::AL2)
        }
        "Bottlerocket" => Some(AmiFamily::Bottlerocket),
        "Windows2019" => Some(AmiFamily::Windows2019),
        "Windows2022" => Some(AmiFamily::Windows2022),
        "Custom" => Some(AmiFamily::Custom),
        "AL2023" => Some(AmiFamily::AL2023),
        _ => Some(AmiFamily::AL2),
    };
}

/// What a template meant that named no family: AL2, and its successor where that has no images.
fn default_family(options: &Options) -> &'static str {
    match options.kubernetes_minor {
        Some(minor) if minor > AL2_MINOR_MAX => "AL2023",
        _ => "AL2",
    }
}

/// Without a selector the family alone says which image, as an alias does.
fn newest_of_family(family: &str, path: &str, draft: &mut ClassDraft, findings: &mut Findings) {
    let field = format!("{path}.amiFamily");
    match family {
        "Ubuntu" => findings.error(
            field,
            "Ubuntu images are no longer found by family; name the images in amiSelector, for \
             example by aws::name and aws::owners, and convert again",
        ),
        "AL2" => findings.warning(
            field,
            "becomes the image alias al2@latest, which exists up to Kubernetes 1.32; move to \
             al2023@latest before upgrading the cluster",
        ),
        _ => {}
    }
    let alias = format!("{}@latest", family.to_ascii_lowercase());
    draft.spec.ami_selector_terms =
        vec![AmiSelectorTerm { alias: Some(alias), ..AmiSelectorTerm::default() }];
}

fn selector_terms(
    selector: &SelectorMap,
    path: &str,
    findings: &mut Findings,
) -> Vec<AmiSelectorTerm> {
    let field = format!("{path}.amiSelector");
    if let Some(ids) = IDS_KEYS.iter().find_map(|key| selector.get(*key)) {
        let ids = alternatives(ids);
        if ids.len() > terms::TERMS_MAX {
            let most = terms::TERMS_MAX;
            findings.error(&field, format!("lists {} ids; {most} is the most", ids.len()));
        }
        return ids
            .into_iter()
            .map(|id| AmiSelectorTerm { id: Some(id), ..AmiSelectorTerm::default() })
            .collect();
    }
    let tags = tag_alternatives(selector);
    let owners = optional_alternatives(selector, OWNERS_KEY);
    let mut names = optional_alternatives(selector, NAME_KEY);
    if tags.is_empty() && names == [None] {
        // A term cannot have an owner alone; any name is what an owner alone meant.
        names = vec![Some("*".to_owned())];
    }
    let choices = terms::combinations(&tags, names.len() * owners.len(), &field, findings);
    let mut terms = Vec::new();
    for name in &names {
        for owner in &owners {
            terms.extend(choices.iter().map(|tags| AmiSelectorTerm {
                name: name.clone(),
                owner: owner.clone(),
                tags: Some(tags.clone()).filter(|tags| !tags.is_empty()),
                ..AmiSelectorTerm::default()
            }));
        }
    }
    terms
}

/// The alternatives of an entry; a single `None` if there is no such entry.
fn optional_alternatives(selector: &SelectorMap, key: &str) -> Vec<Option<String>> {
    match selector.get(key) {
        Some(value) => alternatives(value).into_iter().map(Some).collect(),
        None => vec![None],
    }
}

/// Ubuntu images start with the script of AL2; only their root disk has another name.
fn stand_in_for_ubuntu(draft: &mut ClassDraft) {
    let mut stand_ins = "amiFamily".to_owned();
    if draft.spec.block_device_mappings.is_none() {
        stand_ins.push_str(",blockDeviceMappings");
        draft.spec.block_device_mappings = Some(vec![ubuntu_root()]);
    }
    let annotations = draft.metadata.annotations.get_or_insert_default();
    annotations.insert(UBUNTU_ANNOTATION.to_owned(), stand_ins);
}

fn ubuntu_root() -> BlockDeviceMapping {
    BlockDeviceMapping {
        device_name: Some("/dev/sda1".to_owned()),
        root_volume: Some(true),
        ebs: Some(BlockDevice {
            encrypted: Some(true),
            volume_size: Some("20Gi".to_owned()),
            volume_type: Some(VolumeType::Gp3),
            ..BlockDevice::default()
        }),
    }
}
