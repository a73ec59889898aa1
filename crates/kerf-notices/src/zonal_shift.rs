//! Zones being avoided, and what that changes in pools.
