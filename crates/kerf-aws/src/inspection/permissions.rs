//! What a role is allowed: all its policies.

use super::{Inspection, unescaped};
use crate::{CallError, Result};

impl Inspection {
    /// The text of every policy of a role, managed and inline, in JSON.
    pub async fn policy_documents(&self, role: &str) -> Result<Vec<String>> {
        const LIST: &str = "iam:ListRolePolicies";
        const GET: &str = "iam:GetRolePolicy";
        let mut documents = Vec::new();
        for arn in self.attached(role).await?.into_iter().map(|(_, arn)| arn) {
            documents.extend(self.managed_document(&arn).await?);
        }
        let answer = self.iam.list_role_policies().role_name(role).send().await;
        let answer = answer.map_err(|error| CallError::new(LIST, role, error))?;
        for name in answer.policy_names() {
            let call = self.iam.get_role_policy().role_name(role).policy_name(name);
            let answer = call.send().await.map_err(|error| CallError::new(GET, name, error))?;
            documents.push(unescaped(answer.policy_document()));
        }
        Ok(documents)
    }

    async fn managed_document(&self, arn: &str) -> Result<Option<String>> {
        const VERSION: &str = "iam:GetPolicyVersion";
        let answer = self.iam.get_policy().policy_arn(arn).send().await;
        let answer = answer.map_err(|error| CallError::new("iam:GetPolicy", arn, error))?;
        let policy = answer.policy();
        let Some(version) = policy.and_then(|it| it.default_version_id()) else { return Ok(None) };
        let call = self.iam.get_policy_version().policy_arn(arn).version_id(version);
        let answer = call.send().await.map_err(|error| CallError::new(VERSION, arn, error))?;
        let document = answer.policy_version().and_then(|it| it.document());
        Ok(document.map(unescaped))
    }
}
