//! Facts decisions are made of.

pub mod budget;
pub mod cron;
pub mod duration;
pub mod pod_requests;
pub mod price;
pub mod quantity;
pub mod resources;
