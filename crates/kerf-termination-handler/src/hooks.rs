//! Lifecycle hooks of Auto Scaling groups: kept waiting while a node is drained, then completed.

use std::time::Duration;

use kerf_aws::{AutoScaling, CallError, LifecycleAction};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{info, warn};

use crate::settings::Heartbeats;

/// What Auto Scaling calls a hook that nobody waits at any more.
const NOBODY_WAITS: &str = "ValidationError";

/// Heartbeats of one hook, until this is dropped.
pub(crate) struct Beating(JoinHandle<()>);

impl Drop for Beating {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Keeps a group waiting. A hook that was waited at before this process began is no different.
pub(crate) fn keep_waiting(
    auto_scaling: AutoScaling,
    action: LifecycleAction,
    beats: Heartbeats,
) -> Beating {
    Beating(tokio::spawn(beat(auto_scaling, action, beats)))
}

async fn beat(auto_scaling: AutoScaling, action: LifecycleAction, beats: Heartbeats) {
    let ends_at = Instant::now() + beats.until;
    warn_of_long_interval(&auto_scaling, &action, beats.every).await;
    while timeout_at(ends_at, sleep(beats.every)).await.is_ok() {
        let (hook, instance) = (&action.hook, &action.instance);
        match auto_scaling.heartbeat(&action).await {
            Ok(()) => info!(
                { lifecycleHookName = %hook, instanceID = %instance },
                "Sent heartbeat for lifecycle hook"
            ),
            Err(CallError::Refused { code, why, .. }) if code == NOBODY_WAITS => {
                warn!(
                    { error = %why, lifecycleHookName = %hook, instanceID = %instance },
                    "Nobody waits at the lifecycle hook any more, no further heartbeat is sent"
                );
                return;
            }
            Err(error) => warn!(
                { %error, lifecycleHookName = %hook, instanceID = %instance },
                "Failed to send a heartbeat for the lifecycle hook"
            ),
        }
    }
}

async fn warn_of_long_interval(
    auto_scaling: &AutoScaling,
    action: &LifecycleAction,
    every: Duration,
) {
    match auto_scaling.heartbeat_seconds(&action.group, &action.hook).await {
        Ok(Some(waits)) if every.as_secs() >= u64::from(waits) => warn!(
            { lifecycleHookName = %action.hook, heartbeatTimeout = waits,
              heartbeatInterval = every.as_secs() },
            "Heartbeat interval is not shorter than the heartbeat timeout of the lifecycle hook: \
             the instance is not kept"
        ),
        Ok(_) => {}
        Err(error) => {
            warn!({ %error }, "Could not read the heartbeat timeout of the lifecycle hook")
        }
    }
}
