//! What AWS announces, read and decided on, without a queue or a client in sight.
//!
//! [`message`] turns the bodies of queue messages into typed events, [`routing`] decides which
//! cluster's queue each belongs to, and [`zonal_shift`] keeps the state of zones being avoided and
//! says how pools must change. [`imds`] reads what the instance metadata service says.

pub mod imds;
pub mod message;
pub mod routing;
pub mod zonal_shift;
