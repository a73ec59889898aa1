//! The images of a node class: an alias, ids, names, tags and parameters become a short list, each
//! with the instance types it is for. The image of an instance type is the first that fits.

mod alias;
mod choice;
mod parameters;
mod query;

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{Ami, EC2NodeClassSpec};
use kerf_model::requirement::RequirementEntry;

use self::alias::{Parameter, Variant};
use self::choice::{Candidate, choose};
pub(super) use self::parameters::Parameters;
use self::query::{Image, ImageQuery, describe, queries};
use super::part::{PartError, PartResult};
use crate::Result;
use crate::provider::context::Context;

/// The reason of a class none of whose images is there.
const NOT_FOUND: &str = "AMINotFound";

/// The images a class may use, newest first. `now` is in seconds since 1970.
pub(super) async fn find(
    context: &Context,
    parameters: &Parameters,
    spec: &EC2NodeClassSpec,
    now: i64,
) -> PartResult<Vec<Ami>> {
    let alias = spec.ami_selector_terms.iter().find_map(|term| term.alias.as_deref());
    let candidates = match alias {
        Some(alias) => of_alias(context, parameters, alias, now).await?,
        None => of_terms(context, parameters, spec, now).await?,
    };
    let found = choose(candidates);
    if found.is_empty() {
        let message = match alias {
            Some(alias) => format!(
                "spec.amiSelectorTerms: no image of the alias {alias} is published for \
                 Kubernetes {}",
                context.version.get()
            ),
            None => "AMISelector did not match any AMIs".to_owned(),
        };
        return Err(PartError::not_ready(NOT_FOUND, message));
    }
    Ok(found)
}

/// What AWS publishes. A parameter that is not there is left out: not every version has an image
/// for everything.
async fn of_alias(
    context: &Context,
    parameters: &Parameters,
    alias: &str,
    now: i64,
) -> PartResult<Vec<Candidate>> {
    let mut published: BTreeMap<String, Vec<Parameter>> = BTreeMap::new();
    for parameter in alias::parameters(alias, context.version.get())? {
        if let Some(image) = parameters.of_alias(context, &parameter.name).await? {
            published.entry(image).or_default().push(parameter);
        }
    }
    let ids = published.keys().cloned().collect();
    let mut candidates = Vec::new();
    for image in images_of(context, ids, now).await? {
        for parameter in published.get(&image.id).into_iter().flatten() {
            if image.is_deprecated && parameter.is_latest {
                parameters.is_deprecated(&parameter.name);
            }
            let variants = parameter.variants.iter().copied().map(Variant::requirements);
            candidates.extend(variants.map(|it| Candidate::new(image.clone(), it)));
        }
    }
    Ok(candidates)
}

async fn of_terms(
    context: &Context,
    parameters: &Parameters,
    spec: &EC2NodeClassSpec,
    now: i64,
) -> PartResult<Vec<Candidate>> {
    let mut ids = Vec::new();
    for term in &spec.ami_selector_terms {
        match (&term.id, &term.ssm_parameter) {
            (Some(id), _) => ids.push(id.clone()),
            (None, Some(name)) => ids.extend(parameters.named(context, name).await?),
            (None, None) => {}
        }
    }
    let mut images = images_of(context, ids, now).await?;
    for query in queries(&spec.ami_selector_terms) {
        images.extend(describe(context, &query, now).await?);
    }
    let any_type = Vec::<RequirementEntry>::new;
    Ok(images.into_iter().map(|image| Candidate::new(image, any_type())).collect())
}

async fn images_of(context: &Context, ids: Vec<String>, now: i64) -> Result<Vec<Image>> {
    match ids.is_empty() {
        true => Ok(Vec::new()),
        false => describe(context, &ImageQuery::of_ids(ids), now).await,
    }
}
