//! Taints and tolerations.

use kerf_model::taint::{
    Taint, TaintEffect, TaintVocabulary, Toleration, TolerationOperator, disrupted,
    is_known_ephemeral, merge_taints, unregistered, untolerated,
};

use TaintEffect::{NoExecute, NoSchedule, PreferNoSchedule};
use TolerationOperator::{Equal, Exists, Gt, Lt};

fn toleration(
    key: &str,
    operator: TolerationOperator,
    value: &str,
    effect: Option<TaintEffect>,
) -> Toleration {
    Toleration { key: key.into(), operator, value: value.into(), effect }
}

#[test]
fn tolerations_are_those_of_the_specification() {
    let table = [
        ("k=v:NoSchedule", toleration("k", Equal, "v", None), true),
        ("k=v:NoSchedule", toleration("k", Equal, "w", None), false),
        ("k=v:NoSchedule", toleration("k", Exists, "", None), true),
        ("k=v:NoSchedule", toleration("k", Exists, "", Some(NoExecute)), false),
        ("k=v:NoSchedule", toleration("", Exists, "", None), true),
        ("k=v:NoSchedule", toleration("", Equal, "v", None), true),
        ("k=v:PreferNoSchedule", Toleration::of_effect(PreferNoSchedule), true),
        ("k=v:NoSchedule", Toleration::of_effect(PreferNoSchedule), false),
        ("k=v:PreferNoSchedule", Toleration::default(), false),
        ("k=5:NoSchedule", toleration("k", Gt, "4", None), true),
        ("k=5:NoSchedule", toleration("k", Gt, "5", None), false),
        ("k=5:NoSchedule", toleration("k", Lt, "6", None), true),
        ("k=-5:NoSchedule", toleration("k", Lt, "-4", None), true),
        ("k=05:NoSchedule", toleration("k", Gt, "4", None), false),
        ("k=5:NoSchedule", toleration("k", Gt, "+4", None), false),
        ("k=v:NoSchedule", toleration("k", Lt, "6", None), false),
    ];
    for (taint, toleration, expected) in table {
        assert_eq!(toleration.tolerates(&read(taint)), expected, "{taint} {toleration:?}");
    }
}

fn read(text: &str) -> Taint {
    let (mark, effect) = text.split_once(':').expect("an effect");
    let (key, value) = mark.split_once('=').unwrap_or((mark, ""));
    Taint::new(key, value, effect.parse().expect("a known effect"))
}

#[test]
fn every_taint_must_be_tolerated_by_some_toleration() {
    let taints = ["a:NoSchedule", "b:PreferNoSchedule", "c=1:NoExecute"].map(read);
    let tolerations = [toleration("a", Exists, "", None), toleration("c", Equal, "1", None)];
    let left: Vec<_> = untolerated(&taints, &tolerations).map(ToString::to_string).collect();
    assert_eq!(left, ["b:PreferNoSchedule"]);
    assert_eq!(untolerated(&taints, &[Toleration::of_everything()]).count(), 0);
}

#[test]
fn numbered_taints_answer_as_the_words_do() {
    let mut vocabulary = TaintVocabulary::new();
    let nodes = [
        vec![],
        vec![read("a:NoSchedule")],
        vec![read("a:NoSchedule"), read("b=2:NoExecute")],
        vec![read("b=3:NoExecute")],
    ];
    let sets: Vec<_> = nodes.iter().map(|taints| vocabulary.intern(taints)).collect();
    assert_eq!(vocabulary.len(), 3);
    let tolerations = [toleration("a", Exists, "", None), toleration("b", Gt, "2", None)];
    let tolerated = vocabulary.tolerated_by(&tolerations);
    for (taints, set) in nodes.iter().zip(&sets) {
        let by_words = untolerated(taints, &tolerations).next().is_none();
        assert_eq!(set.is_subset(&tolerated), by_words, "{taints:?}");
    }
}

#[test]
fn known_ephemeral_taints_are_matched_by_key_and_effect() {
    let table = [
        ("node.kubernetes.io/not-ready:NoSchedule", true),
        ("node.kubernetes.io/not-ready:NoExecute", true),
        ("node.kubernetes.io/not-ready:PreferNoSchedule", false),
        ("node.kubernetes.io/unreachable:NoSchedule", true),
        ("node.kubernetes.io/unreachable:NoExecute", false),
        ("node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule", true),
        ("node.cloudprovider.kubernetes.io/uninitialized=no:NoSchedule", true),
        ("karpenter.sh/unregistered:NoExecute", true),
        ("karpenter.sh/unregistered:NoSchedule", false),
        ("karpenter.sh/disrupted:NoSchedule", false),
        ("readiness.k8s.io/network=x:PreferNoSchedule", true),
        ("readiness.k8s.io:NoSchedule", false),
    ];
    for (taint, expected) in table {
        assert_eq!(is_known_ephemeral(&read(taint)), expected, "{taint}");
    }
    assert_eq!(unregistered().to_string(), "karpenter.sh/unregistered:NoExecute");
    assert_eq!(disrupted().to_string(), "karpenter.sh/disrupted:NoSchedule");
}

#[test]
fn merging_adds_only_marks_that_are_not_there() {
    let mut taints = vec![read("a=1:NoSchedule")];
    let more = ["a=2:NoSchedule", "a=2:NoExecute", "b:NoSchedule", "b=3:NoSchedule"].map(read);
    merge_taints(&mut taints, &more);
    let merged: Vec<_> = taints.iter().map(ToString::to_string).collect();
    assert_eq!(merged, ["a=1:NoSchedule", "a=2:NoExecute", "b:NoSchedule"]);
}

#[test]
fn unknown_words_are_refused() {
    assert!("".parse::<TaintEffect>().is_err());
    let error = "Noschedule".parse::<TaintEffect>().expect_err("it is refused");
    assert!(error.to_string().contains("PreferNoSchedule"), "{error}");
    assert_eq!(TolerationOperator::parse("exists"), None);
    assert_eq!(TolerationOperator::parse(""), Some(Equal));
    assert_eq!(NoSchedule.to_string().parse(), Ok(NoSchedule));
}
