//! Small pieces that need no running part.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::{Ipv4Addr, TcpListener};

use crate::aws::stand_in::announced_url;
use crate::kubernetes::options::{Options, Part};
use crate::programs::fingerprint::Fingerprint;
use crate::programs::go_module::required_version;
use crate::programs::port::free_port;

#[test]
fn the_stand_ins_address_is_read_only_from_a_whole_line() {
    let cases = [
        ("", None),
        (" * Running on http://127.0.0.1:40", None),
        (" * Running on http://127.0.0.1:40123\n", Some("http://127.0.0.1:40123")),
        ("WARNING\n * Running on http://127.0.0.1:1 (quit)\nmore", Some("http://127.0.0.1:1")),
    ];
    for (log, expected) in cases {
        assert_eq!(announced_url(log).as_deref(), expected, "{log:?}");
    }
}

#[test]
fn a_required_version_is_found_by_the_whole_module_path() {
    let go_mod = "module kerf-testbed\n\nrequire (\n\tk8s.io/kubernetes/more v0.1.0\n\
                  \tk8s.io/kubernetes v1.36.3 // a remark\n)\n";
    assert_eq!(required_version(go_mod, "k8s.io/kubernetes"), Some("v1.36.3"));
    assert_eq!(required_version(go_mod, "sigs.k8s.io/kwok"), None);
}

#[test]
fn a_fingerprint_changes_with_every_byte_and_every_border() {
    let of = |fields: &[&str]| {
        fields.iter().fold(Fingerprint::new(), |sum, field| sum.add(field.as_bytes())).hex()
    };
    let all = [of(&[]), of(&[""]), of(&["a"]), of(&["ab", "c"]), of(&["a", "bc"]), of(&["abc"])];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[index + 1..].contains(one), "{all:?}");
    }
    assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
}

#[test]
fn a_port_in_use_is_never_offered_and_none_is_offered_twice_in_a_row() {
    let mut offered = Vec::new();
    let mut held = Vec::new();
    for _ in 0..50 {
        let port = free_port().unwrap();
        assert!(!offered.contains(&port), "{port} again");
        offered.push(port);
        // Someone else may take a port in between; holding what we can is what the test needs.
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
    }
}

#[test]
fn gates_go_to_programs_that_have_them_and_flags_to_their_part_alone() {
    let options = Options::simulated_cluster()
        .feature_gate("B", false)
        .feature_gate("A", true)
        .flag(Part::Etcd, "--log-level=debug");
    let cases = [
        (Part::Etcd, vec!["--log-level=debug"]),
        (Part::ApiServer, vec!["--feature-gates=A=true,B=false"]),
        (Part::ControllerManager, vec!["--feature-gates=A=true,B=false"]),
        (Part::Scheduler, vec!["--feature-gates=A=true,B=false"]),
        (Part::Kwok, vec![]),
    ];
    for (part, expected) in cases {
        assert_eq!(options.flags_of(part), expected, "{part:?}");
    }
}
