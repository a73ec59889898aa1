//! Claims that are decided on and not stored yet.

use crate::action::ActionKind;
use crate::command::Command;
use crate::decision::Decision;
use crate::memory::Update;
use crate::observed::Name;
use crate::reason::Reason;
use crate::world::World;

/// Stores a claim, or drops the spec if its pool is gone.
pub(super) fn plan(world: &World, name: &Name) -> Decision {
    let mut decision = Decision::default();
    let Some(spec) = world.memory.creating.get(name) else { return decision };
    let (pool, uid) = &spec.pool;
    let is_wanted =
        world.pools.get(pool).is_some_and(|pool| pool.meta.uid == *uid && !pool.meta.is_deleting());
    if is_wanted {
        let reason = reason(world, name, pool);
        decision.act(ActionKind::CreateClaim(Box::new(spec.clone())), reason);
    } else {
        decision.remember(Update::ForgetClaim(name.clone()));
    }
    decision
}

fn reason(world: &World, name: &Name, pool: &Name) -> Reason {
    let mut commands = world.memory.commands.iter();
    let of_command = |command: &&Command| command.replacements.iter().any(|it| it.name() == *name);
    match commands.find(of_command) {
        Some(Command { id, reason, .. }) => {
            Reason::Replacement { reason: *reason, command: id.clone() }
        }
        None => Reason::NodeNeeded { pool: pool.clone() },
    }
}
