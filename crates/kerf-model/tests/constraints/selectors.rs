//! Label selectors and the namespaces of a term.

use std::collections::BTreeMap;

use kerf_model::selector::{
    LabelSelector, LabelSet, Namespace, Selector, SelectorExpression, TermNamespaces,
};
use kerf_model::vocabulary::Vocabulary;

fn expression(text: &str) -> SelectorExpression {
    let mut words = text.split_whitespace().map(str::to_owned);
    SelectorExpression {
        key: words.next().expect("a key"),
        operator: words.next().expect("an operator"),
        values: words.collect(),
    }
}

fn selector(labels: &[(&str, &str)], expressions: &[&str]) -> LabelSelector {
    LabelSelector {
        match_labels: map(labels),
        match_expressions: expressions.iter().map(|text| expression(text)).collect(),
    }
}

fn map(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn matches(selector: Option<&LabelSelector>, labels: &[(&str, &str)]) -> bool {
    let mut vocabulary = Vocabulary::new();
    let compiled = Selector::compile(selector, &mut vocabulary);
    compiled.matches(&LabelSet::intern(labels.iter().copied(), &mut vocabulary))
}

#[test]
fn selectors_match_as_in_kubernetes() {
    let web: &[(&str, &str)] = &[("app", "web"), ("tier", "front")];
    let table = [
        (selector(&[], &[]), true),
        (selector(&[("app", "web")], &[]), true),
        (selector(&[("app", "db")], &[]), false),
        (selector(&[("app", "web")], &["tier In front back"]), true),
        (selector(&[], &["tier NotIn front"]), false),
        (selector(&[], &["missing NotIn front"]), true),
        (selector(&[], &["tier Exists"]), true),
        (selector(&[], &["missing Exists"]), false),
        (selector(&[], &["missing DoesNotExist"]), true),
        (selector(&[], &["tier DoesNotExist"]), false),
    ];
    for (selector, expected) in table {
        assert_eq!(matches(Some(&selector), web), expected, "{selector:?}");
    }
    assert!(!matches(None, web), "an absent selector matches nothing");
}

#[test]
fn an_invalid_selector_matches_nothing_and_says_why() {
    let table = [
        ("k Like a", "unknown operator \"Like\""),
        ("k Gt 3", "unknown operator \"Gt\""),
        ("k In", "needs at least one value"),
        ("k NotIn", "needs at least one value"),
        ("k Exists a", "takes no values"),
        ("k DoesNotExist a", "takes no values"),
        ("-k Exists", "not a label key"),
        ("k In -", "not a label value"),
    ];
    for (text, reason) in table {
        let mut vocabulary = Vocabulary::new();
        let bad = selector(&[], &[text]);
        let compiled = Selector::compile(Some(&bad), &mut vocabulary);
        let problem = compiled.problem().expect(text).to_string();
        assert!(problem.contains(reason), "{text}: {problem}");
        assert!(!compiled.matches(&LabelSet::default()), "{text}");
    }
    let mut vocabulary = Vocabulary::new();
    assert_eq!(Selector::compile(None, &mut vocabulary).problem(), None);
}

#[test]
fn selectors_that_say_the_same_in_another_order_are_equal() {
    let mut vocabulary = Vocabulary::new();
    let one = selector(&[("a", "1")], &["b In x y", "c Exists"]);
    let other = selector(&[], &["c Exists", "b In y x", "a In 1", "c Exists"]);
    let [one, other] = [one, other].map(|each| Selector::compile(Some(&each), &mut vocabulary));
    assert_eq!(one, other);
}

#[test]
fn match_label_keys_add_the_values_the_pod_has() {
    let pod = map(&[("app", "web"), ("rev", "7")]);
    let merged = selector(&[("app", "web")], &[]).with_match_label_keys(["rev", "none"], &pod);
    assert_eq!(merged, selector(&[("app", "web")], &["rev In 7"]));
    assert!(matches(Some(&merged), &[("app", "web"), ("rev", "7")]));
    assert!(!matches(Some(&merged), &[("app", "web"), ("rev", "8")]));
}

#[test]
fn the_namespaces_of_a_term_are_those_of_the_specification() {
    let env = |env| selector(&[("env", env)], &[]);
    let table: [(&[&str], Option<LabelSelector>, &[&str]); 6] = [
        (&[], None, &["own"]),
        (&["x", "y"], None, &["x", "y"]),
        (&[], Some(env("prod")), &["blue", "green"]),
        (&["x"], Some(env("prod")), &["blue", "green", "x"]),
        (&[], Some(LabelSelector::default()), &["blue", "dev", "green"]),
        (&["x"], Some(selector(&[], &["env Like a"])), &["x"]),
    ];
    for (names, selector, expected) in table {
        let mut vocabulary = Vocabulary::new();
        let namespaces =
            [("blue", "prod"), ("dev", "dev"), ("green", "prod")].map(|(name, env)| {
                let labels = LabelSet::intern([("env", env)], &mut vocabulary);
                Namespace { name: name.to_owned(), labels }
            });
        let names = names.iter().map(ToString::to_string).collect();
        let term = TermNamespaces { names, selector };
        let resolved = term.resolve("own", &namespaces, &mut vocabulary);
        assert!(resolved.iter().eq(expected), "{term:?}: {resolved:?}");
    }
}
