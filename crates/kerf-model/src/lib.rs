//! Facts decisions are made of.
//!
//! **Knows**: quantities, durations, budgets and prices; label keys and values as dense numbers;
//! what a key may be ([`requirement::Requirement`]) and what several keys may be together
//! ([`requirements::Requirements`]); taints, selectors and host ports; which labels users may use.
//!
//! **Must never know**: Kubernetes or AWS types, async, the time of day, files, the environment,
//! randomness. Text comes in at the border as plain structs ([`requirement::RequirementEntry`],
//! [`requirements::PodPlacement`], [`selector::LabelSelector`], [`taint::Taint`]) and is turned
//! into numbers once; decisions then compare bits.
//!
//! ```text
//!  labels (names, LabelRules, Normalization)
//!      │ normalise
//!      ▼
//!  RequirementEntry ──intern──► Requirement ──add──► Requirements ◄── compatible? ──► Requirements
//!      (words)          │        key, bits,             (pool, claim, node)              (pod)
//!                       ▼        bounds                        │
//!                  Vocabulary                                  └─ explain ──► words again
//!              KeyId, ValueId, integer
//! ```
//!
//! Start with [`vocabulary::Vocabulary`]: most operations take it by reference, because a value id
//! means nothing without it. Ids follow the order of interning, so equal input gives equal ids.

pub mod bitset;
pub mod budget;
pub mod buffer;
pub mod claim;
pub mod cron;
pub mod duration;
pub mod generated_name;
pub mod hash;
pub mod host_port;
pub mod instance_type;
pub mod intern;
pub mod labels;
pub mod min_values;
pub mod nearest;
pub mod node;
pub mod node_spec;
pub mod overlay;
pub mod overlay_evaluation;
pub mod pod;
pub mod pod_requests;
pub mod pool;
pub mod price;
pub mod quantity;
pub mod requirement;
pub mod requirements;
pub mod resources;
pub mod rng;
pub mod selector;
pub mod taint;
pub mod vocabulary;
