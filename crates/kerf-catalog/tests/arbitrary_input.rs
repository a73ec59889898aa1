//! Readers meet any text at all and never panic.

#[path = "../../kerf-model/tests/arbitrary_text/mod.rs"]
mod arbitrary_text;

use arbitrary_text::for_arbitrary_texts;
use kerf_catalog::from_json;
use kerf_catalog::name::name_parts;
use kerf_catalog::region::read_offerings;
use kerf_catalog::share::Share;
use kerf_catalog::table::{read_bandwidth, read_limits, read_prices, read_shapes};
use kerf_catalog::threshold::Threshold;

/// A good file; every text in it stands once.
const FILE: &str = r#"[{"name": "NAME", "architecture": "ARCH", "operatingSystems": ["OS"],
  "resources": {"cpu": "16", "memory": "64Gi", "RESOURCE": "AMOUNT"},
  "offerings": [{"Price": 0.5, "ReservationCapacity": 1, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["reserved"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["ZONE"]},
    {"key": "KEY", "operator": "OPERATOR", "values": ["VALUE"]}]}]}]"#;

#[test]
fn any_text_is_a_file_of_instance_types_or_refused() {
    let tokens = ["[", "]", "{", "}", "{}", "\"name\":", "\"m5.large\"", "null", ",", "1e9", ":"];
    // An empty text makes an empty list, which is a file; nearly all others are none.
    for_arbitrary_texts(&tokens, |text| from_json(&format!("[{text}]")).is_ok());
    let file = file_with("", "");
    let numbers = ["0", ".", "5", "e", "-", "null", "1", "true"];
    for_arbitrary_texts(&numbers, |text| from_json(&file.replace("0.5", text)).is_ok());
}

/// The places of the file that hold text, and what makes it good.
const PLACES: [(&str, &str); 9] = [
    ("NAME", "g5.4xlarge"),
    ("ARCH", "amd64"),
    ("OS", "linux"),
    ("RESOURCE", "example.com/device"),
    ("AMOUNT", "1"),
    ("ZONE", "zone-a"),
    ("KEY", "example.com/reservation-id"),
    ("OPERATOR", "In"),
    ("VALUE", "r-1"),
];

/// The file with a text at one place and good ones at the others.
fn file_with(text: &str, at: &str) -> String {
    PLACES.iter().fold(FILE.to_owned(), |file, (place, good)| {
        let text = if *place == at { text } else { good };
        let json = serde_json::to_string(text).expect("any text can be written as JSON");
        file.replace(&format!("\"{place}\""), &json)
    })
}

#[test]
fn any_text_inside_a_file_of_instance_types_is_taken_or_refused() {
    let tokens = ["a", "-", ".", "Gi", "m", "In", "Gt", "1", "xlarge", "_"];
    for (place, good) in PLACES {
        from_json(&file_with(good, place)).expect("the file is good");
    }
    for_arbitrary_texts(&tokens, |text| {
        let (place, _) = PLACES[text.len() % PLACES.len()];
        from_json(&file_with(text, place)).is_ok()
    });
}

#[test]
fn any_text_is_a_table_of_offerings_or_refused() {
    let tokens = ["[us-east-1]\n", "[", "]", "\n", "m5.large abc\n", "m5.large", " ", "abc"];
    for_arbitrary_texts(&tokens, |text| read_offerings(text).is_ok());
}

#[test]
fn any_line_is_a_row_of_a_table_or_refused() {
    let tokens = ["a1.large", ",", "\n", "+", "/", "0.5", "amd64", "nitro"];
    let shapes = include_str!("../data/shapes.csv").lines().next().expect("a header");
    for_arbitrary_texts(&tokens, |text| {
        let shapes_read = read_shapes(&format!("{shapes}\n{text}")).is_ok();
        let prices_read = read_prices(&format!("type,us-east-1\n{text}")).is_ok();
        let bandwidth_read = read_bandwidth(&format!("type,baseline_mbps\n{text}")).is_ok();
        let limits = "type,ipv4_per_interface,branch_interfaces";
        let limits_read = read_limits(&format!("{limits}\n{text}")).is_ok();
        shapes_read | prices_read | bandwidth_read | limits_read
    });
}

#[test]
fn a_good_row_with_any_field_changed_is_read_or_refused() {
    let table = include_str!("../data/shapes.csv");
    let header = table.lines().next().expect("a header");
    let row = table.lines().find(|line| line.starts_with("p4d.24xlarge,")).expect("the type");
    let tokens = ["amd64", "nitro", "1", "+", "/", "spot", "cluster", "99999999999999999999", "-1"];
    let columns = row.split(',').count();
    for_arbitrary_texts(&tokens, |text| {
        let mut fields: Vec<&str> = row.split(',').collect();
        fields[text.len() % columns] = text;
        read_shapes(&format!("{header}\n{}", fields.join(","))).is_ok()
    });
}

#[test]
fn any_text_is_a_threshold_a_share_and_a_name_or_refused() {
    let tokens = ["%", "100", ".", "Mi", "0", "5%", "-", "e"];
    for_arbitrary_texts(&tokens, |text| {
        let ratio = Share::parse_ratio(text);
        assert!(ratio.is_err() || ratio.is_ok_and(|share| share <= Share::WHOLE));
        Threshold::parse(text).is_ok()
    });
    let tokens = ["m", "5", ".", "-", "6tb", "-flex", "large"];
    for_arbitrary_texts(&tokens, |text| name_parts(text).family.is_some());
}
