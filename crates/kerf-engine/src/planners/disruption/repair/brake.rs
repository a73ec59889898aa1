//! Where many nodes of a pool are unhealthy at once, something else is wrong, and replacing them
//! would not help.

use super::diagnosis::is_unhealthy;
use crate::observed::Pool;
use crate::reason::Blocked;
use crate::world::World;
use kerf_model::labels::well_known::NODE_POOL;

/// One in so many nodes of a pool may be unhealthy, rounded up.
const ONE_IN: usize = 5;

/// Whether nodes of a pool may be repaired.
///
/// # Errors
/// Too many of them are unhealthy.
pub(super) fn released(world: &World, pool: &Pool) -> Result<(), Blocked> {
    let policies = &world.settings.provider.repair_policies;
    let name = &*pool.meta.name;
    let own =
        world.nodes.values().filter(|node| node.labels.get(NODE_POOL).is_some_and(|of| of == name));
    let (mut nodes, mut unhealthy) = (0usize, 0usize);
    for node in own {
        nodes += 1;
        unhealthy += usize::from(is_unhealthy(policies, node));
    }
    match unhealthy > nodes.div_ceil(ONE_IN) {
        true => Err(Blocked::TooManyUnhealthy { pool: pool.meta.name.clone(), unhealthy, nodes }),
        false => Ok(()),
    }
}
