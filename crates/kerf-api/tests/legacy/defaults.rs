//! Requirements that were filled in.

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use kerf_api::legacy::with_default_requirements;

fn keys_after(written: &[&str]) -> Vec<String> {
    let written: Vec<_> = written
        .iter()
        .map(|key| NodeSelectorRequirement {
            key: (*key).to_owned(),
            operator: "Exists".to_owned(),
            values: None,
        })
        .collect();
    let all = with_default_requirements(&written);
    assert_eq!(all[..written.len()], written, "what was written stays first and unchanged");
    assert_eq!(with_default_requirements(&all), all, "a second time changes nothing");
    all[written.len()..].iter().map(|entry| entry.key.clone()).collect()
}

const OS: &str = "kubernetes.io/os";
const ARCH: &str = "kubernetes.io/arch";
const CAPACITY: &str = "karpenter.sh/capacity-type";
const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
const GENERATION: &str = "karpenter.k8s.aws/instance-generation";

#[test]
fn each_default_is_added_only_when_its_keys_are_absent_and_in_a_fixed_order() {
    let rows: [(&[&str], &[&str]); 10] = [
        (&[], &[OS, ARCH, CAPACITY, CATEGORY, GENERATION]),
        (&[OS], &[ARCH, CAPACITY, CATEGORY, GENERATION]),
        (&[ARCH], &[OS, CAPACITY, CATEGORY, GENERATION]),
        (&[CAPACITY], &[OS, ARCH, CATEGORY, GENERATION]),
        (&["node.kubernetes.io/instance-type"], &[OS, ARCH, CAPACITY]),
        (&["karpenter.k8s.aws/instance-family"], &[OS, ARCH, CAPACITY]),
        (&[CATEGORY], &[OS, ARCH, CAPACITY]),
        (&[GENERATION], &[OS, ARCH, CAPACITY]),
        (&["beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type"], &[OS, CAPACITY]),
        (&[CAPACITY, ARCH, GENERATION], &[OS]),
    ];
    for (written, added) in rows {
        assert_eq!(keys_after(written), added, "after {written:?}");
    }
}

#[test]
fn the_defaults_are_linux_amd64_on_demand_and_c_m_r_from_the_third_generation() {
    let all = with_default_requirements(&[]);
    let written: Vec<_> = all
        .iter()
        .map(|it| (it.operator.as_str(), it.values.clone().unwrap_or_default().join(",")))
        .collect();
    let expected =
        [("In", "linux"), ("In", "amd64"), ("In", "on-demand"), ("In", "c,m,r"), ("Gt", "2")]
            .map(|(operator, values)| (operator, values.to_owned()));
    assert_eq!(written, expected);
}
