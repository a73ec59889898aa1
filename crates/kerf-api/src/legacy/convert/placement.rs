//! Which class each NodePool uses, now that kubelet settings belong to the class.
//!
//! Provisioners of one template with equal kubelet settings share a class; having none is a setting
//! too. The first such group keeps the template's name, another one is called
//! `<template>-<provisioner>` after its first Provisioner. First is the oldest by creation time and
//! then by position, so that a Provisioner that is added later never renames a class in use.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;

use super::reading::{ProvisionerReading, TemplateReading};

/// Longest name of a Kubernetes object.
const NAME_CHARS_MAX: usize = 253;

/// Where a class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The template at this position.
    Template(usize),
    /// The inline provider of the Provisioner at this position.
    Inline(usize),
}

/// A class to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassPlan {
    pub(super) name: String,
    pub(super) origin: Origin,
    /// Positions of the Provisioners that use it, all with the same kubelet settings.
    pub(super) users: Vec<usize>,
}

/// All classes, and the class name of each Provisioner.
pub(super) struct Placement {
    pub(super) classes: Vec<ClassPlan>,
    pub(super) class_of_provisioner: Vec<String>,
}

impl Placement {
    pub(super) fn of(
        provisioners: &mut [ProvisionerReading<'_>],
        templates: &[TemplateReading<'_>],
    ) -> Self {
        let mut classes = of_templates(provisioners, templates);
        classes.extend(of_inline_providers(provisioners));
        refuse_unplaceable(&mut classes, provisioners);
        let mut class_of_provisioner: Vec<_> = provisioners.iter().map(default_class).collect();
        for plan in &classes {
            for user in &plan.users {
                class_of_provisioner[*user].clone_from(&plan.name);
            }
        }
        report_missing_templates(provisioners, templates);
        Self { classes, class_of_provisioner }
    }
}

/// First one class of each template's own name, so that no name made up here can take it; then the
/// classes that differ from those in their kubelet settings.
fn of_templates(
    provisioners: &[ProvisionerReading<'_>],
    templates: &[TemplateReading<'_>],
) -> Vec<ClassPlan> {
    let mut users = users_by_template(provisioners);
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (position, reading) in templates.iter().enumerate() {
        let name = reading.template.name_any();
        let origin = Origin::Template(position);
        let mut groups = groups(users.remove(&name).unwrap_or_default(), provisioners).into_iter();
        let first = groups.next().unwrap_or_default();
        own.push(ClassPlan { name: name.clone(), origin, users: first });
        others.extend(groups.map(|users| {
            let namesake = provisioners[users[0]].provisioner.name_any();
            ClassPlan { name: format!("{name}-{namesake}"), origin, users }
        }));
    }
    own.append(&mut others);
    own
}

/// The Provisioners that name each template and can be converted, oldest first.
fn users_by_template(provisioners: &[ProvisionerReading<'_>]) -> BTreeMap<String, Vec<usize>> {
    let mut users: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, reading) in provisioners.iter().enumerate() {
        if let Some(template) =
            template_name(reading).filter(|_| reading.findings.allow_conversion())
        {
            users.entry(template.to_owned()).or_default().push(position);
        }
    }
    for positions in users.values_mut() {
        positions.sort_by_key(|position| Age::of(&provisioners[*position]));
    }
    users
}

/// Sorts objects with a creation time before those without.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Since(Time),
    Unknown,
}

impl Age {
    fn of(reading: &ProvisionerReading<'_>) -> Self {
        let created = reading.provisioner.metadata.creation_timestamp.clone();
        created.map_or(Self::Unknown, Self::Since)
    }
}

fn groups(users: Vec<usize>, provisioners: &[ProvisionerReading<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for user in users {
        let kubelet = &provisioners[user].kubelet;
        match groups.iter_mut().find(|group| provisioners[group[0]].kubelet == *kubelet) {
            Some(group) => group.push(user),
            None => groups.push(vec![user]),
        }
    }
    groups
}

fn of_inline_providers(provisioners: &[ProvisionerReading<'_>]) -> Vec<ClassPlan> {
    let inline = provisioners.iter().enumerate().filter(|(_, reading)| reading.inline.is_some());
    inline
        .map(|(position, reading)| ClassPlan {
            name: reading.provisioner.name_any(),
            origin: Origin::Inline(position),
            users: vec![position],
        })
        .collect()
}

/// Takes out classes whose name is taken or too long, and says so to the Provisioners behind them.
fn refuse_unplaceable(classes: &mut Vec<ClassPlan>, provisioners: &mut [ProvisionerReading<'_>]) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    classes.retain(|plan| {
        let is_long = plan.name.len() > NAME_CHARS_MAX;
        if !is_long && taken.insert(plan.name.clone()) {
            return true;
        }
        for user in &plan.users {
            let message = if is_long { too_long(&plan.name) } else { name_taken(&plan.name) };
            provisioners[*user].findings.error("metadata.name", message);
        }
        false
    });
}

fn name_taken(name: &str) -> String {
    format!(
        "needs an EC2NodeClass of its own called {name:?}, but that name is taken by another one; \
         rename this Provisioner or give it an AWSNodeTemplate of its own"
    )
}

fn too_long(name: &str) -> String {
    format!(
        "needs an EC2NodeClass of its own called {name:?}, which is longer than {NAME_CHARS_MAX} \
         characters; rename this Provisioner"
    )
}

/// The class a Provisioner uses when nothing else is said.
fn default_class(reading: &ProvisionerReading<'_>) -> String {
    template_name(reading).map_or_else(|| reading.provisioner.name_any(), str::to_owned)
}

fn template_name<'a>(reading: &ProvisionerReading<'a>) -> Option<&'a str> {
    reading.provisioner.spec.provider_ref.as_ref().map(|reference| reference.name.as_str())
}

fn report_missing_templates(
    provisioners: &mut [ProvisionerReading<'_>],
    templates: &[TemplateReading<'_>],
) {
    let known: BTreeSet<_> = templates.iter().map(|reading| reading.template.name_any()).collect();
    for reading in provisioners {
        let Some(name) = template_name(reading).filter(|name| !known.contains(*name)) else {
            continue;
        };
        if reading.kubelet.is_some() {
            reading.findings.error(
                "spec.kubeletConfiguration",
                format!(
                    "belongs to the EC2NodeClass now, but AWSNodeTemplate {name:?} was not given; \
                     convert both together"
                ),
            );
        } else {
            reading.findings.warning(
                "spec.providerRef.name",
                format!("AWSNodeTemplate {name:?} was not given; its EC2NodeClass is not made"),
            );
        }
    }
}
