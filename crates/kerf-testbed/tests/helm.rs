//! Helm: charts are judged, rendered and installed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use kerf_testbed::{ControlPlane, Helm, Options};

/// A chart with one ConfigMap, in a folder of the machine's.
fn chart(name: &str, template: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("kerf-chart-{}-{name}", std::process::id()));
    fs::create_dir_all(dir.join("templates")).unwrap();
    let about = "apiVersion: v2\nname: one\nversion: 0.1.0\nicon: https://example.com/icon.svg\n";
    fs::write(dir.join("Chart.yaml"), about).unwrap();
    fs::write(dir.join("values.yaml"), "greeting: hello\n").unwrap();
    fs::write(dir.join("templates/one.yaml"), template).unwrap();
    dir
}

const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: '{{ .Release.Name }}'}
data: {greeting: '{{ .Values.greeting }}'}
";

#[test]
fn a_chart_is_judged_rendered_and_installed_with_values() {
    let helm = Helm::ready().unwrap();
    let dir = chart("good", CONFIG_MAP);
    let path = dir.to_str().unwrap();

    let said = helm.lint(path, "").unwrap();
    assert!(said.contains("0 chart(s) failed"), "{said}");
    let text = helm.template("first", path, "greeting: good day", &["--set=unused=1"]).unwrap();
    assert!(text.contains("greeting: 'good day'"), "{text}");

    let cluster = ControlPlane::start(Options::api_server()).unwrap();
    let said = helm.install(&cluster, "second", path, "greeting: hey", &[]).unwrap();
    assert!(said.contains("STATUS: deployed"), "{said}");
    let data = "--output=jsonpath={.data.greeting}";
    assert_eq!(cluster.kubectl(&["get", "configmap", "second", data]).unwrap(), "hey");
    helm.on(&cluster, &["uninstall", "second"]).unwrap();
    assert!(cluster.kubectl(&["get", "configmap", "second"]).is_err());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_helm_finds_fault_with_is_an_error_with_its_words() {
    let helm = Helm::ready().unwrap();
    let dir = chart("bad", "{{ .Values.nothing.there }}");
    let path = dir.to_str().unwrap();
    for judged in [helm.template("first", path, "", &[]), helm.lint(path, "")] {
        let error = judged.unwrap_err().to_string();
        assert!(error.contains(".Values.nothing.there"), "{error}");
    }
    fs::remove_dir_all(dir).unwrap();
}
