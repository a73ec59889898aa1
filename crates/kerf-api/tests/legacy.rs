//! Provisioner and AWSNodeTemplate: what is refused, what is filled in, and what they become.

#[path = "legacy/corpus.rs"]
mod corpus;
#[path = "legacy/defaults.rs"]
mod defaults;
#[path = "legacy/kubelet_placement.rs"]
mod kubelet_placement;
#[path = "legacy/manifest.rs"]
mod manifest;
#[path = "legacy/properties.rs"]
mod properties;
#[path = "legacy/provisioner_rows.rs"]
mod provisioner_rows;
#[path = "legacy/provisioner_validation.rs"]
mod provisioner_validation;
#[path = "legacy/selector_rows.rs"]
mod selector_rows;
#[path = "legacy/template_rows.rs"]
mod template_rows;
#[path = "legacy/template_validation.rs"]
mod template_validation;
#[path = "legacy/worked_example.rs"]
mod worked_example;
