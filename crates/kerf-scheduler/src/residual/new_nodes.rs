//! Nodes that come, as a rehearsal fills them: kube-scheduler likes them best, because nothing runs
//! there yet.

use crate::packing::bin::Bin;
use crate::reading::node::Headroom;
use crate::residual::Coming;
use crate::residual::left::Left;
use crate::residual::placing::Way;
use crate::residual::target_index::in_use;
use crate::solving::solver::Solver;
use crate::units::Amounts;

/// A node to come, without its pods.
#[derive(Clone, Debug)]
pub(crate) struct EmptyNode {
    /// The cheapest of the instance types it may be.
    instance_type: u32,
    /// What pods may use of it.
    whole: Amounts,
    left: Headroom,
    /// The classes that are planned there: whatever its zone turns out to be, it suits them.
    planned: Vec<usize>,
}

impl EmptyNode {
    pub(super) fn of(bin: &Bin, solver: &Solver<'_>) -> Self {
        let cheapest = bin.cheapest_type(&solver.context());
        let whole = solver.base.instance_types.all[cheapest].free.clone();
        Self {
            instance_type: u32::try_from(cheapest).expect("fewer than 2³² instance types"),
            left: Headroom::of_empty(whole.clone()),
            whole,
            planned: bin.contents.iter().map(|content| content.item.class).collect(),
        }
    }

    /// A node that was decided on; none if its pool or instance type is not offered any more.
    pub(super) fn coming(coming: &Coming<'_>, left: &Left<'_>) -> Option<Self> {
        let known = &left.base.instance_types;
        let template = known.templates.iter().find(|template| template.pool == coming.pool)?;
        let mut types = template.instance_types.clone();
        let index = types.find(|index| known.all[*index].type_index == coming.instance_type)?;
        let whole = known.all[index].free.clone();
        Some(Self {
            instance_type: u32::try_from(index).ok()?,
            left: Headroom::of_empty(whole.clone()),
            whole,
            planned: left.classes(coming.pods).into_iter().map(|(_, class)| class).collect(),
        })
    }
}

impl Left<'_> {
    /// Puts a pod onto the new node least in use, if one takes it and is less in use than another
    /// node that would; answers whether it did.
    pub(super) fn place_on_new(
        &mut self,
        class: usize,
        variant: usize,
        way: &Way,
        other_use: Option<i64>,
    ) -> bool {
        let base = self.base;
        let (number, class) = (class, &base.classes[class]);
        let variant = &class.variants[variant];
        let demand = self.demands.get(way.demand);
        let started = &self.state.started;
        let takes = |node: &EmptyNode| {
            let suits = node.planned.contains(&number)
                || way.keys.is_empty() && demand.instance_types.contains(node.instance_type);
            suits && node.left.times(class, variant, &base.groups, &base.hosts, started) > 0
        };
        let places = (0..self.new_nodes.len()).filter(|place| takes(&self.new_nodes[*place]));
        let used = |place: usize| {
            let node = &self.new_nodes[place];
            (in_use(&node.whole, &node.left.free), place)
        };
        let Some((new_use, place)) = places.map(used).min() else { return false };
        if other_use.is_some_and(|other| other < new_use) {
            return false;
        }
        let left = &mut self.new_nodes[place].left;
        left.bind(class);
        for id in class.concerned(variant).filter(|id| base.hosts.contains(*id)) {
            let carries = variant.groups.contains(&id);
            left.occupancy.note_existing(id, class.counts_in(id), carries);
        }
        true
    }
}
