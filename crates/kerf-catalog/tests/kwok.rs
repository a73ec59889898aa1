//! The types of the kwok provider, and the file format they come in.

#[path = "../../kerf-model/tests/recording/mod.rs"]
mod recording;

use std::collections::BTreeMap;

use kerf_catalog::kwok_file::{FileError, offering_keys};
use kerf_catalog::{from_json, kwok, to_json};
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::{kwok as label, well_known};
use kerf_model::price::Price;
use kerf_model::quantity::Quantity;
use kerf_model::resources::ResourceList;
use serde_json::Value;

fn list_of(value: &Value) -> ResourceList {
    let mut list = ResourceList::new();
    for (name, text) in value.as_object().expect("a map") {
        let amount = Quantity::parse(text.as_str().expect("text")).expect("a quantity");
        list.insert(name.as_str(), amount);
    }
    list
}

fn labels_of(instance_type: &InstanceType) -> BTreeMap<&str, Vec<&str>> {
    let mut labels = BTreeMap::new();
    for entry in instance_type.requirements.iter() {
        let mut values: Vec<&str> = entry.values.iter().map(String::as_str).collect();
        values.sort_unstable();
        labels.insert(entry.key.as_str(), values);
    }
    labels
}

fn recorded_labels(row: &Value) -> BTreeMap<&str, Vec<&str>> {
    let labels = row["requirements"].as_object().expect("a map");
    labels
        .iter()
        .map(|(key, values)| {
            let values = values.as_array().expect("a list");
            (key.as_str(), values.iter().map(|v| v.as_str().expect("text")).collect())
        })
        .collect()
}

fn value<'a>(offering: &'a Offering, key: &str) -> &'a str {
    let entry = offering.requirements.iter().find(|entry| entry.key == key);
    &entry.expect("an offering says where and how").values[0]
}

#[test]
fn the_144_types_are_those_of_the_reference_in_every_field() {
    let rows = recording::rows("kwok_instance_types", "rows");
    let types = kwok();
    assert_eq!((types.len(), rows.len()), (144, 144));
    for (instance_type, row) in types.iter().zip(&rows) {
        assert_eq!(instance_type.name, row["name"]);
        assert_eq!(labels_of(instance_type), recorded_labels(row), "{}", instance_type.name);
        assert_eq!(*instance_type.capacity, list_of(&row["capacity"]), "{}", instance_type.name);
        assert_eq!(
            instance_type.overhead.total(),
            list_of(&row["overhead"]),
            "{}",
            instance_type.name
        );
        assert_eq!(
            instance_type.allocatable(),
            list_of(&row["allocatable"]),
            "{}",
            instance_type.name
        );
        let recorded: Vec<&str> =
            row["offerings"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(instance_type.offerings.len(), recorded.len(), "{}", instance_type.name);
        for (offering, recorded) in instance_type.offerings.iter().zip(recorded) {
            check_offering(&instance_type.name, offering, recorded);
        }
    }
}

/// A recorded offering reads `spot test-zone-a true 0.0190032385536`.
fn check_offering(name: &str, offering: &Offering, recorded: &str) {
    let [kind, zone, available, price] = recorded.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{recorded}")
    };
    assert_eq!(value(offering, well_known::CAPACITY_TYPE), kind, "{name}");
    assert_eq!(value(offering, well_known::ZONE), zone, "{name}");
    assert_eq!(offering.available.to_string(), available, "{name}");
    assert_eq!(offering.price, Price::parse(price).expect("a price"), "{name} {recorded}");
}

#[test]
fn prices_are_rounded_to_the_nearest_micro_dollar() {
    // Name; 0.025 a core + 0.001 a billion bytes; the same times 0.7; in micro-dollars.
    for (name, on_demand, spot) in [
        // 25,000 + 2,147.483648.
        ("c-1x-amd64-linux", 27_147, 19_003),
        // 400,000 + 68,719.476736.
        ("s-16x-arm64-windows", 468_719, 328_104),
        // 6,400,000 + 2,199,023.255552.
        ("m-256x-amd64-linux", 8_599_023, 6_019_316),
    ] {
        let types = kwok();
        let instance_type =
            types.iter().find(|instance_type| instance_type.name == name).expect(name);
        for offering in instance_type.offerings.iter() {
            let is_spot = value(offering, well_known::CAPACITY_TYPE) == well_known::SPOT;
            let expected = if is_spot { spot } else { on_demand };
            assert_eq!(offering.price.micros_per_hour(), expected, "{name}");
        }
    }
}

#[test]
fn a_written_file_reads_back_as_it_was() {
    assert_eq!(from_json(&to_json(&kwok())).expect("a file"), kwok());
    assert_eq!(from_json("[]").expect("an empty file"), []);
    assert_eq!(to_json(&[]), "[]");
}

#[test]
fn the_types_of_the_reference_s_benchmark_can_be_read_as_a_file() {
    let rows = recording::rows("fake_instance_types", "types");
    let types = from_json(&Value::Array(rows.clone()).to_string()).expect("the file format");
    assert_eq!(types.len(), 400);
    for (instance_type, row) in types.iter().zip(&rows) {
        assert_eq!(instance_type.name, row["name"]);
        assert_eq!(
            instance_type.allocatable(),
            list_of(&row["allocatable"]),
            "{}",
            instance_type.name
        );
        let labels = labels_of(instance_type);
        for (key, values) in recorded_labels(row) {
            // Three labels of these types have no place in the format.
            if !["integer", "size", "special"].contains(&key) {
                assert_eq!(labels[key], values, "{} {key}", instance_type.name);
            }
        }
        assert_eq!(instance_type.offerings.len(), 5, "{}", instance_type.name);
    }
    let keys: Vec<&str> = offering_keys(&types).into_iter().collect();
    assert_eq!(keys, [well_known::CAPACITY_TYPE, well_known::ZONE]);
}

/// A file of one type; every test changes one thing.
const FILE: &str = r#"[{"name": "g5.4xlarge", "architecture": "amd64", "operatingSystems": ["linux"],
  "resources": {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": 1},
  "offerings": [{"Price": 1.624, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1a"]}]}]}]"#;

fn changed(from: &str, to: &str) -> Result<Vec<InstanceType>, FileError> {
    assert!(FILE.contains(from), "the file has {from}");
    from_json(&FILE.replace(from, to))
}

#[test]
fn a_file_gives_defaults_labels_and_overhead() {
    let types = from_json(FILE).expect("a good file");
    let [instance_type] = &types[..] else { panic!("{types:?}") };
    assert_eq!(instance_type.capacity.quantity("pods"), Quantity::from_int(110));
    assert_eq!(instance_type.capacity.quantity("nvidia.com/gpu"), Quantity::from_int(1));
    assert_eq!(instance_type.allocatable().quantity("cpu"), Quantity::from_milli(15_900));
    assert_eq!(instance_type.offerings[0].price.micros_per_hour(), 1_624_000);
    assert!(instance_type.offerings[0].available);
    let labels = labels_of(instance_type);
    assert_eq!(labels[label::INSTANCE_SIZE], ["4xlarge"]);
    assert_eq!(labels[label::INSTANCE_FAMILY], ["g5"]);
    assert_eq!(labels[label::INSTANCE_CPU], ["16"]);
    assert_eq!(labels[label::INSTANCE_MEMORY], ["64Gi"]);
}

#[test]
fn sizes_and_families_are_read_from_names_that_have_them() {
    for (name, size, family) in [
        ("m5.large", "large", "m5"),
        ("m5.xlarge", "xlarge", "m5"),
        ("m5.metal", "metal", "m5"),
        ("c7i-flex.large", "16", "c7i"),
        ("m5.metal-24xl", "16", "m5"),
        ("n2-standard-4", "16", "n2"),
        ("Standard_D4", "16", "S"),
        ("m5.xxlarge", "16", "m5"),
    ] {
        let types = changed("g5.4xlarge", name).expect(name);
        let labels = labels_of(&types[0]);
        assert_eq!(labels[label::INSTANCE_SIZE], [size], "{name}");
        assert_eq!(labels[label::INSTANCE_FAMILY], [family], "{name}");
    }
}

#[test]
fn reserved_offerings_keep_what_is_left_of_the_reservation() {
    let text = FILE.replace("on-demand", "reserved");
    let text = text.replace("\"Price\"", "\"ReservationCapacity\": 7, \"Price\"");
    let types = from_json(&text).expect("a reserved offering");
    let reservation = types[0].offerings[0].reservation.as_ref().expect("reserved");
    assert_eq!((reservation.id.as_str(), reservation.remaining), ("g5.4xlarge/us-east-1a", 7));
    let named = text.replace(
        "\"Requirements\": [",
        "\"Requirements\": [{\"key\": \"example.com/reservation-id\", \"operator\": \"In\", \
         \"values\": [\"r-1\"]},",
    );
    let types = from_json(&named).expect("a named reservation");
    assert_eq!(types[0].offerings[0].reservation.as_ref().expect("reserved").id, "r-1");
    assert_eq!(from_json(&to_json(&types)).expect("written and read"), types);
    let error = from_json(&text.replace("7", "-7")).expect_err("less than nothing");
    assert!(error.to_string().contains("ReservationCapacity"), "{error}");
}

/// What is changed, into what, and words of the message.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    ("[{\"name\"", "{\"name\"", &["not a list", "line 1"]),
    ("\"g5.4xlarge\"", "\"\"", &["number 1", "name"]),
    ("\"g5.4xlarge\"", "\"a b\"", &["number 1", "a b"]),
    ("\"amd64\"", "\"\"", &["g5.4xlarge", "architecture"]),
    ("[\"linux\"]", "[]", &["g5.4xlarge", "operatingSystems"]),
    ("\"16\"", "\"sixteen\"", &["g5.4xlarge", "cpu", "sixteen"]),
    ("\"16\"", "\"-1\"", &["g5.4xlarge", "cpu", "below zero"]),
    ("\"16\"", "true", &["g5.4xlarge", "cpu", "true"]),
    ("\"memory\"", "\"mem\"", &["g5.4xlarge", "memory", "missing"]),
    ("\"Price\"", "\"Cost\"", &["g5.4xlarge", "offering number 1", "Price"]),
    ("1.624", "-1.624", &["offering number 1", "-1.624"]),
    ("1.624", "1e300", &["offering number 1", "too large"]),
    ("1.624", "\"free\"", &["line 3"]),
    ("\"on-demand\"", "\"rented\"", &["offering number 1", "rented", "on-demand, spot, reserved"]),
    ("topology.kubernetes.io/zone", "zone", &["offering number 1", "topology.kubernetes.io/zone"]),
    ("\"In\", \"values\": [\"us", "\"At\", \"values\": [\"us", &["zone", "At", "does not exist"]),
    ("\"In\", \"values\": [\"us", "\"Gt\", \"values\": [\"us", &["zone", "whole number"]),
    ("\"In\", \"values\": [\"us", "\"NotIn\", \"values\": [\"us", &["zone", "operator In"]),
];

#[test]
fn mistakes_in_a_file_are_named_with_their_place() {
    for (from, to, words) in MISTAKES {
        let text = changed(from, to).expect_err(to).to_string();
        for word in *words {
            assert!(text.contains(word), "{from} → {to}: {text:?} lacks {word:?}");
        }
    }
    let one = FILE.strip_prefix('[').and_then(|text| text.strip_suffix(']')).expect("a list");
    let error = from_json(&format!("[{one}, {one}]")).expect_err("a name twice").to_string();
    assert!(error.contains("twice"), "{error}");
    let windows = one.replace("linux", "windows");
    let types = from_json(&format!("[{one}, {windows}]")).expect("a name for two systems");
    assert_eq!(types.len(), 2);
}

#[test]
fn a_tiny_or_whole_price_is_read_as_it_is_meant() {
    for (text, micros) in
        [("1", 1_000_000), ("0", 0), ("1e-7", 0), ("5e-7", 1), ("2.5e1", 25_000_000)]
    {
        let types = changed("1.624", text).expect(text);
        assert_eq!(types[0].offerings[0].price.micros_per_hour(), micros, "{text}");
    }
}
