//! Stand-ins for AWS, faults in front of them, and a judge of templates.

pub(crate) mod arc;
pub(crate) mod call;
pub(crate) mod control;
pub(crate) mod fault_proxy;
mod http;
pub(crate) mod imds;
pub(crate) mod kubelets;
pub(crate) mod machine;
pub(crate) mod quick_start;
pub(crate) mod stand_in;
pub(crate) mod template_lint;
mod token_buckets;
