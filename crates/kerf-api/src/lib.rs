//! API objects.
