//! Host ports and who holds them.

use kerf_model::host_port::{HostPort, HostPortError, HostPortUsage};

fn port(ip: &str, port: i32, protocol: &str) -> HostPort {
    HostPort::parse(ip, port, protocol).expect("a sensible port").expect("a port on the node")
}

#[test]
fn clashes_are_those_of_the_specification() {
    let table = [
        (port("10.0.0.1", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
        (port("10.0.0.1", 80, "TCP"), port("10.0.0.2", 80, "TCP"), false),
        (port("10.0.0.1", 80, "TCP"), port("10.0.0.1", 80, "UDP"), false),
        (port("10.0.0.1", 80, "TCP"), port("10.0.0.1", 81, "TCP"), false),
        (port("", 80, "TCP"), port("10.0.0.2", 80, ""), true),
        (port("::", 80, "TCP"), port("10.0.0.2", 80, "TCP"), true),
        (port("0.0.0.0", 80, "TCP"), port("::1", 80, "TCP"), true),
        (port("::1", 80, "TCP"), port("::2", 80, "TCP"), false),
        (port("::ffff:10.0.0.1", 80, "TCP"), port("10.0.0.1", 80, "TCP"), true),
    ];
    for (left, right, expected) in table {
        assert_eq!(left.clashes(&right), expected, "{left} and {right}");
        assert_eq!(right.clashes(&left), expected, "{right} and {left}");
    }
}

#[test]
fn a_pod_that_leaves_frees_its_ports_and_never_clashes_with_itself() {
    let mut usage = HostPortUsage::new();
    let (http, https) = (port("", 80, ""), port("", 443, ""));
    usage.take(1, &[http, https]);
    usage.take(2, &[port("10.0.0.1", 8080, "")]);
    assert_eq!(usage.clash(1, &[http]), None);
    let clash = usage.clash(3, &[port("", 53, "UDP"), port("10.0.0.9", 443, "TCP")]);
    let clash = clash.expect("443 is taken");
    assert_eq!((clash.taken, clash.by), (https, 1));
    usage.free(1);
    assert_eq!(usage.clash(3, &[http, https]), None);
    usage.take(2, &[]);
    assert!(usage.is_empty());
}

#[test]
fn ports_that_make_no_sense_are_refused() {
    assert_eq!(HostPort::parse("anything", 0, "anything"), Ok(None));
    assert_eq!(HostPort::parse("10.0.0.256", 1, ""), Err(HostPortError::Ip("10.0.0.256".into())));
    assert_eq!(HostPort::parse("", 65_536, ""), Err(HostPortError::Port(65_536)));
    assert_eq!(HostPort::parse("", -1, ""), Err(HostPortError::Port(-1)));
    assert_eq!(HostPort::parse("", 1, "tcp"), Err(HostPortError::Protocol("tcp".into())));
}
