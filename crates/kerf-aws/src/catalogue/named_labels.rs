//! Which of AWS's own labels somebody could ask for.
//!
//! A label matters to a plan only if a pod, a pool, an overlay or anything else names it, and all
//! of these are in the input. So every text of the input is looked at, wherever it stands: that
//! takes in too many labels rather than too few, whatever fields there will be one day.

use std::collections::BTreeSet;

use kerf_model::labels::aws;
use kerf_model::pool::NodePool;
use serde_json::Value;

/// What every key of AWS's own begins with.
const OWN_PREFIX: &str = "karpenter.k8s.aws/";

/// AWS's own labels that are named somewhere.
#[derive(Clone, Debug, Default)]
pub struct NamedLabels {
    keys: BTreeSet<&'static str>,
}

impl NamedLabels {
    /// Notes what an object names in any of its texts.
    pub fn note_object(&mut self, object: &Value) {
        match object {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.note(text),
            Value::Array(items) => items.iter().for_each(|item| self.note_object(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.note(name);
                    self.note_object(value);
                }
            }
        }
    }

    /// Notes what a pool asks for: it may have been converted from an older kind, or assumed.
    pub fn note_pool(&mut self, pool: &NodePool) {
        pool.template.labels.keys().for_each(|key| self.note(key));
        pool.template.spec.requirements.iter().for_each(|entry| self.note(&entry.key));
    }

    /// Notes what a text names.
    pub fn note(&mut self, text: &str) {
        if text.contains(OWN_PREFIX) {
            self.keys.extend(aws::WELL_KNOWN.iter().filter(|key| text.contains(**key)));
        }
    }

    /// The keys, in the order of the alphabet.
    pub(super) fn keys(&self) -> Vec<&'static str> {
        self.keys.iter().copied().collect()
    }
}
