//! The same installation for another tool: `--print`. Asks neither AWS nor the cluster.

mod cdk;
mod eksctl;

use std::fmt::Write;

use anyhow::{Context, Result};
use kerf_aws::iam;
use serde_json::{Map, Value, json};

use super::flags::{Form, IdentityChoice};
use super::objects::{self, Filling};
use super::settings::{Identity, Settings};
use crate::commands::doctor::ROLE_ARN;

/// What nobody was asked for.
const ACCOUNT: &str = "ACCOUNT_ID";
const ISSUER: &str = "ISSUER";

/// The text for a tool.
pub(super) fn print(form: Form, settings: &Settings) -> Result<String> {
    match form {
        Form::Cfn => Ok(cloudformation(settings)),
        Form::Terraform => Ok(terraform(settings)),
        Form::Helm => helm(settings),
        Form::Eksctl => eksctl::config(settings),
        Form::Cdk => Ok(cdk::construct(settings)),
        Form::Yaml => manifests(settings),
    }
}

/// How the controller gets its role where nobody can be asked.
fn identity(settings: &Settings) -> Identity {
    match settings.identity {
        IdentityChoice::Irsa => Identity::Irsa,
        IdentityChoice::Auto | IdentityChoice::PodIdentity => Identity::PodIdentity,
    }
}

fn role_arn(settings: &Settings) -> String {
    let Settings { iam_path, controller_role, .. } = settings;
    format!("arn:aws:iam::{ACCOUNT}:role/{iam_path}{controller_role}")
}

fn node_role_arn(settings: &Settings) -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/{}{}", settings.iam_path, settings.node_role)
}

/// Parameters that differ from the template's own defaults.
fn parameters(settings: &Settings) -> Vec<(String, String)> {
    let defaults = [
        ("CreateInstanceProfile", "false"),
        ("CreateNodeRole", "true"),
        ("Namespace", "karpenter"),
        ("ServiceAccount", "karpenter"),
        ("PodIdentity", "true"),
        ("Interruption", "rules"),
    ];
    let is_default = |(key, value): &(String, String)| {
        value.is_empty() || defaults.contains(&(key.as_str(), value.as_str()))
    };
    let all = settings.parameters(identity(settings), ISSUER, None);
    all.into_iter().filter(|one| !is_default(one)).collect()
}

fn cloudformation(settings: &Settings) -> String {
    let parameters: Vec<String> =
        parameters(settings).iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!(
        "# aws cloudformation deploy --stack-name {} --capabilities CAPABILITY_NAMED_IAM \\\n\
         #   --template-file THIS-FILE --parameter-overrides {}\n{}",
        settings.stack(),
        parameters.join(" "),
        iam::classic_stack()
    )
}

fn terraform(settings: &Settings) -> String {
    let mut inputs = vec![
        ("source", json!("./deploy/terraform/karpenter")),
        ("cluster_name", json!(settings.cluster)),
        ("helm_namespace", json!(settings.namespace)),
        ("interruption", json!(settings.interruption.name())),
    ];
    let identity = match identity(settings) {
        Identity::Irsa => "irsa",
        Identity::PodIdentity => "pod-identity",
    };
    inputs.push(("identity", json!(identity)));
    if !settings.iam_path.is_empty() {
        inputs.push(("iam_path", json!(format!("/{}", settings.iam_path))));
    }
    if !settings.permissions_boundary.is_empty() {
        inputs.push(("permissions_boundary", json!(settings.permissions_boundary)));
    }
    if settings.node_role != format!("KarpenterNodeRole-{}", settings.cluster) {
        inputs.push(("worker_iam_role_name", json!(settings.node_role)));
    }
    let width = inputs.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut text = "module \"karpenter\" {\n".to_owned();
    for (name, value) in inputs {
        let _ = writeln!(text, "  {name:width$} = {value}");
    }
    if !settings.requirements.is_empty() {
        text += "\n  default_requirements = {\n";
        for (key, values) in &settings.requirements {
            let _ = writeln!(text, "    {} = {}", json!(key), json!(values));
        }
        text += "  }\n";
    }
    if let Some((repository, tag)) = image(settings) {
        let _ = write!(
            text,
            "\n  helm_values = [yamlencode({{\n    controller = {{ image = {{ repository = {}, tag \
             = {} }} }}\n  }})]\n",
            json!(repository),
            json!(tag)
        );
    }
    text + "}\n"
}

/// Repository and tag.
fn image(settings: &Settings) -> Option<(&str, &str)> {
    let image = settings.image.as_deref()?;
    // A colon before a slash is that of a port.
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => Some((repository, tag)),
        _ => Some((image, "latest")),
    }
}

fn helm(settings: &Settings) -> Result<String> {
    let yaml = yaml(&helm_values(settings))?;
    Ok(format!(
        "# helm upgrade --install karpenter deploy/charts/karpenter --namespace {} \\\n\
         #   --create-namespace --values THIS-FILE --wait\n{yaml}",
        settings.namespace
    ))
}

/// Values of the chart that give what `kerf install` makes.
pub(super) fn helm_values(settings: &Settings) -> Value {
    let mut values = Map::new();
    let mut own = Map::from_iter([("clusterName".to_owned(), json!(settings.cluster))]);
    if let Some(queue) = settings.queue() {
        own.insert("interruptionQueue".to_owned(), json!(queue));
    }
    values.insert("settings".to_owned(), Value::Object(own));
    if identity(settings) == Identity::Irsa {
        let annotations = json!({ROLE_ARN: role_arn(settings)});
        values.insert("serviceAccount".to_owned(), json!({"annotations": annotations}));
    }
    if let Some((repository, tag)) = image(settings) {
        let image = json!({"repository": repository, "tag": tag});
        values.insert("controller".to_owned(), json!({"image": image}));
    }
    if !settings.requirements.is_empty() {
        let map: Map<String, Value> =
            settings.requirements.iter().map(|(key, all)| (key.clone(), json!(all))).collect();
        let pool = json!({"requirements": map, "nodeRole": settings.node_role});
        values.insert("defaultPool".to_owned(), pool);
    }
    Value::Object(values)
}

/// Every object, definitions first.
fn manifests(settings: &Settings) -> Result<String> {
    let arn = role_arn(settings);
    let filling = Filling {
        namespace: &settings.namespace,
        cluster: &settings.cluster,
        queue: settings.queue(),
        image: settings.image.as_deref(),
        role_arn: (identity(settings) == Identity::Irsa).then_some(arn.as_str()),
    };
    let mut all = objects::definitions(settings.is_legacy)?;
    all.extend(objects::controller(&filling)?);
    all.extend(objects::pool(settings));
    let texts: Vec<String> = all.iter().map(yaml).collect::<Result<_>>()?;
    Ok(texts.iter().map(|text| format!("---\n{text}")).collect())
}

fn yaml(value: &Value) -> Result<String> {
    serde_saphyr::to_string(value).context("an object is plain data")
}
