//! Offline verdicts.
