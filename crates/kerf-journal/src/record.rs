//! What happens to an engine, call by call.

use kerf_engine::Engine;
use kerf_engine::action::{Action, ActionId};
use kerf_engine::event::Event;
use kerf_engine::notice::Settled;
use kerf_engine::time::Time;

/// One call of the engine, or a note about the journal itself.
#[derive(Clone, Debug)]
pub enum Record {
    /// The engine took in an event.
    Event {
        /// The time it was told.
        at: Time,
        /// The event.
        event: Event,
    },
    /// The engine decided, perhaps on nothing. Recorded all the same: planners ran.
    Decision {
        /// The time it was told.
        at: Time,
        /// Its actions.
        actions: Vec<Action>,
        /// Solves whose answer nobody waits for any more.
        withdrawn: Vec<ActionId>,
        /// Notices that got their outcome.
        settled: Vec<Settled>,
    },
    /// The engine stood by while another process led.
    StandBy {
        /// The time of it.
        at: Time,
        /// Notices that got their outcome.
        settled: Vec<Settled>,
    },
    /// Everything the engine knows, between two calls. What follows can be replayed without what
    /// came before.
    State(Box<Engine>),
    /// Records are missing: they came faster than they could be written.
    Gap {
        /// How many.
        records: u64,
    },
}

/// Where records go. Must not block: it is called by whoever runs the engine.
pub trait Sink {
    /// Takes a record.
    fn take(&mut self, record: Record);

    /// Whether the next record shall be the engine's state.
    fn wants_state(&self) -> bool;
}
