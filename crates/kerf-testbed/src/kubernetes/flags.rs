//! The command line of each part.

use std::path::Path;

use crate::kubernetes::access::Access;
use crate::kubernetes::options::Part;

/// A socket in the work folder, relative because the system bounds a socket's path to 108 bytes.
/// Unlike a port, nobody else can take it or answer on it.
pub(crate) const ETCD_SOCKET: &str = "etcd.sock";

/// The controllers that would want a cloud or hand out pod address ranges.
const CONTROLLERS: &str = "*,-node-ipam-controller,-node-route-controller,\
                           -service-lb-controller,-cloud-node-lifecycle-controller";

/// Nodes with this annotation are played by kwok.
const KWOK_SELECTOR: &str = "kwok.x-k8s.io/node=fake";

/// The settings of kwok, in the work folder.
pub(crate) const KWOK_CONFIG_FILE: &str = "kwok.yaml";
/// Kwok plays the kubelets of all nodes, which in a cluster work side by side; by default it does
/// four things at a time, and looks at the pods of one node after the other. Where settings are
/// given it has no defaults.
pub(crate) const KWOK_CONFIG: &str = "\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  cidr: 10.0.0.0/24
  podPlayStageParallelism: 64
  nodePlayStageParallelism: 16
  nodeLeaseParallelism: 4
  podsOnNodeSyncParallelism: 16
";

/// As the real kubelet: a lost node is noticed after 40 s.
const NODE_LEASE_SECONDS: u32 = 40;

/// What the flags of one control plane depend on.
pub(crate) struct Setting<'a> {
    pub(crate) access: &'a Access,
    pub(crate) port: u16,
    pub(crate) stages: &'a Path,
}

impl Setting<'_> {
    /// The flags of one part. Every part runs inside the work folder, so its own files go by name.
    pub(crate) fn flags(&self, part: Part) -> Vec<String> {
        match part {
            Part::Etcd => etcd(),
            Part::ApiServer => self.api_server(),
            Part::ControllerManager => self.controller_manager(),
            Part::Scheduler => self.scheduler(),
            Part::Kwok => self.kwok(),
        }
    }

    fn api_server(&self) -> Vec<String> {
        vec![
            format!("--etcd-servers=unix://{ETCD_SOCKET}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.port),
            "--tls-cert-file=apiserver.crt".to_owned(),
            "--tls-private-key-file=apiserver.key".to_owned(),
            "--cert-dir=.".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-account-key-file=sa.pub".to_owned(),
            "--service-account-signing-key-file=sa.key".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/16".to_owned(),
            format!("--token-auth-file={}", self.access.token_file().display()),
            "--authorization-mode=RBAC".to_owned(),
            // Pods may be made before the controller has made their namespace's service account.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
        ]
    }

    fn controller_manager(&self) -> Vec<String> {
        vec![
            self.kubeconfig(),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            format!("--controllers={CONTROLLERS}"),
            "--service-account-private-key-file=sa.key".to_owned(),
            "--root-ca-file=ca.crt".to_owned(),
        ]
    }

    fn scheduler(&self) -> Vec<String> {
        vec![self.kubeconfig(), "--leader-elect=false".to_owned(), "--secure-port=0".to_owned()]
    }

    fn kwok(&self) -> Vec<String> {
        vec![
            self.kubeconfig(),
            format!("--config={}", self.stages.display()),
            format!("--config={KWOK_CONFIG_FILE}"),
            format!("--manage-nodes-with-annotation-selector={KWOK_SELECTOR}"),
            format!("--node-lease-duration-seconds={NODE_LEASE_SECONDS}"),
            // No kubelet API: nothing here follows logs or opens a shell, and it would want a port.
            "--node-port=0".to_owned(),
        ]
    }

    fn kubeconfig(&self) -> String {
        format!("--kubeconfig={}", self.access.admin_kubeconfig().display())
    }
}

fn etcd() -> Vec<String> {
    vec![
        "--data-dir=etcd-data".to_owned(),
        // The data is thrown away at the end; waiting for a disk would only slow the start.
        "--unsafe-no-fsync".to_owned(),
        format!("--listen-client-urls=unix://{ETCD_SOCKET}"),
        // Must be set and look like an address, but nobody asks the store where it is.
        "--advertise-client-urls=http://127.0.0.1:2379".to_owned(),
        // The only member has no peers: any port that is free at the moment of listening will do.
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}
