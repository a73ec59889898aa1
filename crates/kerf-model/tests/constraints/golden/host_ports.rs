//! Ports against ports.

use kerf_model::host_port::{HostPort, HostPortUsage};
use serde_json::Value;

use super::{bits, recording, rows, text};

/// `None` for what an API server never stores: an address or protocol that makes no sense, or a
/// protocol left out, which the server fills in.
fn stored(row: &Value) -> Option<Option<HostPort>> {
    let number = row["hostPort"].as_i64().expect("a number") as i32;
    let (ip, protocol) = (text(row, "hostIP"), text(row, "protocol"));
    HostPort::parse(ip, number, protocol).ok().filter(|_| !protocol.is_empty())
}

#[test]
fn pods_clash_over_ports_as_in_the_recording() {
    let recorded = recording("host_ports");
    let ports: Vec<_> = rows(&recorded, "ports").iter().map(stored).collect();
    let mut compared = 0;
    for (row, wanted) in rows(&recorded, "matrix").iter().zip(&ports) {
        for (expected, held) in bits(row).into_iter().zip(&ports) {
            let (Some(wanted), Some(held)) = (wanted, held) else { continue };
            let mut usage = HostPortUsage::new();
            usage.take("holder", held.as_slice());
            let clash = usage.clash("newcomer", wanted.as_slice());
            assert_eq!(clash.is_some(), expected, "{wanted:?} against {held:?}");
            compared += 1;
        }
    }
    assert!(compared > 1_000, "{compared} pairs were compared");
}
