//! The bodies of queue messages, as typed events.
