//! Tags that instances get once their nodes are known.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::Instance as Described;
use kerf_engine::event::Failure;

use super::Instances;
use super::instance::{parse_provider_id, tag};
use crate::AwsAction;
use crate::provider::tags::{self, Tags};

/// CreateTags under way at once. The tags name the claim and the node, so that no two instances can
/// share a call, and nothing waits for them: they come one after the other, beside what hurries.
pub(super) const AT_ONCE: usize = 2;

impl Instances {
    /// Sets those of the tags that an instance does not have, and the name of the cluster.
    ///
    /// # Errors
    /// EC2 gave no answer, or refused.
    pub(crate) async fn tag(
        &self,
        provider_id: &str,
        wanted: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        let Some((_, id)) = parse_provider_id(provider_id) else {
            let message = format!("{provider_id} names no instance of EC2");
            return Err(Failure::Invalid { message });
        };
        let Some(described) = self.descriptions.ask(id).await? else {
            let message = format!("EC2 does not describe {id} (yet)");
            return Err(Failure::Unavailable { message });
        };
        let missing = missing(&described, wanted, &self.context.cluster.name);
        if missing.is_empty() {
            return Ok(());
        }
        // Who is left without a turn when everything ends asks again.
        let _turn = self.tagging.acquire().await;
        let call = self.context.clients.ec2.create_tags().resources(id);
        let call = call.set_tags(Some(tags::for_ec2(&missing))).send();
        self.context.calls.make(AwsAction::CreateTags, id, call).await?;
        Ok(())
    }
}

/// What is not there yet. What is there stays as it is, whoever has set it.
fn missing(described: &Described, wanted: &Tags, cluster: &str) -> Tags {
    let cluster = (tags::CLUSTER_NAME.to_owned(), cluster.to_owned());
    let all = wanted.iter().map(|(key, value)| (key.clone(), value.clone())).chain([cluster]);
    all.filter(|(key, _)| tag(described, key).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::Tag;

    use super::*;

    #[test]
    fn only_missing_tags_are_set() {
        let tag = |key: &str| Tag::builder().key(key).value("own").build();
        let wanted: Tags = [("Name", "node-1"), ("karpenter.sh/nodeclaim", "claim-1")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        let keys = |described: &Described| {
            missing(described, &wanted, "c1").into_keys().collect::<Vec<_>>()
        };
        let bare = Described::builder().build();
        assert_eq!(keys(&bare), ["Name", "eks:eks-cluster-name", "karpenter.sh/nodeclaim"]);
        let named = Described::builder().tags(tag("Name")).tags(tag("eks:eks-cluster-name"));
        assert_eq!(keys(&named.build()), ["karpenter.sh/nodeclaim"]);
    }
}
