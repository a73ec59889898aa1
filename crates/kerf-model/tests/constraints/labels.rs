//! Which labels may be used, and what a label is at all.

use kerf_model::labels::{
    LabelRules, NameProblem, Restricted, annotation, aws, check_label_value, check_labels,
    check_qualified_name, kwok, node_class_key, well_known,
};

#[test]
fn restricted_labels_are_those_of_the_specification() {
    let rules = LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels());
    // Key, the managed domain that stands against it.
    let table = [
        ("team", None),
        ("example.com/team", None),
        ("karpenter.sh", None),
        ("karpenter.sh/capacity-type", None),
        ("karpenter.sh/custom", Some("karpenter.sh")),
        ("sub.karpenter.sh/custom", Some("karpenter.sh")),
        ("notkarpenter.sh/custom", None),
        ("kubernetes.io/custom", None),
        ("node.k8s.io/custom", None),
        ("karpenter.k8s.aws/instance-cpu", None),
        ("karpenter.k8s.aws/ec2nodeclass", None),
        ("karpenter.k8s.aws/instance-pods", Some("karpenter.k8s.aws")),
        ("topology.k8s.aws/zone-id", None),
        ("karpenter.kwok.sh/instance-memory", None),
        ("karpenter.kwok.sh/other", Some("karpenter.kwok.sh")),
    ];
    for (key, managed) in table {
        let expected = match managed {
            Some(domain) => Err(Restricted::Domain { key: key.into(), domain: domain.into() }),
            None => Ok(()),
        };
        assert_eq!(rules.is_restricted(key), expected, "{key}");
    }
    let hostname = Restricted::SingleNode { key: well_known::HOSTNAME.into() };
    assert_eq!(rules.is_restricted(well_known::HOSTNAME), Err(hostname));
}

#[test]
fn a_provider_adds_to_the_rules_and_the_core_alone_does_not_know_it() {
    let core = LabelRules::core();
    assert!(!core.is_well_known(aws::INSTANCE_CPU));
    assert!(core.is_restricted("karpenter.k8s.aws/anything").is_ok());
    let with_aws = core.with(&aws::provider_labels());
    assert!(with_aws.is_well_known(aws::INSTANCE_CPU));
    assert!(!with_aws.is_well_known(aws::NODE_CLASS), "set by the core, not by instance types");
    assert_eq!(with_aws.normalization().key(aws::EBS_CSI_ZONE), well_known::ZONE);
    let tenancies = with_aws.known_values(aws::INSTANCE_TENANCY).expect("registered");
    assert!(tenancies.iter().eq(["dedicated", "default"]));
}

#[test]
fn keys_and_values_follow_the_rules_of_kubernetes() {
    let long = "a".repeat(64);
    let long_prefix = format!("{}/a", ["a".repeat(63).as_str(); 4].join("."));
    let keys: [(&str, Option<NameProblem>); 15] = [
        ("a", None),
        ("A_b-c.D", None),
        ("example.com/a", None),
        ("1.2/3", None),
        ("", Some(NameProblem::NameEmpty)),
        ("a/", Some(NameProblem::NameEmpty)),
        ("/a", Some(NameProblem::PrefixEmpty)),
        ("a/b/c", Some(NameProblem::ManySlashes)),
        ("Example.com/a", Some(NameProblem::PrefixNotDns)),
        ("a..b/c", Some(NameProblem::PrefixNotDns)),
        ("-a.b/c", Some(NameProblem::PrefixNotDns)),
        ("a-", Some(NameProblem::Characters)),
        ("é", Some(NameProblem::Characters)),
        (&long, Some(NameProblem::TooLong { bytes: 64 })),
        (&long_prefix, Some(NameProblem::PrefixTooLong { bytes: 255 })),
    ];
    for (key, problem) in keys {
        assert_eq!(check_qualified_name(key).err(), problem, "{key:?}");
    }
    let values = [
        ("", None),
        ("a", None),
        ("1.0", None),
        ("a/b", Some(NameProblem::Characters)),
        ("-1", Some(NameProblem::Characters)),
        (&long[..63], None),
        (&long, Some(NameProblem::TooLong { bytes: 64 })),
    ];
    for (value, problem) in values {
        assert_eq!(check_label_value(value).err(), problem, "{value:?}");
    }
}

#[test]
fn every_name_in_the_tables_is_a_label_key() {
    let names = well_known::WELL_KNOWN.into_iter().chain(aws::WELL_KNOWN).chain(kwok::WELL_KNOWN);
    let others = [
        well_known::TERMINATION_FINALIZER,
        well_known::EXCLUDE_FROM_LOAD_BALANCERS,
        annotation::DO_NOT_DISRUPT,
        annotation::TERMINATION_TIMESTAMP,
        annotation::DO_NOT_REPAIR,
        annotation::DISRUPTION_COST,
        annotation::REBOOT_GRACE_PERIOD,
        annotation::REBOOT_PRE_BOOT_ID,
        aws::CLUSTER_NAME_TAGGED_ANNOTATION,
    ];
    for name in names.chain(others) {
        assert_eq!(check_qualified_name(name), Ok(()), "{name}");
    }
    assert_eq!(node_class_key("karpenter.k8s.aws", "EC2NodeClass"), aws::NODE_CLASS);
    assert_eq!(node_class_key("karpenter.kwok.sh", "KWOKNodeClass"), kwok::NODE_CLASS);
}

#[test]
fn the_labels_of_a_pool_are_checked_and_every_problem_is_said() {
    let table: [(&str, &str, &[&str]); 6] = [
        ("team", "a", &[]),
        ("team", "", &[]),
        (well_known::NODE_POOL, "a", &["set by the pool itself"]),
        (well_known::HOSTNAME, "a", &["single node"]),
        ("karpenter.sh/custom", "-", &["cannot be used", "managed domain"]),
        ("a b", "a b", &["not a label key", "cannot be used"]),
    ];
    for (key, value, expected) in table {
        let problems = check_labels([(key, value)], &LabelRules::core());
        let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
        for (message, part) in messages.iter().zip(expected) {
            assert!(message.contains(part), "{message}");
        }
    }
}
