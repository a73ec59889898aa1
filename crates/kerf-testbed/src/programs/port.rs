//! Choosing a port on loopback.

use std::net::{Ipv4Addr, TcpListener};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::{Error, Result};

/// Below 32768, where Linux begins to hand out ports for outgoing connections: a port found free
/// here is not taken by some client a moment later.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// Processes started one after the other begin this far apart, so that they rarely try the same
/// port.
const STRIDE: u32 = 37;

/// A port nobody listens on now. Someone may still come first; the caller then tries another.
pub(crate) fn free_port() -> Result<u16> {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let start = process::id().wrapping_mul(STRIDE);
    for _ in 0..COUNT {
        let step = start.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed));
        let offset = u16::try_from(step % u32::from(COUNT)).expect("a remainder of a u16 fits");
        let port = FIRST + offset;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::NoPort { first: FIRST, last: FIRST + COUNT - 1 })
}
