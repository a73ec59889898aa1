//! What this process calls itself in a Lease.

use std::fs;

use crate::clock;

/// `<hostname>_<random>`: two processes never share it, nor does one that was started again.
pub fn of_this_process() -> String {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let host = std::env::var("HOSTNAME").ok().filter(|host| !host.is_empty());
    let host = host.or_else(|| read("/proc/sys/kernel/hostname"));
    let random = read("/proc/sys/kernel/random/uuid")
        .unwrap_or_else(|| format!("{}-{}", std::process::id(), clock::now().as_nanosecond()));
    format!("{}_{random}", host.as_deref().unwrap_or("kerf"))
}
