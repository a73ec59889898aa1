//! The hash of a NodePool's template.
//!
//! Pools and claims carry it as an annotation and clients recompute it, so it must be bit for bit
//! the public one: a structural hash over named types and fields, 64-bit FNV-1 at every step. The
//! requirements are left out; they have a drift check of their own.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;
use kerf_model::duration::{GoDuration, NillableDuration};
use kerf_model::hash::fnv1;

use crate::node_class_ref::NodeClassRef;
use crate::node_pool::{Template, TemplateMetadata, TemplateSpec};

/// The version of the algorithm, stored beside the hash.
pub const NODE_POOL_HASH_VERSION: &str = "v3";

/// Seconds from the first day of year one to the Unix epoch: 719,162 days.
const UNIX_EPOCH_FROM_YEAR_ONE_SECONDS: i64 = 719_162 * 86_400;

/// The hash of a template, as the annotation stores it: in decimal.
#[must_use]
pub fn node_pool_hash(template: &Template) -> String {
    template_hash(template).to_string()
}

fn template_hash(template: &Template) -> u64 {
    Struct::new("NodeClaimTemplate")
        .field("ObjectMeta", template.metadata.as_ref().and_then(metadata_hash))
        .field("Spec", spec_hash(&template.spec))
        .hash
}

/// Nothing when the metadata says nothing; an empty but present map says something.
fn metadata_hash(metadata: &TemplateMetadata) -> Option<u64> {
    Struct::new("ObjectMeta")
        .field("Labels", metadata.labels.as_ref().map(map_hash))
        .field("Annotations", metadata.annotations.as_ref().map(map_hash))
        .unless_zero()
}

fn spec_hash(spec: &TemplateSpec) -> Option<u64> {
    Struct::new("NodeClaimTemplateSpec")
        .field("Taints", spec.taints.as_deref().map(taints_hash))
        .field("StartupTaints", spec.startup_taints.as_deref().map(taints_hash))
        .field("NodeClassRef", Some(node_class_ref_hash(&spec.node_class_ref)))
        .field("TerminationGracePeriod", spec.termination_grace_period.as_deref().and_then(grace))
        .field("ExpireAfter", spec.expire_after.as_deref().and_then(expiry))
        .unless_zero()
}

fn node_class_ref_hash(reference: &NodeClassRef) -> u64 {
    Struct::new("NodeClassReference")
        .field("Kind", text(&reference.kind))
        .field("Name", text(&reference.name))
        .field("Group", text(&reference.group))
        .hash
}

/// Order does not matter, and two equal taints cancel each other: that is the public algorithm.
fn taints_hash(taints: &[Taint]) -> u64 {
    taints.iter().map(taint_hash).fold(0, |sum, hash| sum ^ hash)
}

fn taint_hash(taint: &Taint) -> u64 {
    Struct::new("Taint")
        .field("Key", text(&taint.key))
        .field("Value", taint.value.as_deref().and_then(text))
        .field("Effect", text(&taint.effect))
        .field("TimeAdded", taint.time_added.as_ref().map(|time| time_hash(time.0.as_second())))
        .hash
}

/// A time is hashed in Go's binary form: version, seconds, nanoseconds, and the offset in minutes,
/// where −1 stands for UTC.
fn time_hash(unix_seconds: i64) -> u64 {
    let mut bytes = vec![1];
    bytes.extend((unix_seconds + UNIX_EPOCH_FROM_YEAR_ONE_SECONDS).to_be_bytes());
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend((-1_i16).to_be_bytes());
    Struct::new("Time").field("Time", Some(fnv1(&bytes))).hash
}

/// A grace period of zero is present but hashes no field.
fn grace(text: &str) -> Option<u64> {
    let nanoseconds = text.parse::<GoDuration>().ok()?.nanos();
    let field = (nanoseconds != 0).then(|| fnv1(&nanoseconds.to_le_bytes()));
    Some(Struct::new("Duration").field("Duration", field).hash)
}

/// `Never` is as good as absent.
fn expiry(text: &str) -> Option<u64> {
    let nanoseconds = text.parse::<NillableDuration>().ok()?.duration()?.nanos();
    Some(
        Struct::new("NillableDuration")
            .field("Duration", Some(fnv1(&nanoseconds.to_le_bytes())))
            .hash,
    )
}

fn map_hash(map: &BTreeMap<String, String>) -> u64 {
    let entries =
        map.iter().map(|(key, value)| ordered(fnv1(key.as_bytes()), fnv1(value.as_bytes())));
    finish(entries.fold(0, |sum, hash| sum ^ hash))
}

/// An empty text is a zero value and hashes as absent.
fn text(text: &str) -> Option<u64> {
    (!text.is_empty()).then(|| fnv1(text.as_bytes()))
}

/// A named type whose fields are added in the order they are declared.
struct Struct {
    hash: u64,
    zero: bool,
}

impl Struct {
    fn new(type_name: &str) -> Self {
        Self { hash: fnv1(type_name.as_bytes()), zero: true }
    }

    fn field(self, name: &str, value: Option<u64>) -> Self {
        match value {
            None => self,
            Some(value) => {
                let field = ordered(fnv1(name.as_bytes()), value);
                Self { hash: finish(self.hash ^ field), zero: false }
            }
        }
    }

    fn unless_zero(self) -> Option<u64> {
        (!self.zero).then_some(self.hash)
    }
}

fn ordered(first: u64, second: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    fnv1(&bytes)
}

fn finish(hash: u64) -> u64 {
    fnv1(&hash.to_le_bytes())
}
