//! `kerf termination-handler send-test-event`: puts an event on the queue, as AWS would, so that a
//! drain can be seen before one is needed.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use kerf_aws::{Session, TimeOuts};
use serde_json::{Value, json};

use super::region;
use crate::commands::terminal;

/// What the event is about.
#[derive(Clone, Copy, ValueEnum)]
enum TestKind {
    /// A spot interruption warning
    Spot,
    /// A rebalance recommendation
    Rebalance,
    /// A state change to shutting-down
    State,
    /// Scheduled maintenance
    Health,
}

/// Arguments of the command.
#[derive(Args)]
pub(crate) struct TestEvent {
    /// The instance the event is about; its node is drained for real
    #[arg(long)]
    instance_id: String,
    /// What is announced
    #[arg(long, value_enum, default_value = "rebalance")]
    kind: TestKind,
    /// The URL of the handler's queue; without it the event is printed
    #[arg(long, env = "QUEUE_URL", hide_env_values = true)]
    queue_url: Option<String>,
    /// The region of the queue; by default that of its host
    #[arg(long, env = "AWS_REGION")]
    aws_region: Option<String>,
}

impl TestEvent {
    pub(super) fn run(self) -> Result<ExitCode> {
        let event = self.event(&jiff::Timestamp::now()).to_string();
        let Some(url) = self.queue_url.as_deref().filter(|url| !url.is_empty()) else {
            terminal::print(&format!("{event}\n"))?;
            return Ok(ExitCode::SUCCESS);
        };
        let region = self.aws_region.clone().filter(|region| !region.is_empty());
        let region = region.or_else(|| region::of_queue(url));
        let region = region.context("no region is known: set AWS_REGION, or pass --aws-region")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("the threads cannot be started")?;
        let refusals = runtime.block_on(async {
            let session = Session::from_env(TimeOuts::default()).await.in_region(&region);
            session.queues().send(url, vec![(event, Vec::new())]).await
        })?;
        if let Some(refusal) = refusals.first() {
            bail!("the queue refused the event: {}", refusal.why);
        }
        terminal::print(&format!("sent to {url}\n"))?;
        Ok(ExitCode::SUCCESS)
    }

    fn event(&self, now: &jiff::Timestamp) -> Value {
        let instance = &self.instance_id;
        let of_instance = json!({"instance-id": instance});
        let (source, detail_type, detail) = match self.kind {
            TestKind::Spot => (
                "aws.ec2",
                "EC2 Spot Instance Interruption Warning",
                json!({"instance-id": instance, "instance-action": "terminate"}),
            ),
            TestKind::Rebalance => {
                ("aws.ec2", "EC2 Instance Rebalance Recommendation", of_instance)
            }
            TestKind::State => (
                "aws.ec2",
                "EC2 Instance State-change Notification",
                json!({"instance-id": instance, "state": "shutting-down"}),
            ),
            TestKind::Health => (
                "aws.health",
                "AWS Health Event",
                json!({"service": "EC2", "eventTypeCategory": "scheduledChange",
                    "affectedEntities": [{"entityValue": instance}]}),
            ),
        };
        let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        // Another each time: the same event is handled once.
        let id = format!("kerf-test-{}", now.as_millisecond());
        json!({"version": "0", "id": id, "detail-type": detail_type, "source": source,
            "time": time, "resources": [], "detail": detail})
    }
}
