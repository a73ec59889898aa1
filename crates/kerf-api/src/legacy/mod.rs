//! The kinds that were current before NodePool: Provisioner (`karpenter.sh/v1alpha5`) and
//! AWSNodeTemplate (`karpenter.k8s.aws/v1alpha1`).
//!
//! ```text
//!  Provisioner ──providerRef──► AWSNodeTemplate        stored, served, never changed by Kerf
//!       │  └──provider (inline template)  │
//!       ▼                                 ▼
//!  validate_provisioner          validate_aws_node_template      what the schema cannot say
//!       └──────────────┬──────────────────┘
//!                   convert ─► NodePool + EC2NodeClass + problems
//! ```
//!
//! The kinds of `v1beta1` are not served. They are [converted](convert_beta) for whoever has them in
//! files.
//!
//! There are no webhooks. What the old webhooks refused is refused by the schemas where an API
//! server can do it, and reported by the two `validate_…` functions otherwise; what the old webhook
//! filled in is filled in by [`with_default_requirements`]. Everything here is a pure function.

pub mod aws_node_template;
pub mod block_device;
mod convert;
mod defaults;
mod finding;
mod inline_provider;
pub mod kubelet;
mod labels;
pub mod provisioner;
mod selector;
mod v1beta1;
mod validation;

pub use aws_node_template::AWSNodeTemplate;
pub use convert::{Converted, Options, convert};
pub use defaults::with_default_requirements;
pub use finding::{Kind, LegacyFinding, Severity};
pub use labels::PROVISIONER_NAME;
pub use provisioner::Provisioner;
pub use v1beta1::{ConvertedBeta, beta_kind, convert_beta};
pub use validation::{validate_aws_node_template, validate_provisioner};
