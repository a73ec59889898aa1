//! Launch templates: there when they are needed, and deleted a minute after their last use.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_ec2::operation::describe_launch_templates::DescribeLaunchTemplatesOutput;
use aws_sdk_ec2::types::{LaunchTemplate, ResourceType};
use kerf_model::labels::aws::NODE_CLASS;
use tokio::sync::Mutex;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::fleet::Template;
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::provider::tags;
use crate::{AwsAction, Result};

/// How long a template stays that nobody uses, and how often that is looked at. As in Karpenter.
const IDLE: Duration = Duration::from_secs(60);
/// Templates of one page of a description.
const PAGE: i32 = 200;
/// Pages read at once: more than the 5,000 templates an account may have.
const PAGES_MAX: usize = 50;
/// How EC2 says that somebody else was faster.
const EXISTS: &str = "InvalidLaunchTemplateName.AlreadyExistsException";
/// How EC2 says that it is gone already.
const GONE: [&str; 2] =
    ["InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"];

/// The launch templates of the cluster that are known to be there, by name.
#[derive(Debug)]
pub(crate) struct Templates {
    context: Context,
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    id: String,
    used_at: Instant,
}

impl Templates {
    /// None is known to be there.
    pub(crate) fn new(context: Context) -> Self {
        Self { context, known: Mutex::default() }
    }

    /// Sees to it that these templates are there. One after the other, so that none is made twice.
    ///
    /// # Errors
    /// EC2 does not let us look or make one.
    pub(crate) async fn ensure(&self, templates: &[Arc<Template>]) -> Result<()> {
        let mut known = self.known.lock().await;
        let missing = missing(&mut known, templates, Instant::now());
        if missing.is_empty() {
            return Ok(());
        }
        let names = missing.iter().map(|it| it.name.clone()).collect();
        for found in self.describe("launch-template-name", names).await? {
            note(&mut known, &found, Instant::now());
        }
        for template in missing {
            if !known.contains_key(&template.name) {
                let created = self.create(template).await?;
                note(&mut known, &created, Instant::now());
            }
        }
        Ok(())
    }

    /// Forgets templates that EC2 says are gone.
    pub(crate) async fn forget(&self, templates: &[Arc<Template>]) {
        let mut known = self.known.lock().await;
        for template in templates {
            known.remove(&template.name);
        }
    }

    /// Finds what an earlier process left, and deletes what is idle, again and again. Never ends.
    pub(crate) async fn collect(&self) {
        let mut is_hydrated = false;
        loop {
            if !is_hydrated {
                is_hydrated = self.hydrate().await;
            }
            sleep(IDLE).await;
            self.delete_idle().await;
        }
    }

    /// Takes over the templates of the cluster that are there; whether EC2 told of them.
    async fn hydrate(&self) -> bool {
        let cluster = self.context.cluster.name.clone();
        match self.describe(&format!("tag:{}", tags::CLUSTER_NAME), vec![cluster]).await {
            Ok(found) => {
                let mut known = self.known.lock().await;
                found.iter().for_each(|template| note(&mut known, template, Instant::now()));
                true
            }
            Err(error) => {
                warn!(%error, "launch templates of an earlier process are not collected yet");
                false
            }
        }
    }

    async fn delete_idle(&self) {
        let idle = idle(&*self.known.lock().await, Instant::now());
        for name in idle {
            // Held while one is deleted, so that nobody takes it for being there meanwhile.
            let mut known = self.known.lock().await;
            let Some(template) = known.get(&name).filter(|it| is_idle(it, Instant::now())) else {
                continue;
            };
            let id = template.id.clone();
            let call = self.context.clients.ec2.delete_launch_template().launch_template_id(&id);
            let action = AwsAction::DeleteLaunchTemplate;
            match self.context.calls.make(action, &id, call.send()).await {
                Ok(_) => drop(known.remove(&name)),
                Err(error) if error.code().is_some_and(|code| GONE.contains(&code)) => {
                    known.remove(&name);
                }
                Err(error) => warn!(%error, "an idle launch template stays for now"),
            }
        }
    }

    /// Templates by a filter: a name that is not there is no error.
    async fn describe(&self, filter: &str, values: Vec<String>) -> Result<Vec<LaunchTemplate>> {
        let (filters, mut found) = (Filters::any_of(filter, values).to_sdk(), Vec::new());
        let call = |token| {
            let call = self.context.clients.ec2.describe_launch_templates();
            let call = call.set_filters(Some(filters.clone())).max_results(PAGE);
            call.set_next_token(token).send()
        };
        let take = |page: DescribeLaunchTemplatesOutput| {
            found.extend_from_slice(page.launch_templates());
            page.next_token
        };
        let action = AwsAction::DescribeLaunchTemplates;
        self.context.calls.pages(action, PAGES_MAX, call, take).await?;
        Ok(found)
    }

    async fn create(&self, template: &Template) -> Result<LaunchTemplate> {
        let tags = tags::specification(ResourceType::LaunchTemplate, &template.tags);
        let call = self.context.clients.ec2.create_launch_template();
        let call = call
            .launch_template_name(&template.name)
            .launch_template_data(template.data.clone())
            .tag_specifications(tags);
        let action = AwsAction::CreateLaunchTemplate;
        debug!(name = template.name, "creating a launch template");
        for warning in &template.warnings {
            let class = template.tags.get(NODE_CLASS).map_or("", String::as_str);
            warn!(class, "{warning}");
        }
        match self.context.calls.make(action, &template.name, call.send()).await {
            Ok(created) => {
                let unnamed = || LaunchTemplate::builder().launch_template_name(&template.name);
                Ok(created.launch_template().cloned().unwrap_or_else(|| unnamed().build()))
            }
            Err(error) if error.code() == Some(EXISTS) => {
                let names = vec![template.name.clone()];
                let mut found = self.describe("launch-template-name", names).await?;
                found.pop().ok_or(error)
            }
            Err(error) => Err(error),
        }
    }
}

/// Those that are not known to be there; the others count as used.
fn missing<'t>(
    known: &mut HashMap<String, Known>,
    templates: &'t [Arc<Template>],
    now: Instant,
) -> Vec<&'t Template> {
    let mut missing: Vec<&Template> = Vec::new();
    for template in templates {
        match known.get_mut(&template.name) {
            Some(template) => template.used_at = now,
            None => missing.push(template),
        }
    }
    missing
}

fn note(known: &mut HashMap<String, Known>, template: &LaunchTemplate, now: Instant) {
    if let (Some(name), Some(id)) = (template.launch_template_name(), template.launch_template_id())
    {
        known.insert(name.to_owned(), Known { id: id.to_owned(), used_at: now });
    }
}

fn idle(known: &HashMap<String, Known>, now: Instant) -> Vec<String> {
    let idle = known.iter().filter(|(_, it)| is_idle(it, now));
    let mut names: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

fn is_idle(template: &Known, now: Instant) -> bool {
    now.saturating_duration_since(template.used_at) >= IDLE
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::RequestLaunchTemplateData;

    use super::*;

    fn template(name: &str) -> Arc<Template> {
        let data = RequestLaunchTemplateData::builder().build();
        let (name, warnings) = (name.to_owned(), Vec::new());
        Arc::new(Template { name, data, tags: tags::Tags::new(), warnings })
    }

    fn described(name: &str) -> LaunchTemplate {
        let id = format!("lt-{name}");
        LaunchTemplate::builder().launch_template_name(name).launch_template_id(id).build()
    }

    #[test]
    fn a_template_is_idle_a_minute_after_its_last_use() {
        let (mut known, now) = (HashMap::new(), Instant::now());
        note(&mut known, &described("a"), now);
        note(&mut known, &described("b"), now);
        let wanted = [template("a"), template("c")];
        let missing = missing(&mut known, &wanted, now + IDLE / 2);
        assert_eq!(missing.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!(idle(&known, now + IDLE), ["b"]);
        assert_eq!(idle(&known, now + IDLE / 2 + IDLE), ["a", "b"]);
    }
}
