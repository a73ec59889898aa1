//! The launch templates that were made for a node class, and their end.

use aws_sdk_ec2::operation::describe_launch_templates::DescribeLaunchTemplatesOutput;
use kerf_model::labels::aws;

use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::{AwsAction, Result};

/// Pages read for one answer. Templates vanish when they are not used; a class has a few.
const PAGES_MAX: usize = 20;
/// How EC2 says that there is no such template.
const NOT_FOUND: [&str; 2] =
    ["InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"];

/// Deletes every template that was made for a class of this name in this cluster.
pub(super) async fn release(context: &Context, class: &str) -> Result<()> {
    for name in of_class(context, class).await? {
        delete(context, &name).await?;
    }
    Ok(())
}

/// Deletes a template by its name; one that is not there is fine.
pub(super) async fn delete(context: &Context, name: &str) -> Result<()> {
    let call = context.clients.ec2.delete_launch_template().launch_template_name(name).send();
    let resource = format!("launch-template/{name}");
    match context.calls.make(AwsAction::DeleteLaunchTemplate, &resource, call).await {
        Err(error) if error.code().is_some_and(|code| NOT_FOUND.contains(&code)) => Ok(()),
        answer => answer.map(drop),
    }
}

async fn of_class(context: &Context, class: &str) -> Result<Vec<String>> {
    let filters = Filters::default().with("tag:eks:eks-cluster-name", &context.cluster.name);
    let filters = filters.with(&format!("tag:{}", aws::NODE_CLASS), class).to_sdk();
    let mut found = Vec::new();
    let call = |token| {
        let call = context.clients.ec2.describe_launch_templates();
        call.set_filters(Some(filters.clone())).set_next_token(token).send()
    };
    let take = |page: DescribeLaunchTemplatesOutput| {
        let names = page.launch_templates().iter().filter_map(|it| it.launch_template_name());
        found.extend(names.map(str::to_owned));
        page.next_token
    };
    context.calls.pages(AwsAction::DescribeLaunchTemplates, PAGES_MAX, call, take).await?;
    Ok(found)
}
