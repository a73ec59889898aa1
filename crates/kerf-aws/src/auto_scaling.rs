//! Auto Scaling groups, as far as those need them who have something to do before an instance ends or
//! is used.

use aws_config::SdkConfig;
use aws_sdk_autoscaling::Client;

use crate::{CallError, Result};

/// The answer that lets a group go on.
const CONTINUE: &str = "CONTINUE";

/// What a group waits for: one instance at one of its hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleAction {
    /// The group.
    pub group: String,
    /// The hook.
    pub hook: String,
    /// The token of this wait, where the group gave one.
    pub token: Option<String>,
    /// The instance.
    pub instance: String,
}

/// Auto Scaling groups of one account and region.
#[derive(Clone, Debug)]
pub struct AutoScaling {
    client: Client,
}

impl AutoScaling {
    pub(crate) fn new(config: &SdkConfig) -> Self {
        Self { client: Client::new(config) }
    }

    /// Lets a group go on with an instance.
    pub async fn complete(&self, action: &LifecycleAction) -> Result<()> {
        const ACTION: &str = "autoscaling:CompleteLifecycleAction";
        let call = self.client.complete_lifecycle_action();
        let call = call.auto_scaling_group_name(&action.group).lifecycle_hook_name(&action.hook);
        let call = call.set_lifecycle_action_token(action.token.clone());
        let call = call.instance_id(&action.instance).lifecycle_action_result(CONTINUE);
        let answer = call.send().await;
        answer.map_err(|error| CallError::new(ACTION, &action.group, error)).map(drop)
    }

    /// Has a group wait for as long again as its hook says.
    pub async fn heartbeat(&self, action: &LifecycleAction) -> Result<()> {
        const ACTION: &str = "autoscaling:RecordLifecycleActionHeartbeat";
        let call = self.client.record_lifecycle_action_heartbeat();
        let call = call.auto_scaling_group_name(&action.group).lifecycle_hook_name(&action.hook);
        let call = call.set_lifecycle_action_token(action.token.clone());
        let answer = call.instance_id(&action.instance).send().await;
        answer.map_err(|error| CallError::new(ACTION, &action.group, error)).map(drop)
    }

    /// How many seconds a hook waits without a heartbeat, if there is such a hook.
    pub async fn heartbeat_seconds(&self, group: &str, hook: &str) -> Result<Option<u32>> {
        const ACTION: &str = "autoscaling:DescribeLifecycleHooks";
        let call = self.client.describe_lifecycle_hooks().auto_scaling_group_name(group);
        let answer = call.lifecycle_hook_names(hook).send().await;
        let answer = answer.map_err(|error| CallError::new(ACTION, group, error))?;
        let found = answer.lifecycle_hooks().first();
        Ok(found.and_then(|hook| u32::try_from(hook.heartbeat_timeout()?).ok()))
    }
}
