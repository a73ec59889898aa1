//! Carrying the steps out, one after the other, each said.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kerf_aws::Installation;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};

use super::plan::{CLAIMS, CLASSES, FINALIZER, Kind, POOLS, Step, some};
use crate::commands::install::cluster;

/// How often what is going is looked at.
const POLL: Duration = Duration::from_secs(1);

/// Where steps are carried out.
pub(super) struct Target<'a> {
    pub(super) cluster: &'a str,
    pub(super) client: &'a Client,
    pub(super) installation: &'a Installation,
    pub(super) at_most: Duration,
}

impl Target<'_> {
    /// Carries all steps out. A failure leaves what comes after it as it is.
    pub(super) async fn carry_out(&self, steps: &[Step]) -> Result<()> {
        let of = steps.len();
        for (index, step) in steps.iter().enumerate() {
            let number = index + 1;
            println!("[{number}/{of}] {}", step.text());
            self.step(step).await.with_context(|| {
                format!(
                    "step {number} of {of} failed: what comes after it was not begun; mend it and \
                     run this again"
                )
            })?;
        }
        Ok(())
    }

    async fn step(&self, step: &Step) -> Result<()> {
        match step {
            Step::Nodes { .. } => {
                // Pools before claims: a pool would make new nodes for the pods that move.
                self.delete_all(&POOLS).await?;
                self.delete_all(&CLAIMS).await?;
                self.wait_gone(&[&POOLS[..], &CLAIMS].concat()).await?;
                self.wait_nodes().await
            }
            Step::Classes { .. } => {
                self.delete_all(&CLASSES).await?;
                self.wait_gone(&CLASSES).await
            }
            Step::Release { name, namespace } => helm_uninstall(name, namespace),
            Step::Objects { objects } => {
                for object in objects {
                    cluster::delete(self.client, object).await?;
                }
                Ok(())
            }
            Step::Definitions { names } => self.delete_definitions(names).await,
            Step::Association { id } => {
                Ok(self.installation.delete_association(self.cluster, id).await?)
            }
            Step::AccessEntry { role_arn } => {
                self.installation.delete_access_entry(self.cluster, role_arn).await?;
                Ok(())
            }
            Step::Leftovers { .. } => self.delete_leftovers().await,
            Step::Stack { name } => self.delete_stack(name).await,
        }
    }

    /// All objects of some kinds, by name; none where a kind is not served.
    async fn names(&self, kind: &Kind) -> Result<Vec<String>> {
        match self.api(kind).list_metadata(&ListParams::default()).await {
            Ok(found) => Ok(found.items.into_iter().filter_map(|one| one.metadata.name).collect()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| format!("listing {}", kind.3)),
        }
    }

    fn api(&self, (group, version, kind, plural): &Kind) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::all_with(self.client.clone(), &resource)
    }

    async fn delete_all(&self, kinds: &[Kind]) -> Result<()> {
        for kind in kinds {
            for name in self.names(kind).await? {
                let answer = self.api(kind).delete(&name, &DeleteParams::background()).await;
                match answer {
                    Err(kube::Error::Api(status)) if status.code == 404 => {}
                    answer => {
                        answer.with_context(|| format!("deleting {} {name}", kind.2))?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn wait_gone(&self, kinds: &[Kind]) -> Result<()> {
        let first = async || -> Result<Vec<String>> {
            let mut left = Vec::new();
            for kind in kinds {
                let names = self.names(kind).await?;
                left.extend(names.into_iter().map(|name| format!("{} {name}", kind.2)));
            }
            Ok(left)
        };
        self.wait(first, "kubectl describe nodeclaims,ec2nodeclasses").await
    }

    /// No node may be left with a finalizer that nobody takes off.
    async fn wait_nodes(&self) -> Result<()> {
        let nodes: Api<DynamicObject> = self.api(&("", "v1", "Node", "nodes"));
        let left = async || -> Result<Vec<String>> {
            let found = nodes.list_metadata(&ListParams::default()).await?;
            let is_held = |it: &String| it == FINALIZER;
            let held = found.items.into_iter().filter(|node| {
                node.metadata.finalizers.as_ref().is_some_and(|all| all.iter().any(is_held))
            });
            Ok(held.filter_map(|node| node.metadata.name).map(|it| format!("Node {it}")).collect())
        };
        self.wait(left, "kubectl describe nodes").await
    }

    /// Waits until nothing is left, and tells how far it is.
    async fn wait(&self, left: impl AsyncFn() -> Result<Vec<String>>, look: &str) -> Result<()> {
        let (mut waited, mut told) = (Duration::ZERO, 0);
        loop {
            let left = left().await?;
            if left.is_empty() {
                return Ok(());
            }
            if waited >= self.at_most {
                bail!(
                    "{} is there after {} s; the controller still runs: {look}",
                    some(&left),
                    waited.as_secs()
                );
            }
            if left.len() != told {
                println!("        {} left: {}", left.len(), some(&left));
                told = left.len();
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
    }

    async fn delete_definitions(&self, names: &[String]) -> Result<()> {
        let kind: Kind =
            ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions");
        for name in names {
            match self.api(&kind).delete(name, &DeleteParams::background()).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                answer => drop(answer.with_context(|| format!("deleting definition {name}"))?),
            }
        }
        let left = async || -> Result<Vec<String>> {
            let stored = self.names(&kind).await?;
            Ok(stored.into_iter().filter(|one| names.contains(one)).collect())
        };
        self.wait(left, "kubectl get crd").await
    }

    /// What the controller did not get to; what it deleted meanwhile is not there any more.
    async fn delete_leftovers(&self) -> Result<()> {
        for name in self.installation.launch_templates(self.cluster).await? {
            self.installation.delete_launch_template(&name).await?;
        }
        for name in self.installation.profiles(self.cluster).await? {
            self.installation.delete_profile(&name).await?;
        }
        Ok(())
    }

    async fn delete_stack(&self, name: &str) -> Result<()> {
        self.installation.delete_stack(name).await?;
        let mut waited = Duration::ZERO;
        while let Some(stack) = self.installation.stack(name).await? {
            if stack.status == "DELETE_FAILED" {
                let failed = stack.resources.iter().find(|it| it.status.ends_with("_FAILED"));
                let why = failed.map(|it| format!("{}: {}", it.logical_id, it.reason));
                bail!("the stack {name} could not be deleted: {}", why.unwrap_or(stack.reason));
            }
            if waited >= self.at_most {
                bail!("the stack {name} is {} after {} s", stack.status, waited.as_secs());
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
        Ok(())
    }
}

/// Only Helm knows what belongs to a release.
fn helm_uninstall(name: &str, namespace: &str) -> Result<()> {
    let arguments = ["uninstall", name, "--namespace", namespace, "--wait"];
    let status = Command::new("helm").args(arguments).status();
    let line = format!("helm {}", arguments.join(" "));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!("{line} failed"),
        Err(error) => bail!("helm cannot be run ({error}): install it, or run elsewhere: {line}"),
    }
}
