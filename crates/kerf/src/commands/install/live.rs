//! Plan, show, confirm, apply.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kerf_aws::{Session, TimeOuts};
use kerf_kube::connect;
use kube::{Client, Config};
use serde_json::Value;

use super::apply::Target;
use super::cluster::{self, Difference};
use super::facts::{self, Facts};
use super::flags::Install;
use super::objects::{self, Filling};
use super::plan::{self, Step};
use super::refusals::{refusals, server};
use super::settings::{Identity, Settings};
use crate::commands::doctor;
use crate::commands::exit::Exit;

/// AWS makes some things slowly.
const CALL_AT_MOST: Duration = Duration::from_secs(30);

pub(super) async fn install(asked: &Install, settings: &Settings) -> Result<Exit> {
    let config = Config::infer().await.context("no way to reach an API server was found")?;
    let server = server(&config);
    let client = connect(config)?;
    let in_cluster = doctor::look(&client, &settings.namespace).await;
    if let Err(why) = &in_cluster.version {
        bail!("the API server at {server} does not answer: {why}");
    }
    let time_outs = TimeOuts { call: CALL_AT_MOST, ..TimeOuts::default() };
    let mut session = Session::from_env(time_outs).await;
    if let Some(region) = &asked.region {
        session = session.in_region(region);
    }
    let (inspection, installation) = (session.inspection(), session.installation());
    let clients = (&inspection, &installation);
    let facts = facts::gather(settings, server, in_cluster, clients).await?;
    let refused = refusals(settings, &facts);
    if !refused.is_empty() {
        refused.iter().for_each(|one| eprintln!("{one}"));
        return Ok(Exit::Failure);
    }
    let objects = wanted(settings, &facts)?;
    let mut steps = plan::account(settings, &facts);
    let in_account = steps.len();
    steps.extend(differing(&client, &objects).await?);
    show(settings, &facts, &steps, in_account);
    if steps.is_empty() {
        return Ok(Exit::Success);
    }
    if asked.dry_run {
        return Ok(Exit::Changes);
    }
    if !asked.yes && !confirmed()? {
        println!("nothing was done");
        return Ok(Exit::Failure);
    }
    let at_most = Duration::from_secs(asked.timeout_seconds);
    let target = Target { settings, installation: &installation, client: &client, at_most };
    carry_out(&target, &steps).await?;
    if let Some(deployment) = objects.iter().find(|one| one["kind"] == "Deployment") {
        println!("waiting for {}", cluster::title(deployment));
        cluster::wait_rollout(&client, deployment, at_most).await?;
    }
    println!("\n{}", next(settings));
    Ok(Exit::Success)
}

/// Every object that is to be there.
fn wanted(settings: &Settings, facts: &Facts) -> Result<Vec<Value>> {
    let arn = plan::controller_role_arn(settings, facts);
    let filling = Filling {
        namespace: &settings.namespace,
        cluster: &settings.cluster,
        queue: settings.queue(),
        image: settings.image.as_deref(),
        role_arn: (facts.identity == Identity::Irsa).then_some(arn.as_str()),
    };
    let mut all = objects::definitions(settings.is_legacy)?;
    all.extend(objects::controller(&filling)?);
    all.extend(objects::pool(settings));
    Ok(all)
}

async fn differing(client: &Client, objects: &[Value]) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for object in objects {
        let difference = cluster::difference(client, object).await?;
        if difference != Difference::None {
            steps.push(Step::Object { object: object.clone(), difference });
        }
    }
    Ok(steps)
}

fn show(settings: &Settings, facts: &Facts, steps: &[Step], in_account: usize) {
    let (_, account) = facts.account();
    println!("cluster {} in account {account}", settings.cluster);
    if steps.is_empty() {
        println!("everything is there: nothing to do");
    }
    let (of_account, of_cluster) = steps.split_at(in_account);
    for (place, steps) in [("in the account", of_account), ("in the cluster", of_cluster)] {
        if !steps.is_empty() {
            println!("{place}:");
            steps.iter().for_each(|step| println!("  {}", step.text()));
        }
    }
    if !plan::knows_entries(facts) {
        let arn = plan::node_role_arn(settings, facts);
        println!(
            "left to you, as the cluster knows no access entries: eksctl create iamidentitymapping \
             --cluster {} --arn {arn} --username 'system:node:{{{{EC2PrivateDNSName}}}}' --group \
             system:bootstrappers --group system:nodes",
            settings.cluster
        );
    }
}

/// Asks whether to go on.
pub(crate) fn confirmed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked here: say --yes, or --dry-run");
    }
    print!("do this? [y/N] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "yes"))
}

async fn carry_out(target: &Target<'_>, steps: &[Step]) -> Result<()> {
    let of = steps.len();
    for (index, step) in steps.iter().enumerate() {
        let number = index + 1;
        println!("[{number}/{of}] {}", step.text());
        target.carry_out(step).await.with_context(|| {
            format!(
                "step {number} of {of} failed, those before it are done and stay, those after it \
                 are not; mend it and run this again"
            )
        })?;
    }
    Ok(())
}

fn next(settings: &Settings) -> String {
    let pool = match settings.requirements.is_empty() {
        true => {
            "\n  kubectl apply -f …                        # a NodePool and an EC2NodeClass: docs/aws.md"
        }
        false => "",
    };
    format!(
        "installed; next:\n  kerf doctor --namespace {0}{pool}\n  kubectl logs -n {0} -l karpenter=controller -f",
        settings.namespace
    )
}
