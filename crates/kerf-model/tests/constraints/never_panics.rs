//! Text from outside becomes a value or a reason, never a panic.

use std::sync::LazyLock;

use kerf_model::host_port::HostPort;
use kerf_model::labels::{LabelRules, aws, check_label_value, check_qualified_name};
use kerf_model::requirement::{Operator, RequirementEntry};
use kerf_model::selector::{LabelSelector, LabelSet, Selector, SelectorExpression};
use kerf_model::taint::{Taint, TaintEffect, Toleration, TolerationOperator};
use kerf_model::vocabulary::{Vocabulary, parse_integer};
use proptest::prelude::*;

use crate::words::fuzz_cases;

static RULES: LazyLock<LabelRules> =
    LazyLock::new(|| LabelRules::core().with(&aws::provider_labels()));

/// Wild text, and text close enough to the grammars to get past the first check; now and then as
/// long as names may be, which is slow to make.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "\\PC{0,8}",
        6 => "[a-zA-Z0-9./_ +-]{0,12}",
        6 => "[+-]?[0-9]{0,4}",
        1 => "[0-9+-]{17,21}",
        1 => "[a-z.]{0,9}/?[a-z.]{61,65}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(fuzz_cases()))]

    #[test]
    fn names_numbers_and_words_never_panic(text in text(), port in any::<i32>()) {
        let key = check_qualified_name(&text);
        let value = check_label_value(&text);
        if key.is_ok() && !text.contains('/') {
            prop_assert_eq!(value, Ok(()), "a name without prefix is also a value");
        }
        prop_assert!(!RULES.is_well_known(&text) || RULES.is_restricted(&text).is_ok());
        if let Some(integer) = parse_integer(&text) {
            prop_assert_eq!(parse_integer(&integer.to_string()), Some(integer));
        }
        if let Ok(operator) = text.parse::<Operator>() {
            prop_assert_eq!(operator.as_str(), text.as_str());
        }
        if let Ok(effect) = text.parse::<TaintEffect>() {
            prop_assert_eq!(effect.as_str(), text.as_str());
        }
        if let Ok(Some(parsed)) = HostPort::parse(&text, port, "") {
            prop_assert!(parsed.clashes(&parsed));
        }
    }

    #[test]
    fn entries_and_selectors_of_arbitrary_text_never_panic(
        key in text(),
        word in prop_oneof![text(), Just("In".to_owned()), Just("Exists".to_owned())],
        operator in proptest::sample::select(&Operator::ALL[..]),
        values in proptest::collection::vec(text(), 0..3),
        min_values in proptest::option::of(any::<u32>()),
        pick in any::<u64>(),
    ) {
        let mut vocabulary = Vocabulary::new();
        let entry = RequirementEntry { key: key.clone(), operator, values, min_values };
        let checked = entry.check(&RULES);
        let interned = entry.intern(RULES.normalization(), &mut vocabulary);
        prop_assert!(!checked.problems.is_empty() || interned.is_ok(), "what passes has a meaning");
        if let Ok(requirement) = interned {
            prop_assert!(!requirement.text(&vocabulary).to_string().is_empty());
            let _ = requirement.any(pick, &vocabulary);
            prop_assert!(!requirement.to_entries(&vocabulary).is_empty());
        }
        let expression = SelectorExpression { key, operator: word, values: entry.values };
        let selector = LabelSelector { match_expressions: vec![expression], ..Default::default() };
        let compiled = Selector::compile(Some(&selector), &mut vocabulary);
        let matches = compiled.matches(&LabelSet::default());
        prop_assert!(compiled.problem().is_none() || !matches);
    }

    #[test]
    fn comparing_tolerations_of_arbitrary_text_never_panics(left in text(), right in text()) {
        let taint = Taint::new("k", &left, TaintEffect::NoSchedule);
        let tolerates = |operator| {
            Toleration { operator, value: right.clone(), ..Default::default() }.tolerates(&taint)
        };
        let [equal, greater, less] =
            [TolerationOperator::Equal, TolerationOperator::Gt, TolerationOperator::Lt]
                .map(tolerates);
        prop_assert!(u8::from(equal) + u8::from(greater) + u8::from(less) <= 1);
        prop_assert_eq!(equal, left == right);
    }
}
