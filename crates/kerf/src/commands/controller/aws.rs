//! `kerf controller --cloud aws`: the provider that launches EC2 instances.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::ByteString;
use kerf_api::legacy::Options as LegacyOptions;
use kerf_aws::provider::{Aws, AwsSettings, ClusterVersion, KnownCluster, discover};
use kerf_aws::{Session, TimeOuts};
use kerf_kube::{ClusterFacts, cluster_facts};
use kerf_runtime::metrics::Registry;
use kube::{Client, Config};
use tokio::time::sleep;

use crate::commands::controller::Controller;
use crate::commands::exit::UsageError;

/// Launches answer late when EC2 has to look for capacity.
const TIME_OUTS: TimeOuts =
    TimeOuts { connect: Duration::from_secs(5), call: Duration::from_secs(60) };

/// How often the API server is asked for its version.
const VERSION_EVERY: Duration = Duration::from_secs(300);

/// The provider, with what had to be found out about the cluster.
pub(super) async fn provider(
    of: &Controller,
    config: &Config,
    client: &Client,
    registry: Registry,
) -> Result<Aws> {
    let facts = cluster_facts(client).await.context("asking the API server for its version")?;
    let session = Session::from_env(TIME_OUTS).await.counted_in(registry.clone());
    let cluster = discover(&session, known(of, config, facts)).await?;
    Ok(Aws::new(&session, cluster, settings(of), registry)?)
}

/// What Provisioners and AWSNodeTemplates leave to the cluster's settings. There were no budgets
/// then, so all nodes of a Provisioner may go at once.
pub(super) async fn legacy_options(of: &Controller, client: &Client) -> Result<LegacyOptions> {
    let version = client.apiserver_version().await;
    let minor = version.context("asking the API server for its version")?.minor;
    let profile = Some(of.aws.default_instance_profile.clone());
    Ok(LegacyOptions {
        global_tags: of.aws.default_tags.clone(),
        default_instance_profile: profile.filter(|profile| !profile.is_empty()),
        strict_budgets: true,
        cluster_name: Some(of.cluster_name.clone()),
        // EKS writes a plus sign behind it.
        kubernetes_minor: minor.trim_end_matches('+').parse().ok(),
        ..LegacyOptions::default()
    })
}

/// Fails where a setting is missing that nothing works without.
pub(super) fn check(of: &Controller) -> Result<()> {
    if of.cluster_name.is_empty() {
        anyhow::bail!(UsageError::new(
            "--cloud aws needs the EKS cluster's name: set CLUSTER_NAME, or pass --cluster-name"
        ));
    }
    Ok(())
}

/// Tells of the API server's version from time to time. Never ends.
pub(super) async fn follow_version(client: Client, version: Arc<ClusterVersion>) {
    loop {
        sleep(VERSION_EVERY).await;
        // A server that is away is no news here: everything else says so.
        if let Ok(told) = client.apiserver_version().await {
            version.note(&told.git_version);
        }
    }
}

/// What is known without AWS.
fn known(of: &Controller, config: &Config, facts: ClusterFacts) -> KnownCluster {
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let flags = &of.aws;
    KnownCluster {
        name: of.cluster_name.clone(),
        endpoint: given(&flags.cluster_endpoint),
        ca_bundle: given(&flags.cluster_ca_bundle).or_else(|| own_authority(config)),
        version: Some(facts.version).filter(|_| !flags.eks_control_plane),
        dns_ip: facts.dns_ip,
    }
}

fn settings(of: &Controller) -> AwsSettings {
    let flags = &of.aws;
    AwsSettings {
        is_isolated: flags.isolated_vpc,
        vm_memory_overhead: flags.vm_memory_overhead_percent,
        reserved_interfaces: flags.reserved_enis,
        is_dry_run: !flags.disable_dry_run,
        ami_refresh: flags.ami_refresh_interval,
        subnet_refresh: flags.subnet_refresh_interval,
        uses_reserved_capacity: of.feature_gates.is_on("ReservedCapacity"),
        allows_expressions: flags.aws_feature_gates.node_class_cel,
        price_file: flags.price_file.clone(),
    }
}

/// The certificate authority this process believes the API server by, as nodes want it: PEM in
/// base64.
fn own_authority(config: &Config) -> Option<String> {
    let certificates = config.root_cert.as_ref()?.iter();
    let pem: String = certificates.filter_map(|certificate| pem(certificate)).collect();
    base64(pem.as_bytes()).filter(|_| !pem.is_empty())
}

fn pem(certificate: &[u8]) -> Option<String> {
    let text = base64(certificate)?;
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    Some(format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n")))
}

/// Kubernetes writes bytes in base64 wherever it writes them.
fn base64(bytes: &[u8]) -> Option<String> {
    let text = serde_json::to_value(ByteString(bytes.to_vec())).ok()?;
    text.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_becomes_pem_with_lines_of_64() {
        let text = pem(&[0; 60]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "-----BEGIN CERTIFICATE-----");
        assert_eq!((lines[1].len(), lines[2].len()), (64, 16));
        assert_eq!(lines[3], "-----END CERTIFICATE-----");
    }
}
