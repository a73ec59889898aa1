//! What controllers make by themselves, and leave where they could not clear up.

use aws_sdk_ec2::types::Filter;

use super::Installation;
use crate::provider::tags::CLUSTER_NAME;
use crate::{CallError, Result};

/// Pages read for one answer.
const PAGES_MAX: usize = 20;
/// How the services say that there is no such thing.
const NO_SUCH_ENTITY: &str = "NoSuchEntity";
const NO_TEMPLATE: &str = "InvalidLaunchTemplateName.NotFoundException";

impl Installation {
    /// The names of launch templates that were made for nodes of a cluster.
    pub async fn launch_templates(&self, cluster: &str) -> Result<Vec<String>> {
        const ACTION: &str = "ec2:DescribeLaunchTemplates";
        let filter = Filter::builder().name(format!("tag:{CLUSTER_NAME}")).values(cluster).build();
        let (mut names, mut token) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.ec2.describe_launch_templates().filters(filter.clone());
            let answer = call.set_next_token(token).send().await;
            let page = answer.map_err(|error| CallError::new(ACTION, cluster, error))?;
            let named = page.launch_templates().iter().filter_map(|it| it.launch_template_name());
            names.extend(named.map(str::to_owned));
            token = page.next_token().filter(|token| !token.is_empty()).map(str::to_owned);
            if token.is_none() {
                break;
            }
        }
        Ok(names)
    }

    /// Deletes a launch template; one that is not there is fine.
    pub async fn delete_launch_template(&self, name: &str) -> Result<()> {
        const ACTION: &str = "ec2:DeleteLaunchTemplate";
        let answer = self.ec2.delete_launch_template().launch_template_name(name).send().await;
        match answer.map_err(|error| CallError::new(ACTION, name, error)) {
            Err(error) if error.code() == Some(NO_TEMPLATE) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// The names of instance profiles that were made for node classes of a cluster.
    pub async fn profiles(&self, cluster: &str) -> Result<Vec<String>> {
        const ACTION: &str = "iam:ListInstanceProfiles";
        let path = format!("/karpenter/{}/{cluster}/", self.region);
        let (mut names, mut marker) = (Vec::new(), None);
        for _ in 0..PAGES_MAX {
            let call = self.iam.list_instance_profiles().path_prefix(&path).set_marker(marker);
            let page = call.send().await.map_err(|error| CallError::new(ACTION, &path, error))?;
            // Their removal must not rest on a filter alone.
            let below = page.instance_profiles().iter().filter(|it| it.path().starts_with(&path));
            names.extend(below.map(|it| it.instance_profile_name().to_owned()));
            marker = page.marker().filter(|_| page.is_truncated()).map(str::to_owned);
            if marker.is_none() {
                break;
            }
        }
        Ok(names)
    }

    /// Deletes an instance profile, its role taken from it; one that is not there is fine.
    pub async fn delete_profile(&self, name: &str) -> Result<()> {
        const GET: &str = "iam:GetInstanceProfile";
        const REMOVE: &str = "iam:RemoveRoleFromInstanceProfile";
        const DELETE: &str = "iam:DeleteInstanceProfile";
        let answer = self.iam.get_instance_profile().instance_profile_name(name).send().await;
        let answer = match answer.map_err(|error| CallError::new(GET, name, error)) {
            Err(error) if error.code() == Some(NO_SUCH_ENTITY) => return Ok(()),
            answer => answer?,
        };
        for role in answer.instance_profile().iter().flat_map(|profile| profile.roles()) {
            let call = self.iam.remove_role_from_instance_profile().instance_profile_name(name);
            let answer = call.role_name(role.role_name()).send().await;
            answer.map_err(|error| CallError::new(REMOVE, name, error))?;
        }
        let answer = self.iam.delete_instance_profile().instance_profile_name(name).send().await;
        answer.map_err(|error| CallError::new(DELETE, name, error))?;
        Ok(())
    }
}
