//! What packing uses up.

use crate::packing::bin::Bin;
use crate::reading::cluster::PoolUse;
use crate::reading::instance_type::{InstanceTypes, PoolInstanceType};
use crate::units::Amounts;

/// What changes while packing.
#[derive(Clone, Debug)]
pub(crate) struct PackState {
    /// What the limits of each template leave.
    pub(crate) limits: Vec<Vec<(usize, i64)>>,
    pub(crate) nodes_left: Vec<Option<i64>>,
    /// What is left of each reservation.
    pub(crate) reservations: Vec<u32>,
    /// Of each group whether a matching pod stands anywhere.
    pub(crate) started: Vec<bool>,
}

impl PackState {
    /// Nothing is taken yet, and nobody stands anywhere.
    pub(crate) fn new(instance_types: &InstanceTypes, groups: usize) -> Self {
        let templates = instance_types.templates.iter();
        Self {
            limits: templates.clone().map(|template| template.limits.clone()).collect(),
            nodes_left: templates.map(|template| template.nodes_max).collect(),
            reservations: instance_types.reservations.iter().map(|(_, left)| *left).collect(),
            started: vec![false; groups],
        }
    }

    /// Takes what the nodes there are take of a template's limits.
    pub(crate) fn take(&mut self, template: usize, used: &PoolUse) {
        if let Some(left) = &mut self.nodes_left[template] {
            *left -= used.nodes;
        }
        for (resource, left) in &mut self.limits[template] {
            *left = left.saturating_sub(used.capacity.get(*resource).copied().unwrap_or(0));
        }
    }

    /// Takes what a node of such a capacity takes of a template's limits.
    pub(crate) fn take_one(&mut self, template: usize, capacity: &Amounts) {
        if let Some(left) = &mut self.nodes_left[template] {
            *left -= 1;
        }
        for (resource, left) in &mut self.limits[template] {
            *left -= capacity.get(*resource).copied().unwrap_or(0);
        }
    }

    /// Returns what a node of such a capacity takes of a template's limits.
    pub(crate) fn give_back(&mut self, template: usize, capacity: &Amounts) {
        if let Some(left) = &mut self.nodes_left[template] {
            *left += 1;
        }
        for (resource, left) in &mut self.limits[template] {
            *left += capacity.get(*resource).copied().unwrap_or(0);
        }
    }

    /// Returns what a new node takes of its pool's limits and reservation.
    pub(crate) fn give_back_bin(&mut self, bin: &Bin, instance_types: &InstanceTypes) {
        let instance_type = &instance_types.all[bin.instance_type];
        self.give_back(instance_type.template, &instance_type.capacity);
        if let Some(reservation) = bin.reserved {
            self.reservations[reservation] += 1;
        }
    }

    /// Whether the limits of its pool leave headroom for one more of an instance type.
    pub(crate) fn allows(&self, instance_type: &PoolInstanceType) -> bool {
        let at = |index: usize| instance_type.capacity.get(index).copied().unwrap_or(0);
        self.nodes_left[instance_type.template].is_none_or(|left| left > 0)
            && self.limits[instance_type.template].iter().all(|(index, left)| at(*index) <= *left)
    }

    /// How many more of an instance type the limits of its pool leave headroom for.
    pub(crate) fn times_allowed(&self, instance_type: &PoolInstanceType) -> i64 {
        let by_count = self.nodes_left[instance_type.template].unwrap_or(i64::MAX);
        let by_amount = self.limits[instance_type.template].iter().filter_map(|(index, left)| {
            let one = instance_type.capacity.get(*index).copied().unwrap_or(0);
            (one > 0).then(|| left / one)
        });
        by_amount.min().unwrap_or(i64::MAX).min(by_count)
    }
}
