//! Facts decisions are made of.
