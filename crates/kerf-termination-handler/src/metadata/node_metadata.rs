//! What the instance is, as log, webhooks and Kubernetes Events show it.

use kerf_notices::imds::answer::{self, IdentityDocument};
use serde::Serialize;

use super::client::{MetadataClient, MetadataError};

/// What the instance is. Empty where nobody asks the metadata service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "each is named as people know it from the log")]
pub struct NodeMetadata {
    pub account_id: String,
    pub availability_zone: String,
    pub instance_id: String,
    pub instance_life_cycle: String,
    pub instance_type: String,
    pub local_hostname: String,
    pub private_ip: String,
    pub public_hostname: String,
    pub public_ip: String,
    pub region: String,
}

impl NodeMetadata {
    /// Asks for all of it. What is not there, such as a public address, stays empty.
    ///
    /// # Errors
    /// The service does not answer.
    pub async fn ask(client: &MetadataClient) -> Result<Self, MetadataError> {
        let document = client.get(answer::IDENTITY).await?;
        let document = document.map(|body| answer::identity(&body)).transpose()?;
        let IdentityDocument {
            account_id,
            availability_zone,
            instance_id,
            instance_type,
            private_ip,
            region,
        } = document.unwrap_or_default();
        let mut metadata = Self {
            account_id,
            availability_zone,
            instance_id,
            instance_type,
            private_ip,
            region,
            ..Self::default()
        };
        for (name, field) in [
            ("instance-id", &mut metadata.instance_id),
            ("instance-type", &mut metadata.instance_type),
            ("instance-life-cycle", &mut metadata.instance_life_cycle),
            ("local-hostname", &mut metadata.local_hostname),
            ("local-ipv4", &mut metadata.private_ip),
            ("public-hostname", &mut metadata.public_hostname),
            ("public-ipv4", &mut metadata.public_ip),
            ("placement/availability-zone", &mut metadata.availability_zone),
        ] {
            if let Some(text) = client.get(&format!("/latest/meta-data/{name}")).await? {
                *field = text;
            }
        }
        Ok(metadata)
    }

    /// The provider id of the node, if the instance is known.
    #[must_use]
    pub fn provider_id(&self) -> String {
        match self.instance_id.is_empty() {
            true => String::new(),
            false => format!("aws:///{}/{}", self.availability_zone, self.instance_id),
        }
    }

    /// What Kubernetes Events are annotated with, where anything is known.
    pub(crate) fn annotations(&self) -> impl Iterator<Item = (String, String)> + use<> {
        let all = [
            ("account-id", &self.account_id),
            ("availability-zone", &self.availability_zone),
            ("instance-id", &self.instance_id),
            ("instance-life-cycle", &self.instance_life_cycle),
            ("instance-type", &self.instance_type),
            ("local-hostname", &self.local_hostname),
            ("local-ipv4", &self.private_ip),
            ("public-hostname", &self.public_hostname),
            ("public-ipv4", &self.public_ip),
            ("region", &self.region),
        ];
        let known = !self.instance_id.is_empty();
        let all = all.map(|(name, value)| (name.to_owned(), value.clone()));
        all.into_iter().filter(move |_| known)
    }
}
