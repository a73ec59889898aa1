//! Which images to ask EC2 for, and asking.

use aws_sdk_ec2::operation::describe_images::DescribeImagesOutput;
use aws_sdk_ec2::primitives::{DateTime, DateTimeFormat};
use aws_sdk_ec2::types::ArchitectureValues;
use kerf_api::ec2_node_class::AmiSelectorTerm;
use kerf_catalog::shape::Architecture;

use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// The most results a page has.
const PAGE: i32 = 1_000;
/// Pages read for one answer. A term that selects more than ten thousand images selects by accident.
const PAGES_MAX: usize = 10;

/// Images to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImageQuery {
    filters: Filters,
    owners: Vec<String>,
}

/// An image, as far as it matters which one is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// In seconds since 1970; the oldest where it is not known.
    pub(super) created_at: i64,
    pub(super) is_deprecated: bool,
    pub(super) architecture: Architecture,
}

impl ImageQuery {
    /// Images by their ids.
    pub(super) fn of_ids(ids: Vec<String>) -> Self {
        Self { filters: Filters::any_of("image-id", ids), owners: Vec::new() }
    }

    /// Images by name and tags. A name could be anybody's, so that without an owner it is looked
    /// for among our own and Amazon's.
    fn of_term(term: &AmiSelectorTerm) -> Option<Self> {
        let mut filters = term.tags.as_ref().map(Filters::tags).unwrap_or_default();
        if let Some(name) = &term.name {
            filters = filters.with("name", name);
        }
        let owners = match (&term.owner, &term.name) {
            (Some(owner), _) => vec![owner.clone()],
            (None, Some(_)) => vec!["self".to_owned(), "amazon".to_owned()],
            (None, None) => Vec::new(),
        };
        let is_empty = filters == Filters::default() && owners.is_empty();
        (!is_empty).then_some(Self { filters, owners })
    }
}

/// What the terms ask for by name, tags and owner. A term with an id or a parameter is asked for
/// by the image's id instead.
pub(super) fn queries(terms: &[AmiSelectorTerm]) -> Vec<ImageQuery> {
    let by_description = terms
        .iter()
        .filter(|term| term.id.is_none() && term.ssm_parameter.is_none() && term.alias.is_none());
    by_description.filter_map(ImageQuery::of_term).collect()
}

/// The images a query finds, deprecated ones too.
pub(super) async fn describe(
    context: &Context,
    query: &ImageQuery,
    now: i64,
) -> Result<Vec<Image>> {
    let filters = query.filters.clone().with("state", "available").to_sdk();
    let owners = (!query.owners.is_empty()).then(|| query.owners.clone());
    let mut found = Vec::new();
    let call = |token| {
        let call = context.clients.ec2.describe_images().include_deprecated(true);
        let call = call.set_filters(Some(filters.clone())).set_owners(owners.clone());
        call.max_results(PAGE).set_next_token(token).send()
    };
    let take = |page: DescribeImagesOutput| {
        found.extend(page.images().iter().filter_map(|image| described(image, now)));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeImages, PAGES_MAX, call, take).await?;
    Ok(found)
}

/// None for an image of an architecture that nodes cannot have.
fn described(image: &aws_sdk_ec2::types::Image, now: i64) -> Option<Image> {
    let architecture = match image.architecture()? {
        ArchitectureValues::X8664 => Architecture::Amd64,
        ArchitectureValues::Arm64 => Architecture::Arm64,
        _ => return None,
    };
    Some(Image {
        id: image.image_id()?.to_owned(),
        name: image.name().map(str::to_owned),
        created_at: seconds(image.creation_date()).unwrap_or(i64::MIN),
        is_deprecated: seconds(image.deprecation_time()).is_some_and(|time| time <= now),
        architecture,
    })
}

fn seconds(text: Option<&str>) -> Option<i64> {
    Some(DateTime::from_str(text?, DateTimeFormat::DateTime).ok()?.secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn names_are_looked_for_among_our_own_and_amazons_unless_an_owner_is_named() {
        let tags = Some([("team".to_owned(), "*".to_owned())].into());
        let terms = [
            AmiSelectorTerm { name: text("web-*"), ..AmiSelectorTerm::default() },
            AmiSelectorTerm {
                name: text("web-*"),
                owner: text("123456789012"),
                ..AmiSelectorTerm::default()
            },
            AmiSelectorTerm { tags, ..AmiSelectorTerm::default() },
        ];
        let owners: Vec<_> = queries(&terms).into_iter().map(|query| query.owners).collect();
        assert_eq!(owners, [vec!["self", "amazon"], vec!["123456789012"], vec![]]);
    }

    #[test]
    fn terms_with_an_id_or_a_parameter_are_asked_for_by_id() {
        let terms = [
            AmiSelectorTerm { id: text("ami-1"), ..AmiSelectorTerm::default() },
            AmiSelectorTerm {
                ssm_parameter: text("/mine"),
                name: text("web"),
                ..AmiSelectorTerm::default()
            },
            AmiSelectorTerm { alias: text("al2023@latest"), ..AmiSelectorTerm::default() },
        ];
        assert_eq!(queries(&terms), []);
    }

    #[test]
    fn an_image_is_deprecated_from_its_deprecation_time_on() {
        let image = |deprecated| {
            let image = aws_sdk_ec2::types::Image::builder().image_id("ami-1");
            let image = image.architecture(ArchitectureValues::Arm64);
            image.creation_date("2026-01-01T00:00:00.000Z").deprecation_time(deprecated).build()
        };
        let now = seconds(Some("2026-06-01T00:00:00.000Z")).unwrap();
        assert!(described(&image("2026-06-01T00:00:00.000Z"), now).unwrap().is_deprecated);
        assert!(!described(&image("2026-06-01T00:00:01.000Z"), now).unwrap().is_deprecated);
        let strange = aws_sdk_ec2::types::Image::builder().image_id("ami-2");
        let strange = strange.architecture(ArchitectureValues::I386).build();
        assert_eq!(described(&strange, now), None);
    }
}
