//! A construct of the CDK: the same template, included, and what is beside it.

use std::fmt::Write;

use serde_json::json;

use super::{helm_values, identity, parameters};
use crate::commands::install::settings::{Identity, SERVICE_ACCOUNT, Settings};

pub(super) fn construct(settings: &Settings) -> String {
    let mut given = String::new();
    for (key, value) in parameters(settings) {
        // The issuer is the cluster's, which is known when this is deployed.
        let value = match key.as_str() {
            "OidcIssuer" => {
                "props.cluster.openIdConnectProvider.openIdConnectProviderIssuer".to_owned()
            }
            _ => json!(value).to_string(),
        };
        let _ = writeln!(given, "        {key}: {value},");
    }
    let (name, namespace) = (json!(settings.cluster), json!(settings.namespace));
    let association = match identity(settings) {
        Identity::Irsa => String::new(),
        Identity::PodIdentity => format!(
            "\n    new eks.CfnPodIdentityAssociation(this, 'PodIdentity', {{\n      clusterName: \
             {name},\n      namespace: {namespace},\n      serviceAccount: '{SERVICE_ACCOUNT}',\n      \
             roleArn: controllerRole.attrArn,\n    }});\n"
        ),
    };
    // IRSA's role is that of this stack, whatever account it is deployed to.
    let mut values = helm_values(settings);
    let annotation = match values.as_object_mut().and_then(|all| all.remove("serviceAccount")) {
        None => String::new(),
        Some(_) => "\n        serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': \
                    controllerRole.attrArn } },"
            .to_owned(),
    };
    let values = format!("{values:#}").replace('\n', "\n        ");
    format!(
        "// npm install aws-cdk-lib constructs; kerf install --cluster {cluster} --print cfn > karpenter.yaml\n\
         import * as eks from 'aws-cdk-lib/aws-eks';\n\
         import * as iam from 'aws-cdk-lib/aws-iam';\n\
         import {{ Asset }} from 'aws-cdk-lib/aws-s3-assets';\n\
         import {{ CfnInclude }} from 'aws-cdk-lib/cloudformation-include';\n\
         import {{ Construct }} from 'constructs';\n\n\
         export class Kerf extends Construct {{\n  \
           constructor(scope: Construct, id: string, props: {{ cluster: eks.Cluster }}) {{\n    \
             super(scope, id);\n    \
             const stack = new CfnInclude(this, 'Karpenter', {{\n      \
               templateFile: 'karpenter.yaml',\n      \
               parameters: {{\n{given}      }},\n    \
             }});\n    \
             const nodeRole = stack.getResource('KarpenterNodeRole') as iam.CfnRole;\n    \
             const controllerRole = stack.getResource('KarpenterControllerRole') as iam.CfnRole;\n    \
             new eks.CfnAccessEntry(this, 'NodeAccess', {{\n      \
               clusterName: {name},\n      principalArn: nodeRole.attrArn,\n      type: 'EC2_LINUX',\n    \
             }});\n{association}    \
             props.cluster.addHelmChart('Karpenter', {{\n      \
               chartAsset: new Asset(this, 'Chart', {{ path: 'deploy/charts/karpenter' }}),\n      \
               release: 'karpenter',\n      namespace: {namespace},\n      createNamespace: true,\n      \
               values: {{{annotation}\n        ...{values},\n      }},\n    \
             }});\n  \
           }}\n}}\n",
        cluster = settings.cluster,
    )
}
