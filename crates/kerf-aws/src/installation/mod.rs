//! What an installation consists of in an account, made and taken away: for `kerf install` and
//! `kerf uninstall`. What is there is read here too, where nobody else needs it.

mod identity;
mod leftovers;
mod network;
mod stack;

use aws_config::SdkConfig;

pub use identity::{Association, OidcProvider};
pub use network::{InstalledSubnet, TaggedGroup};
pub use stack::{StackFacts, StackResource};

/// Makes and takes away what is installed.
#[derive(Clone, Debug)]
pub struct Installation {
    cloudformation: aws_sdk_cloudformation::Client,
    ec2: aws_sdk_ec2::Client,
    eks: aws_sdk_eks::Client,
    iam: aws_sdk_iam::Client,
    region: String,
}

impl Installation {
    pub(crate) fn new(config: &SdkConfig) -> Self {
        Self {
            cloudformation: aws_sdk_cloudformation::Client::new(config),
            ec2: aws_sdk_ec2::Client::new(config),
            eks: aws_sdk_eks::Client::new(config),
            iam: aws_sdk_iam::Client::new(config),
            region: config.region().map(ToString::to_string).unwrap_or_default(),
        }
    }
}
