//! Which cluster a message belongs to.
