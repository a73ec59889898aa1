//! Carrying the steps out, one after the other, each said.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kerf_aws::{Installation, iam};
use kube::Client;

use super::cluster;
use super::default_pool::DISCOVERY;
use super::plan::Step;
use super::settings::{SERVICE_ACCOUNT, Settings};

/// How often a stack is looked at.
const POLL: Duration = Duration::from_secs(2);

/// Where steps are carried out.
pub(super) struct Target<'a> {
    pub(super) settings: &'a Settings,
    pub(super) installation: &'a Installation,
    pub(super) client: &'a Client,
    pub(super) at_most: Duration,
}

impl Target<'_> {
    /// Carries a step out. A failure leaves what was done before, and running again goes on.
    pub(super) async fn carry_out(&self, step: &Step) -> Result<()> {
        let Self { settings, installation, client, .. } = self;
        let cluster = &settings.cluster;
        match step {
            Step::Stack { name, is_new, parameters } => {
                self.stack(name, *is_new, parameters).await?;
            }
            Step::OidcProvider { url } => installation.create_oidc_provider(url).await?,
            Step::SpotRole => installation.create_spot_role().await?,
            Step::Tags { ids } => installation.tag(ids, DISCOVERY, cluster).await?,
            Step::AccessEntry { role_arn } => {
                installation.create_access_entry(cluster, role_arn).await?;
            }
            Step::Association { role_arn, id: None } => {
                let namespace = &settings.namespace;
                let account = SERVICE_ACCOUNT;
                installation.create_association(cluster, namespace, account, role_arn).await?;
            }
            Step::Association { role_arn, id: Some(id) } => {
                installation.update_association(cluster, id, role_arn).await?;
            }
            Step::Object { object, .. } => cluster::apply(client, object).await?,
        }
        Ok(())
    }

    async fn stack(
        &self,
        name: &str,
        is_new: bool,
        parameters: &BTreeMap<String, String>,
    ) -> Result<()> {
        let template = iam::classic_stack();
        match is_new {
            true => self.installation.create_stack(name, &template, parameters).await?,
            false => {
                if !self.installation.update_stack(name, &template, parameters).await? {
                    return Ok(());
                }
            }
        }
        let mut waited = Duration::ZERO;
        while waited < self.at_most {
            let stack = self.installation.stack(name).await?;
            let stack = stack.with_context(|| format!("the stack {name} is gone"))?;
            let of = stack.resources.len();
            let ready =
                stack.resources.iter().filter(|it| it.status.ends_with("_COMPLETE")).count();
            match stack.status.as_str() {
                "CREATE_COMPLETE" | "UPDATE_COMPLETE" => return Ok(()),
                status if status.ends_with("_IN_PROGRESS") && !status.contains("ROLLBACK") => {
                    println!("        {ready} of {of} resources, {status}");
                }
                status => {
                    let failed = stack.resources.iter().find(|it| it.status.ends_with("_FAILED"));
                    let why = failed.map(|it| format!("{}: {}", it.logical_id, it.reason));
                    let why = why.unwrap_or(stack.reason);
                    bail!(
                        "the stack {name} failed ({status}): {why}; aws cloudformation \
                           describe-stack-events --stack-name {name}"
                    );
                }
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
        bail!("the stack {name} is not ready after {} s; run this again later", waited.as_secs())
    }
}
