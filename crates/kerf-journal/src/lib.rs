//! The journal: what an engine was told and what it decided, and the replay of it.
//!
//! **Knows**: the engine's two calls ([`Engine::handle`] and [`Engine::decide`]), a form of them as
//! JSON lines, and how to run an engine over such lines again and compare its actions.
//!
//! **Must never know**: where lines are kept, a clock, an executor.
//!
//! ```text
//!  JournaledEngine ── Record ──► Encoder ── lines ──► a file, or memory
//!   (runs as usual)                                        │
//!  Replay ◄── JournalLine ── Decoder ◄─────────────────────┘
//!   (an engine of its own; every action is compared)
//! ```
//!
//! A journal holds what the engine holds: specs and status of pods, nodes, NodeClaims and
//! NodePools, instances, and notices. The engine never reads Secrets, environment variables or user
//! data, and of ConfigMaps only the one with the state of zonal shifts, so no other is in a journal.
//!
//! [`Engine::handle`]: kerf_engine::Engine::handle
//! [`Engine::decide`]: kerf_engine::Engine::decide

mod decode;
mod digest;
mod encode;
mod engine;
mod header;
mod memory_journal;
mod record;
mod replay;
mod shared;

pub use decode::{Decoder, JournalError, JournalLine};
pub use encode::Encoder;
pub use engine::JournaledEngine;
pub use header::{FORMAT_VERSION, Header};
pub use memory_journal::MemoryJournal;
pub use record::{Record, Sink};
pub use replay::{Difference, Replay, ReplayReport};
