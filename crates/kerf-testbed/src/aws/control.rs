//! What a test says to the AWS stand-in beside calling it: `testbed/aws/stand_in/control.py`.

use serde_json::{Value, json};

use crate::aws::stand_in::AwsStandIn;

/// One call that the stand-in saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsCall {
    /// The service as permissions name it.
    pub service: String,
    /// The action, such as `CreateFleet`.
    pub action: String,
    /// The HTTP status of the answer.
    pub status: u64,
    /// The code of a refusal, such as `UnauthorizedOperation`.
    pub code: Option<String>,
    /// Whether EC2 was only asked if it would.
    pub is_dry_run: bool,
}

impl AwsCall {
    /// The permission it needs, such as `ec2:CreateFleet`.
    pub fn permission(&self) -> String {
        format!("{}:{}", self.service, self.action)
    }
}

impl AwsStandIn {
    /// One request to the control endpoint, as in `POST settings`.
    ///
    /// # Panics
    ///
    /// If it is refused: the test asked for something that there is not.
    pub fn control(&self, line: &str, body: &Value) -> Value {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        self.call("control", &format!("{method} /kerf-control/{path}"), body)
    }

    /// Every call since the start or since [`AwsStandIn::forget_calls`].
    pub fn calls(&self) -> Vec<AwsCall> {
        let seen = self.control("GET calls", &json!({}));
        seen.as_array().expect("a list of calls").iter().map(read_call).collect()
    }

    /// Empties the log of calls.
    pub fn forget_calls(&self) {
        self.control("DELETE calls", &json!({}));
    }

    /// Denies these permissions, such as `ec2:CreateFleet` or `iam:*`, and no others.
    pub fn deny(&self, permissions: &[&str]) {
        self.control("POST denials", &json!({"actions": permissions}));
    }

    /// Changes settings, such as `{"terminate_seconds": 5}`: `testbed/aws/stand_in/state.py`.
    pub fn set(&self, settings: &Value) {
        self.control("POST settings", settings);
    }
}

fn read_call(seen: &Value) -> AwsCall {
    let text = |name: &str| seen[name].as_str().map(str::to_owned);
    AwsCall {
        service: text("service").unwrap_or_default(),
        action: text("action").unwrap_or_default(),
        status: seen["status"].as_u64().unwrap_or_default(),
        code: text("code"),
        is_dry_run: seen["dry_run"] == true,
    }
}
