//! Shared parts of the schemas: patterns, rules, and the types more than one kind uses.

pub(crate) mod condition;
pub(crate) mod label_domains;
pub(crate) mod patterns;
pub(crate) mod quantity;
pub(crate) mod requirement;
pub(crate) mod rules;
pub(crate) mod taint;
