//! `kerf uninstall`: takes away what `kerf install`, or the chart, has made.
//!
//! Nodes first, while somebody is there to drain them: a claim has a finalizer that only a running
//! controller takes off. Then the classes, the controller, the definitions where that is asked for,
//! and last what is in the account. As when installing, what is there is read ([`facts`]), what
//! speaks against it is said and what is to go becomes a list of steps ([`plan`]), which is shown and
//! then carried out ([`apply`]). A second run finds nothing.

mod apply;
mod facts;
mod plan;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use kerf_aws::{Session, TimeOuts};
use kerf_kube::connect;
use kube::Config;

use super::doctor;
use super::exit::Exit;
use super::install::{confirmed, server, stack_name};
use apply::Target;

/// AWS deletes some things slowly.
const CALL_AT_MOST: Duration = Duration::from_secs(30);

/// Arguments of `kerf uninstall`.
#[derive(Args)]
#[command(after_help = "Pools are deleted first, which drains their nodes: pods move to other \
    nodes, or wait for one.\nRunning it again goes on where it stopped.")]
pub(crate) struct Uninstall {
    /// The EKS cluster's name
    #[arg(long, value_name = "NAME", env = "CLUSTER_NAME")]
    cluster: String,
    /// The region; that of your AWS settings if not given
    #[arg(long)]
    region: Option<String>,
    /// The namespace of the controller, where none is found by itself
    #[arg(short, long, default_value = "karpenter")]
    namespace: String,
    /// Delete the definitions of custom resources, too, and with them all objects of their kinds
    #[arg(long)]
    delete_crds: bool,
    /// Leave everything in the account: the stack, access entry and Pod Identity association
    #[arg(long)]
    keep_account: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Go on where your kubeconfig seems to lead elsewhere, or the controller is another one
    #[arg(long)]
    force: bool,
    /// How long to wait for nodes to be drained, and for the stack
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    timeout_seconds: u64,
}

impl Uninstall {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("could not start the runtime")?;
        runtime.block_on(self.uninstall()).map(ExitCode::from)
    }

    async fn uninstall(&self) -> Result<Exit> {
        let config = Config::infer().await.context("no way to reach an API server was found")?;
        let server = server(&config);
        let client = connect(config)?;
        let in_cluster = doctor::look(&client, &self.namespace).await;
        if let Err(why) = &in_cluster.version {
            bail!(
                "the API server at {server} does not answer: {why}; where the cluster is gone, what \
                 is left is in the account: aws cloudformation delete-stack --stack-name {}",
                stack_name(&self.cluster)
            );
        }
        let time_outs = TimeOuts { call: CALL_AT_MOST, ..TimeOuts::default() };
        let mut session = Session::from_env(time_outs).await;
        if let Some(region) = &self.region {
            session = session.in_region(region);
        }
        let clients = (session.inspection(), session.installation());
        let facts = facts::gather(self, server, in_cluster, &client, &clients).await?;
        let refused = plan::refusals(self, &facts);
        if !refused.is_empty() {
            refused.iter().for_each(|one| eprintln!("{one}"));
            return Ok(Exit::Failure);
        }
        let steps = plan::steps(self, &facts);
        println!("cluster {}", self.cluster);
        for step in &steps {
            println!("  {}", step.text());
        }
        plan::notes(&facts).iter().for_each(|note| println!("note: {note}"));
        if steps.is_empty() {
            println!("nothing of Kerf is left: nothing to do");
            return Ok(Exit::Success);
        }
        if self.dry_run {
            return Ok(Exit::Changes);
        }
        if !self.yes && !confirmed()? {
            println!("nothing was done");
            return Ok(Exit::Failure);
        }
        let at_most = Duration::from_secs(self.timeout_seconds);
        let (cluster, installation) = (&self.cluster, &clients.1);
        Target { cluster, client: &client, installation, at_most }.carry_out(&steps).await?;
        println!("\nuninstalled; left as they were:");
        plan::left(self, &facts).iter().for_each(|line| println!("  {line}"));
        Ok(Exit::Success)
    }
}
