//! User data beside what Karpenter writes (`golden/recorded/user_data.json`), and at its limits.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{AmiFamily, InstanceStorePolicy, Kubelet};
use kerf_model::rng::SplitMix64;
use kerf_model::taint::{Taint, TaintEffect};
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};

use super::*;
use crate::provider::KubernetesVersion;

/// Rows in which ours is not the reference's, and what it has instead.
const DIFFERENT: [(&str, &str, &str); 3] = [
    ("AL2", "MIME after a blank line", "is read as MIME in place of an error"),
    ("AL2023", "MIME after a blank line", "is read as MIME in place of an error"),
    ("AL2023", "MIME, part with more headers", "headers are kept: one may name an encoding"),
];

/// The reference's first line in a NodeConfig; a remark that nobody reads.
const REFERENCE_REMARK: &str = "# Karpenter Generated NodeConfig\n";

fn cluster(service_cidr: Option<&str>) -> Cluster {
    Cluster {
        name: "golden".to_owned(),
        region: "eu-west-1".to_owned(),
        endpoint: "https://0123ABCD.gr7.eu-west-1.eks.amazonaws.com".to_owned(),
        ca_bundle: "Y2EtYnVuZGxl".to_owned(),
        version: KubernetesVersion { major: 1, minor: 36 },
        service_cidr: service_cidr.map(str::to_owned),
        dns_ip: None,
    }
}

fn family(name: &str) -> AmiFamily {
    serde_json::from_value(json!(name)).expect("a family")
}

fn taint(row: &Value) -> Taint {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let effect: TaintEffect = text("effect").parse().expect("an effect");
    Taint::new(text("key"), text("value"), effect)
}

/// Ours, for a row.
fn answer(row: &Value) -> Result<Rendered, UserDataError> {
    let kubelet: Kubelet = serde_json::from_value(match &row["kubelet"] {
        Value::Null => json!({}),
        kubelet => kubelet.clone(),
    })
    .expect("settings");
    let labels: BTreeMap<String, String> =
        serde_json::from_value(row["labels"].clone()).unwrap_or_default();
    let taints: Vec<Taint> = row["taints"].as_array().into_iter().flatten().map(taint).collect();
    render(&UserData {
        family: family(row["family"].as_str().expect("a family")),
        cluster: &cluster(row["cidr"].as_str()),
        kubelet: &kubelet,
        labels: &labels,
        taints: &taints,
        custom: row["custom"].as_str(),
        instance_store: (row["raid0"] == true).then_some(InstanceStorePolicy::RAID0),
        binds_storage_by_default: row["defaultMountPaths"] == true,
    })
}

/// What a TOML document says, however it is written.
fn said(text: &str) -> Value {
    let document: DocumentMut = text.parse().expect("TOML");
    said_by(document.as_item())
}

fn said_by(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        let entries = table.iter().map(|(key, item)| (key.to_owned(), said_by(item)));
        return Value::Object(entries.collect::<Map<_, _>>());
    }
    match item.as_array() {
        Some(list) => list.iter().map(|value| said_by(&Item::Value(value.clone()))).collect(),
        None => item
            .as_str()
            .map(Value::from)
            .or_else(|| item.as_integer().map(Value::from))
            .or_else(|| item.as_bool().map(Value::from))
            .expect("a text, a number or a truth"),
    }
}

/// What of a row ours has otherwise, if anything.
fn difference(row: &Value) -> Option<String> {
    match (answer(row), row["text"].as_str()) {
        (Err(_), None) => None,
        (Ok(ours), None) => Some(format!("is no error but\n{}", ours.text)),
        (Err(error), Some(_)) => Some(format!("is an error: {error}")),
        (Ok(ours), Some(theirs)) => {
            let is_same = match row["family"].as_str() {
                Some("Bottlerocket") => said(&ours.text) == said(theirs),
                _ => ours.text == theirs.replace(REFERENCE_REMARK, ""),
            };
            (!is_same).then(|| format!("is\n{}\nnot\n{theirs}", ours.text))
        }
    }
}

#[test]
fn user_data_is_what_karpenter_writes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/recorded/user_data.json");
    let text = std::fs::read_to_string(path).expect(path);
    let recording: Value = serde_json::from_str(&text).expect("a recording is JSON");
    let rows = recording["rows"].as_array().expect("rows");
    assert!(rows.len() > 150, "{} rows", rows.len());
    for row in rows {
        let name = (row["family"].as_str().unwrap(), row["note"].as_str().unwrap());
        let expected = DIFFERENT.iter().find(|(family, note, _)| (*family, *note) == name);
        match (difference(row), expected) {
            (None, None) | (Some(_), Some(_)) => {}
            (Some(found), None) => panic!("{name:?} {found}"),
            (None, Some((.., why))) => panic!("{name:?} is the same, though it {why}"),
        }
    }
}

#[test]
fn headers_of_parts_are_kept_and_a_blank_line_before_them_does_no_harm() {
    let own = "\n\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\
               Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\nZWNobw==\n--B--";
    let row = json!({ "family": "AL2023", "cidr": "10.100.0.0/16", "custom": own });
    let text = answer(&row).unwrap().text;
    let part = "--//\nContent-Transfer-Encoding: base64\nContent-Type: text/x-shellscript\n\n\
                ZWNobw==\n--//\n";
    assert!(text.contains(part), "{text}");
}

#[test]
fn a_script_with_colons_is_a_script() {
    let own = "#!/bin/bash\necho hello: world\n";
    let row = json!({ "family": "AL2023", "cidr": "10.100.0.0/16", "custom": own });
    assert!(answer(&row).unwrap().text.contains("Content-Type: text/x-shellscript"));
}

#[test]
fn settings_that_are_not_known_are_left_out_and_named() {
    let own = "[other]\nx = 1\n[settings.kubernetes]\nnot-a-setting = 1\nevent-qps = 2\n";
    let row = json!({ "family": "Bottlerocket", "custom": own });
    let warnings: Vec<String> =
        answer(&row).unwrap().warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "other in spec.userData is not a known setting and is left out",
            "settings.kubernetes.not-a-setting in spec.userData is not a known setting and is left \
             out",
        ]
    );
}

#[test]
fn what_cannot_be_merged_is_named_with_its_reason() {
    for (family, own, message) in [
        (
            "Bottlerocket",
            "[settings.kubernetes]\nmax-pods = \"many\"\n",
            "settings.kubernetes.max-pods in spec.userData must be a whole number, but is string",
        ),
        (
            "Bottlerocket",
            "[settings.kubernetes.node-labels]\na = 1\n",
            "settings.kubernetes.node-labels.a in spec.userData must be a string, but is integer",
        ),
        (
            "Bottlerocket",
            "[settings.kubernetes]\nallowed-unsafe-sysctls = [1]\n",
            "settings.kubernetes.allowed-unsafe-sysctls in spec.userData must be a list of strings, \
             but is array",
        ),
        (
            "Bottlerocket",
            "settings = 1\n",
            "settings in spec.userData must be a table, but is integer",
        ),
        ("Bottlerocket", "#!/bin/bash\necho 1\n", "spec.userData must be TOML for Bottlerocket: "),
        ("AL2023", "{}", "the service CIDR of the cluster is not known, and nodes of AL2023 "),
    ] {
        let row = json!({ "family": family, "custom": own });
        let error = answer(&row).expect_err(own).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn ec2_takes_sixteen_kibibytes_and_not_one_byte_more() {
    let of = |bytes: usize| answer(&json!({ "family": "Custom", "custom": "x".repeat(bytes) }));
    assert_eq!(of(14_745).map(|it| it.warnings), Ok(Vec::new()));
    for bytes in [14_746, 16_384] {
        let warnings = of(bytes).map(|it| it.warnings);
        assert_eq!(warnings, Ok(vec![UserDataWarning::NearlyTooLarge { bytes }]));
    }
    assert_eq!(of(16_385), Err(UserDataError::TooLarge { bytes: 16_385 }));
    // What nodes need to join counts, too.
    let own = "x".repeat(16_000);
    let row = json!({ "family": "AL2", "custom": own });
    assert!(matches!(answer(&row), Err(error) if error.is_too_large()));
}

/// Pieces that parsers find hard.
const PIECES: [&str; 30] = [
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=\"B\"",
    "Content-Type:",
    "--B",
    "--B--",
    "--//",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    ":",
    "=",
    "\"",
    "'",
    "[",
    "]",
    "[settings]",
    "[settings.kubernetes]",
    "settings.kubernetes.node-labels.a = \"b\"",
    "node-labels = {}",
    "max-pods = 1",
    "#!/bin/bash",
    "- a",
    "key: value",
    "{",
    "}",
    "\u{0}",
    "é",
];

#[test]
fn no_text_makes_it_panic_and_what_is_written_can_be_read() {
    let asked = std::env::var("KERF_FUZZ_CASES").ok();
    let cases = asked.map_or(4_000, |count| count.parse().expect("KERF_FUZZ_CASES is a count"));
    let mut rng = SplitMix64::new(1);
    for _ in 0..cases {
        let count = rng.next_u64() % 12;
        let text: String =
            (0..count).map(|_| PIECES[usize::try_from(rng.next_u64() % 30).unwrap()]).collect();
        for family in ["AL2", "AL2023", "Bottlerocket", "Windows2019", "Custom"] {
            let row = json!({ "family": family, "cidr": "10.0.0.0/16", "custom": text });
            let Ok(rendered) = answer(&row) else { continue };
            match family {
                "AL2" | "AL2023" => {
                    let parts = mime::parts(&rendered.text).expect(&text);
                    assert_eq!(mime::document(&parts).as_ref(), Ok(&rendered.text), "{text:?}");
                }
                "Bottlerocket" => {
                    let said = said(&rendered.text);
                    assert_eq!(
                        said["settings"]["kubernetes"]["cluster-name"], "golden",
                        "{text:?}"
                    );
                }
                _ => assert!(rendered.text.contains(&text)),
            }
        }
    }
}
