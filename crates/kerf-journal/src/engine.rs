//! An engine whose calls are recorded.

use std::ops::Deref;

use kerf_engine::event::Event;
use kerf_engine::notice::Settled;
use kerf_engine::time::Time;
use kerf_engine::{Engine, Orders};

use crate::record::{Record, Sink};

/// An engine with, perhaps, a journal. It takes and gives what [`Engine`] does.
#[derive(Clone, Debug)]
pub struct JournaledEngine<S> {
    engine: Engine,
    sink: Option<S>,
}

impl<S: Sink> JournaledEngine<S> {
    /// An engine that has not been told anything yet; without a sink nothing is recorded, and
    /// nothing copied.
    #[must_use]
    pub fn new(engine: Engine, sink: Option<S>) -> Self {
        Self { engine, sink }
    }

    /// See [`Engine::handle`].
    pub fn handle(&mut self, event: Event, now: Time) {
        self.keep_state();
        if let Some(sink) = &mut self.sink {
            sink.take(Record::Event { at: now, event: event.clone() });
        }
        self.engine.handle(event, now);
    }

    /// See [`Engine::decide`].
    pub fn decide(&mut self, now: Time) -> Orders {
        self.keep_state();
        let orders = self.engine.decide(now);
        if let Some(sink) = &mut self.sink {
            let Orders { actions, withdrawn, settled, .. } = orders.clone();
            sink.take(Record::Decision { at: now, actions, withdrawn, settled });
        }
        orders
    }

    /// See [`Engine::stand_by`].
    pub fn stand_by(&mut self, now: Time) -> Vec<Settled> {
        self.keep_state();
        let settled = self.engine.stand_by(now);
        if let Some(sink) = &mut self.sink {
            sink.take(Record::StandBy { at: now, settled: settled.clone() });
        }
        settled
    }

    /// Records everything the engine knows, where the sink asks for it. The copy shares the
    /// objects: it is a matter of milliseconds, and happens once a segment.
    fn keep_state(&mut self) {
        if let Some(sink) = &mut self.sink
            && sink.wants_state()
        {
            sink.take(Record::State(Box::new(self.engine.clone())));
        }
    }

    /// What was recorded.
    #[must_use]
    pub fn sink(&self) -> Option<&S> {
        self.sink.as_ref()
    }
}

impl<S> Deref for JournaledEngine<S> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}
