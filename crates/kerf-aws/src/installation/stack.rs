//! A stack of CloudFormation.

use std::collections::BTreeMap;

use aws_sdk_cloudformation::types::{Capability, Parameter};

use super::Installation;
use crate::{CallError, Result};

/// Pages of a hundred resources, of which a stack has five hundred at most.
const PAGES_MAX: usize = 5;
/// How CloudFormation says that there is no such stack: with this code, and this at the end.
const VALIDATION: &str = "ValidationError";
const NO_SUCH_STACK: &str = "does not exist";
/// How it says that an update would change nothing.
const NO_UPDATES: &str = "No updates are to be performed";

/// A stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFacts {
    /// Such as `CREATE_COMPLETE`.
    pub status: String,
    /// Why it has that status, where CloudFormation says so.
    pub reason: String,
    /// What it was made with.
    pub parameters: BTreeMap<String, String>,
    /// What it says of itself.
    pub outputs: BTreeMap<String, String>,
    /// The template as it was given.
    pub template: String,
    /// What belongs to it.
    pub resources: Vec<StackResource>,
}

/// Something that belongs to a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackResource {
    /// Its name in the template.
    pub logical_id: String,
    /// Its name in the account; empty until there is one.
    pub physical_id: String,
    /// Such as `CREATE_FAILED`.
    pub status: String,
    /// Why, where CloudFormation says so.
    pub reason: String,
}

impl Installation {
    /// The stack of this name, if there is one.
    pub async fn stack(&self, name: &str) -> Result<Option<StackFacts>> {
        const ACTION: &str = "cloudformation:DescribeStacks";
        let answer = self.cloudformation.describe_stacks().stack_name(name).send().await;
        let answer = match answer.map_err(|error| CallError::new(ACTION, name, error)) {
            Err(error) if is_absent(&error) => return Ok(None),
            answer => answer?,
        };
        let Some(stack) = answer.stacks().first() else { return Ok(None) };
        let status = stack.stack_status().map(|it| it.as_str().to_owned()).unwrap_or_default();
        if status == "DELETE_COMPLETE" {
            return Ok(None);
        }
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let parameters = stack.parameters().iter();
        let outputs = stack.outputs().iter();
        Ok(Some(StackFacts {
            status,
            reason: text(stack.stack_status_reason()),
            parameters: parameters
                .map(|one| (text(one.parameter_key()), text(one.parameter_value())))
                .collect(),
            outputs: outputs
                .map(|one| (text(one.output_key()), text(one.output_value())))
                .collect(),
            template: self.template(name).await?,
            resources: self.resources(name).await?,
        }))
    }

    async fn template(&self, name: &str) -> Result<String> {
        const ACTION: &str = "cloudformation:GetTemplate";
        let answer = self.cloudformation.get_template().stack_name(name).send().await;
        let answer = answer.map_err(|error| CallError::new(ACTION, name, error))?;
        Ok(answer.template_body().unwrap_or_default().to_owned())
    }

    async fn resources(&self, name: &str) -> Result<Vec<StackResource>> {
        const ACTION: &str = "cloudformation:ListStackResources";
        let (mut found, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.cloudformation.list_stack_resources().stack_name(name);
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, name, error))?;
            let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
            found.extend(page.stack_resource_summaries().iter().map(|one| StackResource {
                logical_id: text(one.logical_resource_id()),
                physical_id: text(one.physical_resource_id()),
                status: text(one.resource_status().map(|status| status.as_str())),
                reason: text(one.resource_status_reason()),
            }));
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Begins to make a stack.
    pub async fn create_stack(
        &self,
        name: &str,
        template: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<()> {
        let call = self.cloudformation.create_stack().stack_name(name).template_body(template);
        let call = call.capabilities(Capability::CapabilityNamedIam);
        let answer = call.set_parameters(Some(given(parameters))).send().await;
        answer.map_err(|error| CallError::new("cloudformation:CreateStack", name, error))?;
        Ok(())
    }

    /// Begins to change a stack; whether there is anything to change.
    pub async fn update_stack(
        &self,
        name: &str,
        template: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<bool> {
        let call = self.cloudformation.update_stack().stack_name(name).template_body(template);
        let call = call.capabilities(Capability::CapabilityNamedIam);
        let answer = call.set_parameters(Some(given(parameters))).send().await;
        match answer.map_err(|error| CallError::new("cloudformation:UpdateStack", name, error)) {
            Err(CallError::Refused { why, .. }) if why.contains(NO_UPDATES) => Ok(false),
            Err(error) => Err(error),
            Ok(_) => Ok(true),
        }
    }

    /// Begins to delete a stack.
    pub async fn delete_stack(&self, name: &str) -> Result<()> {
        let answer = self.cloudformation.delete_stack().stack_name(name).send().await;
        answer.map_err(|error| CallError::new("cloudformation:DeleteStack", name, error))?;
        Ok(())
    }
}

fn is_absent(error: &CallError) -> bool {
    matches!(error, CallError::Refused { code, why, .. }
        if code == VALIDATION && why.contains(NO_SUCH_STACK))
}

fn given(parameters: &BTreeMap<String, String>) -> Vec<Parameter> {
    let one = |(key, value): (&String, &String)| {
        Parameter::builder().parameter_key(key).parameter_value(value).build()
    };
    parameters.iter().map(one).collect()
}
