//! Who may talk to a control plane, and with which file.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::programs::work_dir::{WorkDir, random_hex};

/// The user with every right, known to all parts.
const ADMIN: &str = "kerf-testbed-admin";
/// Members of this group pass every authorization check.
const ADMIN_GROUP: &str = "system:masters";

/// Someone else than the administrator: has the rights that RBAC objects in the cluster give.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct User {
    name: String,
    groups: Vec<String>,
}

impl User {
    /// A user in no group but `system:authenticated`. A service account is the user
    /// `system:serviceaccount:NAMESPACE:NAME`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), groups: Vec::new() }
    }

    /// Adds a group, as RBAC bindings name it.
    #[must_use]
    pub fn in_group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }
}

/// One user's token and the kubeconfig that carries it.
#[derive(Debug)]
pub(crate) struct Credential {
    name: String,
    token: String,
    groups: Vec<String>,
    kubeconfig: PathBuf,
}

/// Everything a client needs to reach one control plane.
#[derive(Debug)]
pub(crate) struct Access {
    server_url: String,
    ca_file: PathBuf,
    token_file: PathBuf,
    admin: Credential,
    users: Vec<Credential>,
}

impl Access {
    /// Makes a token for everyone and writes the server's token file and the kubeconfigs.
    pub(crate) fn write(dir: &WorkDir, port: u16, users: &[User]) -> Result<Self> {
        let server_url = format!("https://127.0.0.1:{port}");
        let ca_file = dir.path().join("ca.crt");
        let grant = |user: User, file: &str| -> Result<Credential> {
            let token = random_hex();
            let kubeconfig = dir.write(file, &kubeconfig(&server_url, &ca_file, &token))?;
            Ok(Credential { name: user.name, token, groups: user.groups, kubeconfig })
        };
        let admin = grant(User::new(ADMIN).in_group(ADMIN_GROUP), "kubeconfig")?;
        let users = users
            .iter()
            .enumerate()
            .map(|(index, user)| grant(user.clone(), &format!("kubeconfig-user-{index}")))
            .collect::<Result<Vec<_>>>()?;
        let lines: String = std::iter::once(&admin).chain(&users).map(token_line).collect();
        let token_file = dir.write("tokens.csv", &lines)?;
        Ok(Self { server_url, ca_file, token_file, admin, users })
    }

    pub(crate) fn server_url(&self) -> &str {
        &self.server_url
    }

    pub(crate) fn ca_file(&self) -> &Path {
        &self.ca_file
    }

    pub(crate) fn token_file(&self) -> &Path {
        &self.token_file
    }

    pub(crate) fn admin_token(&self) -> &str {
        &self.admin.token
    }

    pub(crate) fn admin_kubeconfig(&self) -> &Path {
        &self.admin.kubeconfig
    }

    /// A kubeconfig for whoever has this token.
    pub(crate) fn kubeconfig_with(&self, token: &str) -> String {
        kubeconfig(&self.server_url, &self.ca_file, token)
    }

    pub(crate) fn kubeconfig_of(&self, name: &str) -> Result<&Path> {
        self.users
            .iter()
            .find(|user| user.name == name)
            .map(|user| user.kubeconfig.as_path())
            .ok_or_else(|| Error::NoUser { name: name.to_owned() })
    }
}

/// A line of the API server's static token file: token, name, id, groups.
fn token_line(user: &Credential) -> String {
    let quoted = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
    let fields = [&user.token, &user.name, &user.name, &user.groups.join(",")];
    fields.map(|field| quoted(field)).join(",") + "\n"
}

fn kubeconfig(server_url: &str, ca_file: &Path, token: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: testbed
  cluster:
    server: {server_url}
    certificate-authority: {ca_file:?}
users:
- name: user
  user:
    token: {token}
contexts:
- name: testbed
  context: {{cluster: testbed, user: user}}
current-context: testbed
"
    )
}
