//! Which of the images that were found are used, and for what.

use kerf_api::Requirement;
use kerf_api::ec2_node_class::Ami;
use kerf_model::labels::well_known;
use kerf_model::requirement::{Operator, RequirementEntry};

use super::query::Image;

/// An image and the instance types it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) image: Image,
    requirements: Vec<RequirementEntry>,
}

impl Candidate {
    /// The architecture is always known; an alias knows more.
    pub(super) fn new(image: Image, mut requirements: Vec<RequirementEntry>) -> Self {
        let arch = image.architecture.label();
        requirements.push(RequirementEntry::new(well_known::ARCH, Operator::In, [arch]));
        requirements.sort_by(|a, b| (a.key.len(), &a.key).cmp(&(b.key.len(), &b.key)));
        Self { image, requirements }
    }

    /// A better image for the same instance types has a greater rank.
    fn rank(&self) -> (bool, i64, Option<&str>) {
        (!self.image.is_deprecated, self.image.created_at, self.image.name.as_deref())
    }
}

/// The best image for each set of instance types, newest first.
pub(super) fn choose(candidates: Vec<Candidate>) -> Vec<Ami> {
    let mut chosen: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        match chosen.iter_mut().find(|it| it.requirements == candidate.requirements) {
            Some(other) if other.rank() < candidate.rank() => *other = candidate,
            Some(_) => {}
            None => chosen.push(candidate),
        }
    }
    // A stable sort: what an alias lists first of one image stays first.
    chosen
        .sort_by(|a, b| (b.image.created_at, &a.image.id).cmp(&(a.image.created_at, &b.image.id)));
    chosen.into_iter().map(ami).collect()
}

fn ami(Candidate { image, requirements }: Candidate) -> Ami {
    Ami {
        deprecated: image.is_deprecated.then_some(true),
        id: image.id,
        name: image.name,
        requirements: requirements.into_iter().map(requirement).collect(),
    }
}

fn requirement(entry: RequirementEntry) -> Requirement {
    Requirement {
        key: entry.key,
        operator: entry.operator.to_string(),
        values: (!entry.values.is_empty()).then_some(entry.values),
        min_values: None,
    }
}

#[cfg(test)]
mod tests {
    use kerf_catalog::shape::Architecture;
    use kerf_model::labels::aws;

    use super::super::alias::Variant;
    use super::*;

    fn image(id: &str, created_at: i64) -> Image {
        let architecture = Architecture::Amd64;
        let name = Some(id.to_owned());
        Image { id: id.to_owned(), name, created_at, is_deprecated: false, architecture }
    }

    fn deprecated(id: &str, created_at: i64) -> Image {
        Image { is_deprecated: true, ..image(id, created_at) }
    }

    fn chosen(images: Vec<Image>) -> Vec<String> {
        let candidates = images.into_iter().map(|image| Candidate::new(image, Vec::new()));
        choose(candidates.collect()).into_iter().map(|ami| ami.id).collect()
    }

    #[test]
    fn one_image_is_used_for_each_set_of_instance_types() {
        assert_eq!(chosen(vec![image("old", 1), image("new", 2)]), ["new"]);
        assert_eq!(chosen(vec![image("a", 1), image("b", 1)]), ["b"], "the greater name");
        assert_eq!(chosen(vec![deprecated("new", 2), image("old", 1)]), ["old"]);
        assert_eq!(chosen(vec![deprecated("new", 2), deprecated("old", 1)]), ["new"]);
        let arm = Image { architecture: Architecture::Arm64, ..image("arm", 3) };
        assert_eq!(chosen(vec![image("intel", 1), arm]), ["arm", "intel"], "newest first");
        assert_eq!(chosen(Vec::new()), [""; 0]);
    }

    #[test]
    fn images_of_one_age_are_in_the_order_of_their_ids() {
        let arm = Image { architecture: Architecture::Arm64, ..image("a", 1) };
        assert_eq!(chosen(vec![image("b", 1), arm]), ["a", "b"]);
    }

    #[test]
    fn an_image_says_which_instance_types_it_is_for_shortest_key_first() {
        let variants = [Variant::Standard, Variant::Neuron];
        let candidates =
            variants.map(|variant| Candidate::new(deprecated("ami-1", 1), variant.requirements()));
        let amis = choose(candidates.into());
        let texts: Vec<String> = amis[0]
            .requirements
            .iter()
            .map(|it| format!("{} {} {:?}", it.key, it.operator, it.values))
            .collect();
        assert_eq!(
            texts,
            [
                r#"kubernetes.io/arch In Some(["amd64"])"#.to_owned(),
                format!("{} DoesNotExist None", aws::INSTANCE_GPU_COUNT),
                format!("{} DoesNotExist None", aws::INSTANCE_ACCELERATOR_COUNT),
            ]
        );
        assert_eq!((amis.len(), amis[0].deprecated), (2, Some(true)));
        assert_eq!(amis[1].requirements[1].operator, "Exists");
    }
}
