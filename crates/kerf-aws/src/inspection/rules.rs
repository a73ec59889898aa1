//! Who fills a queue: rules of EventBridge.

use aws_sdk_eventbridge::types::RuleState;

use super::Inspection;
use crate::{CallError, Result};

/// Rules that are looked at. Five fill a queue, or one.
const RULES_MAX: usize = 50;

/// A rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleFacts {
    /// Its name.
    pub name: String,
    /// Which events it is about, in JSON.
    pub pattern: String,
    /// Whether it does anything.
    pub is_enabled: bool,
}

impl Inspection {
    /// The rules of the default bus whose events go to a queue.
    pub async fn rules_to(&self, queue_arn: &str) -> Result<Vec<RuleFacts>> {
        const LIST: &str = "events:ListRuleNamesByTarget";
        const DESCRIBE: &str = "events:DescribeRule";
        let answer = self.events.list_rule_names_by_target().target_arn(queue_arn).send().await;
        let answer = answer.map_err(|error| CallError::new(LIST, queue_arn, error))?;
        let mut rules = Vec::new();
        for name in answer.rule_names().iter().take(RULES_MAX) {
            let answer = self.events.describe_rule().name(name).send().await;
            let rule = answer.map_err(|error| CallError::new(DESCRIBE, name, error))?;
            rules.push(RuleFacts {
                name: name.clone(),
                pattern: rule.event_pattern().unwrap_or_default().to_owned(),
                is_enabled: rule.state() != Some(&RuleState::Disabled),
            });
        }
        Ok(rules)
    }
}
