//! What is printed says the same in every form.

use clap::Parser;

use super::flags::{Form, Install};
use super::print::print;
use super::settings::Settings;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    install: Install,
}

const LONG: &str = "a-cluster-with-a-name-of-more-than-46-characters-x";

fn settings(arguments: &[&str]) -> anyhow::Result<Settings> {
    let line = [&["kerf", "--print=yaml"], arguments].concat();
    Settings::of(&Cli::try_parse_from(line)?.install)
}

fn printed(form: Form, arguments: &[&str]) -> String {
    print(form, &settings(arguments).unwrap()).unwrap()
}

#[test]
fn a_role_whose_name_is_too_long_is_refused_with_one_that_is_not() {
    let why = settings(&["--cluster", LONG]).unwrap_err().to_string();
    assert!(why.contains("would have 68 characters, and IAM allows 64: give --node-role"), "{why}");
    let short = why.rsplit(' ').next().unwrap();
    assert!(settings(&["--cluster", LONG, "--node-role", short]).is_ok(), "{why}");
}

#[test]
fn bad_input_is_refused_by_name() {
    for (arguments, said) in [
        (&["--cluster=a b"][..], "is no name of an EKS cluster"),
        (&["--cluster=a", "--iam-path=team"], "begins with a slash"),
        (&["--cluster=a", "--iam-path=/team"], "ends with a slash"),
        (&["--cluster=a", "--permissions-boundary=Boundary"], "is no ARN of a policy"),
        (&["--cluster=a", "--namespace=A"], "is no name of a namespace"),
        (&["--cluster=a", "--legacy"], "give a --requirement"),
    ] {
        let why = settings(arguments).expect_err(said).to_string();
        assert!(why.contains(said), "{arguments:?}: {why}");
    }
}

#[test]
fn only_parameters_that_differ_from_the_templates_defaults_are_given() {
    let plain = printed(Form::Cfn, &["--cluster=tidepool"]);
    assert!(plain.contains("--stack-name Karpenter-tidepool "), "{plain}");
    let line = "--parameter-overrides ClusterName=tidepool ControllerRoleName=tidepool-karpenter\n";
    assert!(plain.contains(line), "{plain}");
    let other = ["--cluster=a", "--identity=irsa", "--interruption=router", "--iam-path=/team/"];
    let other = printed(Form::Cfn, &other);
    for parameter in
        ["OidcIssuer=ISSUER", "PodIdentity=false", "Interruption=router", "IamPath=team/"]
    {
        assert!(other.contains(parameter), "{parameter}");
    }
}

#[test]
fn every_form_names_the_cluster_its_roles_and_its_namespace() {
    let asked = [
        "--cluster=tidepool",
        "--namespace=tide",
        "--identity=irsa",
        "--requirement=kubernetes.io/arch=arm64",
        "--image=registry.example:5000/kerf:1",
    ];
    let role = "role/tidepool-karpenter";
    for (form, expected) in [
        (
            Form::Terraform,
            &["cluster_name", "\"tide\"", "\"irsa\"", "\"arm64\"", ":5000/kerf\""][..],
        ),
        (Form::Helm, &["--namespace tide", role, "arm64", "interruptionQueue: tidepool"]),
        (Form::Eksctl, &["namespace: tide", "KarpenterNodeRole-tidepool", "system:bootstrappers"]),
        (Form::Cdk, &["'KarpenterControllerRole'", "openIdConnectProviderIssuer", "\"tide\""]),
        (Form::Yaml, &["kind: NodePool", "namespace: tide", role, "registry.example:5000/kerf:1"]),
    ] {
        let text = printed(form, &asked);
        for part in expected {
            assert!(text.contains(part), "{form:?}, {part}: {text}");
        }
        assert!(!text.contains("CLUSTER_NAME_HERE"), "{form:?}");
    }
}

#[test]
fn a_legacy_pool_is_a_provisioner_with_its_definition_and_its_profile() {
    let asked =
        ["--cluster=a", "--legacy", "--requirement=node.kubernetes.io/instance-type=m5.large"];
    let text = printed(Form::Yaml, &asked);
    for part in ["kind: Provisioner", "KarpenterNodeInstanceProfile-a", "provisioners.karpenter.sh"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(printed(Form::Cfn, &asked).contains("CreateInstanceProfile=true"));
    assert!(!printed(Form::Yaml, &["--cluster=a"]).contains("provisioners.karpenter.sh"));
}
