//! Amazon Linux 2: a shell script that calls the image's own bootstrap script.

use super::mime::{self, Part, SHELL_SCRIPT};
use super::{UserData, UserDataError, kubelet_flags};

/// The class's own parts, and after them the script that lets the node join.
pub(super) fn render(data: &UserData<'_>) -> Result<String, UserDataError> {
    let mut parts = match data.own() {
        Some(own) if mime::is_mime(own) => mime::parts(own)?,
        Some(own) => vec![Part::new(SHELL_SCRIPT, own)],
        None => Vec::new(),
    };
    parts.push(Part::new(SHELL_SCRIPT, &script(data)));
    mime::document(&parts)
}

fn script(data: &UserData<'_>) -> String {
    let cluster = data.cluster;
    let mut call = format!(
        "/etc/eks/bootstrap.sh {} --apiserver-endpoint {}",
        quoted(&cluster.name),
        quoted(&cluster.endpoint)
    );
    if !cluster.ca_bundle.is_empty() {
        call.push_str(&format!(" --b64-cluster-ca {}", quoted(&cluster.ca_bundle)));
    }
    let mut lines = vec![call];
    if let Some(dns) = data.dns() {
        if dns.contains(':') {
            lines.push("--ip-family ipv6".to_owned());
        }
        lines.push(format!("--dns-cluster-ip {}", quoted(dns)));
    }
    if data.kubelet.max_pods.is_some() {
        lines.push("--use-max-pods false".to_owned());
    }
    let flags = kubelet_flags::flags(data);
    if !flags.is_empty() {
        lines.push(format!("--kubelet-extra-args {}", quoted(&flags.join(" "))));
    }
    if data.is_striped() {
        lines.push("--local-disks raid0".to_owned());
    }
    let log = "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1";
    format!("#!/bin/bash -xe\n{log}\n{}", lines.join(" \\\n"))
}

/// A text as one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quote_does_not_end_the_word() {
        assert_eq!(quoted("a'b; c"), r"'a'\''b; c'");
    }
}
