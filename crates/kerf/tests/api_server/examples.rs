//! The manifests people already have apply as they are, and `kerf lint` finds nothing in them.

use std::process::Command;

use crate::server::{control_plane, in_workspace};

#[tokio::test(flavor = "multi_thread")]
async fn every_example_applies_with_strict_validation() {
    let folder = in_workspace("examples");
    let applied = control_plane()
        .kubectl(&["apply", "--server-side", "--validate=strict", "--filename", &folder])
        .unwrap();
    for kind in [
        "nodepool",
        "ec2nodeclass",
        "provisioner",
        "awsnodetemplate",
        "nodeoverlay",
        "capacitybuffer",
    ] {
        assert!(applied.contains(kind), "no {kind} in the examples:\n{applied}");
    }
}

#[test]
fn lint_finds_nothing_in_the_examples() {
    let output = Command::new(env!("CARGO_BIN_EXE_kerf"))
        .args(["lint", "--filename", &in_workspace("examples")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
}
