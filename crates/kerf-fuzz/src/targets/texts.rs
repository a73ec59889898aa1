//! Texts: amounts, times, schedules, names, messages of queues, settings of the router.

use kerf_catalog::share::Share;
use kerf_catalog::threshold::Threshold;
use kerf_model::budget::{BudgetList, BudgetText, DisruptionReason};
use kerf_model::cron::Schedule;
use kerf_model::duration::{GoDuration, NillableDuration};
use kerf_model::labels::{check_label_value, check_qualified_name};
use kerf_model::price::{Price, PriceAdjustment};
use kerf_model::quantity::Quantity;
use kerf_model::requirement::Operator;
use kerf_model::taint::TaintEffect;
use kerf_notices::message::{
    Input, InstanceId, Reading, only_with, read, read_bytes, read_zonal_shift, recognise, time_of,
};
use kerf_notices::routing::RoutingSettings;
use kerf_notices::zonal_shift::UnixSeconds;

use super::utf8;

/// 2026-11-17T00:00:00Z.
const NOW: i64 = 1_794_873_600;

/// Every parser of a short text. What is printed must be readable, and mean the same.
pub(super) fn text(bytes: &[u8]) {
    let Some(text) = utf8(bytes) else { return };
    if let Ok(quantity) = Quantity::parse(text) {
        let again = Quantity::parse(&quantity.to_string());
        assert_eq!(again.as_ref(), Ok(&quantity), "{text:?} is printed as {quantity}");
        let _ = (quantity.value(), quantity.milli_value(), quantity.checked_neg());
    }
    if let Ok(duration) = GoDuration::parse(text) {
        assert_eq!(GoDuration::parse(&duration.to_string()), Ok(duration), "{text:?}");
    }
    if let Ok(duration) = NillableDuration::parse(text) {
        assert_eq!(NillableDuration::parse(duration.as_str()).as_ref(), Ok(&duration), "{text:?}");
    }
    if let Ok(schedule) = Schedule::parse(text) {
        let next = schedule.next_after(NOW);
        assert!(next.is_none_or(|next| next > NOW), "{text:?}");
        let _ = (schedule.next_after(i64::MAX), schedule.next_after(i64::MIN));
    }
    let whole = BudgetText { nodes: text, ..BudgetText::default() };
    let timed = BudgetText { schedule: Some(text), duration: Some("1h"), nodes: "1", ..whole };
    let lasting = BudgetText { schedule: Some("@daily"), duration: Some(text), ..timed };
    let budgets = BudgetList::parse([whole, timed, lasting]);
    let _ = budgets.allowed(u32::MAX, DisruptionReason::Empty, NOW);
    if let Ok(price) = text.parse::<Price>() {
        assert_eq!(price.to_string().parse::<Price>().as_ref(), Ok(&price), "{text:?}");
    }
    let _ =
        (text.parse::<PriceAdjustment>(), text.parse::<Operator>(), text.parse::<TaintEffect>());
    let _ = (check_qualified_name(text), check_label_value(text), text.parse::<InstanceId>());
    let _ = (Threshold::parse(text), Share::parse_percent(text), Share::parse_ratio(text));
    if let Some(time) = UnixSeconds::parse(text) {
        assert_eq!(UnixSeconds::parse(&time.to_string()), Some(time), "{text:?}");
    }
}

/// Messages of queues, wrapped and bare.
pub(super) fn notice(bytes: &[u8]) {
    let reading = read_bytes(bytes);
    let _ = read_zonal_shift(bytes);
    let Some(text) = utf8(bytes) else { return };
    let _ = time_of(text);
    if let Reading::Event(event) = &reading {
        let _ = event.timeliness(UnixSeconds::at(NOW));
        let own = event.unwrapped.as_deref().unwrap_or(text);
        if let Some(part) = only_with(own, |id| event.instances.first() == Some(&id)) {
            assert!(!matches!(read(&part), Reading::Unreadable(_)), "{part}");
        }
    }
    if let Ok(Input::Batch(records)) = recognise(text) {
        records.iter().for_each(|record| drop(read(&record.body)));
    }
}

/// Settings of the router: the first line is the variable that the rest is given to.
pub(super) fn routes(bytes: &[u8]) {
    let Some((name, value)) = utf8(bytes).and_then(|text| text.split_once('\n')) else { return };
    let get = |asked: &str| (asked == name).then(|| value.to_owned());
    let _ = RoutingSettings::from_lookup(get);
}
