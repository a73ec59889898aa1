//! Making a fleet cheaper after everything is placed.

use crate::packing::bin::{Bin, Content};
use crate::packing::item::PackingContext;
use crate::packing::pack::Packing;

/// Nodes that are tried to be done without: the worst filled.
const DISSOLVED_MAX: usize = 48;
/// Other nodes whose slack is looked at for each.
const TARGETS_MAX: usize = 256;

/// Does without nodes whose pods fit into the slack of others, emptiest first.
pub(crate) fn improve(packing: &mut Packing, context: &PackingContext<'_>) {
    let mut order: Vec<usize> = (0..packing.bins.len()).collect();
    order.sort_by_key(|index| {
        let cpu = packing.bins[*index].requests.first().copied().unwrap_or(0);
        (cpu, std::cmp::Reverse(*index))
    });
    order.truncate(DISSOLVED_MAX);
    let mut gone: Vec<usize> = Vec::new();
    for index in order {
        if let Some(changed) = dissolved(index, &gone, packing, context) {
            for (target, bin) in changed {
                packing.bins[target] = bin;
            }
            packing.state.give_back_bin(&packing.bins[index], context.instance_types);
            gone.push(index);
        }
    }
    gone.sort_unstable();
    for index in gone.into_iter().rev() {
        packing.bins.remove(index);
    }
}

/// The other nodes with the pods of one node added, if they have headroom for all.
fn dissolved(
    index: usize,
    gone: &[usize],
    packing: &Packing,
    context: &PackingContext<'_>,
) -> Option<Vec<(usize, Bin)>> {
    let mut changed: Vec<(usize, Bin)> = Vec::new();
    for Content { item, count } in &packing.bins[index].contents {
        let mut left = *count;
        let targets =
            (0..packing.bins.len()).filter(|target| *target != index && !gone.contains(target));
        for target in targets.take(TARGETS_MAX) {
            let position = changed.iter().position(|(known, _)| *known == target);
            let bin = position.map_or(&packing.bins[target], |position| &changed[position].1);
            let headroom = bin.headroom(item, context, &packing.state.started, left);
            if headroom > 0 {
                let mut bin = bin.clone();
                bin.add(item, context, headroom);
                match position {
                    Some(position) => changed[position].1 = bin,
                    None => changed.push((target, bin)),
                }
                left -= headroom;
            }
            if left == 0 {
                break;
            }
        }
        if left > 0 {
            return None;
        }
    }
    Some(changed)
}
