//! Selectors: one map becomes the terms that select the same.

use kerf_api::legacy::convert;

use super::manifest::{assert_refused, class_of, template, with_role, yaml};

#[test]
fn subnets_and_security_groups_are_selected_as_before() {
    let rows = [
        (
            "{aws-ids: 'subnet-1, subnet-2'}",
            "{aws::ids: 'sg-1,sg-2'}",
            "[{id: subnet-1}, {id: subnet-2}]",
            "[{id: sg-1}, {id: sg-2}]",
        ),
        (
            "{a: b, c: '*'}",
            "{Name: '*-group'}",
            "[{tags: {a: b, c: '*'}}]",
            "[{tags: {Name: '*-group'}}]",
        ),
        (
            "{a: '1,2', b: '3, 4', c: x}",
            "{a: '1,2'}",
            "[{tags: {a: '1', b: '3', c: x}}, {tags: {a: '1', b: '4', c: x}},
              {tags: {a: '2', b: '3', c: x}}, {tags: {a: '2', b: '4', c: x}}]",
            "[{tags: {a: '1'}}, {tags: {a: '2'}}]",
        ),
    ];
    for (subnets, groups, subnet_terms, group_terms) in rows {
        let class =
            class_of(&format!("{{subnetSelector: {subnets}, securityGroupSelector: {groups}}}"));
        assert_eq!(class["subnetSelectorTerms"], yaml(subnet_terms), "{subnets}");
        assert_eq!(class["securityGroupSelectorTerms"], yaml(group_terms), "{groups}");
    }
}

#[test]
fn images_are_selected_as_before() {
    let rows = [
        ("{aws-ids: 'ami-1,ami-2'}", "[{id: ami-1}, {id: ami-2}]"),
        ("{aws::ids: ami-1}", "[{id: ami-1}]"),
        ("{aws::name: a}", "[{name: a}]"),
        (
            "{aws::name: 'a,b', aws::owners: 'self,1', t: x}",
            "[{name: a, owner: self, tags: {t: x}}, {name: a, owner: '1', tags: {t: x}},
              {name: b, owner: self, tags: {t: x}}, {name: b, owner: '1', tags: {t: x}}]",
        ),
        ("{aws::owners: 'self,1'}", "[{name: '*', owner: self}, {name: '*', owner: '1'}]"),
        ("{aws::owners: self, t: x}", "[{owner: self, tags: {t: x}}]"),
        ("{t: 'x,z'}", "[{tags: {t: x}}, {tags: {t: z}}]"),
    ];
    for (selector, terms) in rows {
        let class = class_of(&format!("{{amiFamily: Bottlerocket, amiSelector: {selector}}}"));
        assert_eq!(class["amiSelectorTerms"], yaml(terms), "{selector}");
        assert_eq!(class["amiFamily"], "Bottlerocket", "{selector}");
    }
}

#[test]
fn a_selector_that_stands_for_too_many_terms_is_refused_without_counting_them_out() {
    let many = |prefix: &str, count: usize| {
        (0..count).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(",")
    };
    let rows = [
        ("subnetSelector", format!("{{aws-ids: '{}'}}", many("subnet-", 31))),
        ("securityGroupSelector", format!("{{a: '{}', b: '1,2'}}", many("", 16))),
        ("amiSelector", format!("{{aws-ids: '{}'}}", many("ami-", 31))),
        ("amiSelector", format!("{{aws::name: '{}', a: '1,2'}}", many("n", 16))),
        (
            "subnetSelector",
            format!(
                "{{{}}}",
                (0..20)
                    .map(|n| format!("k{n}: '{}'", many("v", 500)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        ),
    ];
    for (field, selector) in rows {
        let converted =
            convert(&[], &[template(&format!("{{{field}: {selector}}}"))], &with_role());
        assert_refused(&converted, &format!("spec.{field}"), "30");
        assert!(converted.node_classes.is_empty());
    }
    let most = format!("{{subnetSelector: {{aws-ids: '{}'}}}}", many("subnet-", 30));
    assert_eq!(class_of(&most)["subnetSelectorTerms"].as_array().map(Vec::len), Some(30));
}
