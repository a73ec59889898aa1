//! What is serialised reads back as the same value, and reads well meanwhile.

use std::fmt::Debug;

use kerf_model::budget::{BudgetList, BudgetText, Percent};
use kerf_model::cron::Schedule;
use kerf_model::duration::{GoDuration, NillableDuration};
use kerf_model::host_port::HostPort;
use kerf_model::labels::LabelRules;
use kerf_model::price::Price;
use kerf_model::quantity::{Format, Quantity};
use kerf_model::resources::ResourceList;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it has a serialised form")
}

/// Equal, and written the same way again: equality alone does not see the form of a quantity.
fn goes_round<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = json(value);
    let back: T = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(back, *value, "{text}");
    assert_eq!(json(&back), text);
}

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Format::DecimalSi, Format::BinarySi, Format::DecimalExponent])
}

/// Amounts of every size, whole units and powers of 1024 more often than chance would have them.
fn nanos() -> impl Strategy<Value = i128> {
    let unit = 1_000_000_000_i128;
    prop_oneof![
        any::<i128>(),
        any::<i64>().prop_map(move |units| i128::from(units) * unit),
        (0..63_u32, -3..3_i128).prop_map(move |(shift, factor)| (factor << shift) * unit),
        -5_000..5_000_i128,
    ]
}

proptest! {
    #[test]
    fn quantities_keep_amount_and_form(nanos in nanos(), format in format()) {
        let quantity = Quantity::from_nanos(nanos, format);
        let back: Quantity = serde_json::from_str(&json(&quantity)).unwrap();
        prop_assert_eq!(back.nanos(), nanos);
        prop_assert_eq!(back.format(), format);
    }

    #[test]
    fn durations_and_prices_go_round(nanos in any::<i64>(), micros in any::<u64>()) {
        goes_round(&GoDuration::from_nanos(nanos));
        goes_round(&NillableDuration::from(GoDuration::from_nanos(nanos)));
        goes_round(&Price::from_micros_per_hour(micros));
    }

    /// Anything may stand where a quantity is due; it is refused, not a reason to panic.
    #[test]
    fn no_text_makes_reading_panic(text in ".{0,40}") {
        let text = json(&text);
        let _ = serde_json::from_str::<Quantity>(&text);
        let _ = serde_json::from_str::<Schedule>(&text);
        let _ = serde_json::from_str::<NillableDuration>(&text);
    }
}

#[test]
fn values_are_written_as_people_write_them() {
    let quantity = |text: &str| Quantity::parse(text).unwrap();
    let list: ResourceList =
        [("cpu", quantity("1.5")), ("memory", quantity("2Gi"))].into_iter().collect();
    assert_eq!(json(&list), r#"{"cpu":"1500m","memory":"2Gi"}"#);
    assert_eq!(json(&NillableDuration::NEVER), r#""Never""#);
    assert_eq!(json(&NillableDuration::parse("60m").unwrap()), r#""60m""#);
    assert_eq!(json(&Schedule::parse("0 9 * * 1-5").unwrap()), r#""0 9 * * 1-5""#);
    assert_eq!(json(&Quantity::from_bytes(0)), r#""0 BinarySI""#);
}

#[test]
fn budgets_go_round_with_those_that_cannot_be_read() {
    let budgets = BudgetList::parse([
        BudgetText { nodes: "10%", ..BudgetText::default() },
        BudgetText { nodes: "5", reasons: Some(&["Empty", "Drifted"]), ..BudgetText::default() },
        BudgetText {
            nodes: "0",
            schedule: Some("@daily"),
            duration: Some("8h"),
            ..BudgetText::default()
        },
        BudgetText { nodes: "lots", ..BudgetText::default() },
        BudgetText { nodes: "1", schedule: Some("* * *"), duration: Some("1h"), reasons: None },
        BudgetText { nodes: "1", schedule: Some("@daily"), ..BudgetText::default() },
    ]);
    assert_eq!(budgets.unreadable().len(), 3);
    goes_round(&budgets);
    assert!(serde_json::from_str::<Percent>("101").is_err());
}

#[test]
fn ports_and_label_rules_go_round() {
    goes_round(&HostPort::parse("::1", 80, "UDP").unwrap().unwrap());
    goes_round(&HostPort::parse("", 443, "").unwrap().unwrap());
    goes_round(&LabelRules::core());
}
