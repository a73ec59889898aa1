//! Which version of Bottlerocket a node class uses, as far as names tell.

use kerf_api::ec2_node_class::{Ami, EC2NodeClassSpec};

/// The first version that knows by itself what to keep on the disks inside an instance.
const BINDS_BY_DEFAULT: (u32, u32) = (1, 46);

/// A release, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    Latest,
    Numbered(u32, u32),
}

/// Whether the images of a class know by themselves what to keep on the disks inside an instance.
/// Where no name tells the version they are taken for old ones: telling them does no harm.
pub(crate) fn binds_storage_by_default(spec: &EC2NodeClassSpec, images: &[Ami]) -> bool {
    match release(spec, images) {
        Some(Release::Latest) => true,
        Some(Release::Numbered(major, minor)) => (major, minor) >= BINDS_BY_DEFAULT,
        None => false,
    }
}

/// What the terms say, the most certain first: the alias, the name asked for, the image of an id,
/// any image that was found.
fn release(spec: &EC2NodeClassSpec, images: &[Ami]) -> Option<Release> {
    let terms = || spec.ami_selector_terms.iter();
    let of_alias = |alias: &str| match alias.split_once('@')?.1 {
        "latest" => Some(Release::Latest),
        version => numbered(version.strip_prefix('v').unwrap_or(version)),
    };
    let of_image = |image: &Ami| image.name.as_deref().and_then(in_name);
    let of_id = |id: &str| images.iter().find(|image| image.id == id).and_then(of_image);
    terms()
        .find_map(|term| of_alias(term.alias.as_deref()?))
        .or_else(|| terms().find_map(|term| in_name(term.name.as_deref()?)))
        .or_else(|| terms().find_map(|term| of_id(term.id.as_deref()?)))
        .or_else(|| images.iter().find_map(of_image))
}

/// The version in a name such as `bottlerocket-aws-k8s-1.36-x86_64-v1.46.0-12ab34cd`.
fn in_name(name: &str) -> Option<Release> {
    name.split('-').find_map(|piece| numbered(piece.strip_prefix('v')?))
}

/// Reads `1.46.0`.
fn numbered(version: &str) -> Option<Release> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Release::Numbered(major, minor))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn binds(terms: serde_json::Value, images: &[(&str, &str)]) -> bool {
        let terms = serde_json::from_value(terms).expect("terms");
        let spec = EC2NodeClassSpec { ami_selector_terms: terms, ..EC2NodeClassSpec::default() };
        let image = |(id, name): &(&str, &str)| Ami {
            id: (*id).to_owned(),
            name: Some((*name).to_owned()),
            ..Ami::default()
        };
        let images: Vec<Ami> = images.iter().map(image).collect();
        binds_storage_by_default(&spec, &images)
    }

    #[test]
    fn the_version_comes_from_the_alias_then_names_then_images() {
        let old = "bottlerocket-aws-k8s-1.36-x86_64-v1.45.9-12ab34cd";
        let new = "bottlerocket-aws-k8s-1.36-x86_64-v1.46.0-12ab34cd";
        assert!(binds(json!([{ "alias": "bottlerocket@latest" }]), &[("ami-1", old)]));
        assert!(binds(json!([{ "alias": "bottlerocket@v1.46.0" }]), &[]));
        assert!(binds(json!([{ "alias": "bottlerocket@2.0.1" }]), &[]));
        assert!(!binds(json!([{ "alias": "bottlerocket@v1.20.3" }]), &[("ami-1", new)]));
        assert!(binds(json!([{ "name": new }]), &[("ami-1", old)]));
        assert!(!binds(json!([{ "name": old }]), &[("ami-1", new)]));
        assert!(binds(json!([{ "id": "ami-2" }]), &[("ami-1", old), ("ami-2", new)]));
        assert!(binds(json!([{ "name": "bottlerocket-*" }]), &[("ami-1", "x"), ("ami-2", new)]));
        assert!(!binds(json!([{ "tags": { "a": "b" } }]), &[]));
    }
}
