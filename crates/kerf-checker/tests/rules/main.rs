//! Every rule lets a legal answer pass and refuses an illegal one that differs only in it.

mod affinity;
mod anti_affinity;
mod bookkeeping;
mod existing_nodes;
mod new_nodes;
mod pools;
mod spread;
mod world;
