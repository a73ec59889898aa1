//! Windows: a PowerShell script that calls the image's own bootstrap script.

use super::{UserData, kubelet_flags};

/// The class's own lines, and after them the call that lets the node join.
pub(super) fn render(data: &UserData<'_>) -> String {
    let cluster = data.cluster;
    let own = data.own().map(|own| format!("{own}\n")).unwrap_or_default();
    let mut call = vec![
        "& $EKSBootstrapScriptFile".to_owned(),
        format!("-EKSClusterName {}", quoted(&cluster.name)),
        format!("-APIServerEndpoint {}", quoted(&cluster.endpoint)),
    ];
    if !cluster.ca_bundle.is_empty() {
        call.push(format!("-Base64ClusterCA {}", quoted(&cluster.ca_bundle)));
    }
    let flags = kubelet_flags::flags(data);
    if !flags.is_empty() {
        call.push(format!("-KubeletExtraArgs {}", quoted(&flags.join(" "))));
    }
    if let Some(dns) = data.dns() {
        call.push(format!("-DNSClusterIP {}", quoted(dns)));
    }
    let file = r#""$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1""#;
    format!(
        "<powershell>\n{own}[string]$EKSBootstrapScriptFile = {file}\n{}\n</powershell>",
        call.join(" ")
    )
}

/// A text as one argument of PowerShell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quote_does_not_end_the_argument() {
        assert_eq!(quoted("a'b $c"), "'a''b $c'");
    }
}
