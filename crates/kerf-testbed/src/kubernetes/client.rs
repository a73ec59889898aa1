//! The asynchronous client, for crates that talk to the API server the way Kerf does.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::error::{Error, Result};
use crate::kubernetes::control_plane::ControlPlane;

impl ControlPlane {
    /// A client with the administrator's rights. It belongs to the runtime it is made in.
    pub async fn client(&self) -> Result<Client> {
        client_from(self.kubeconfig()).await
    }

    /// A client with the rights of a user named in the options.
    pub async fn client_of(&self, user: &str) -> Result<Client> {
        client_from(self.kubeconfig_of(user)?).await
    }
}

/// A client from a kubeconfig.
pub(crate) async fn client_from(kubeconfig: &Path) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig).map_err(|why| Error::Client(why.into()))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .map_err(|why| Error::Client(why.into()))?;
    Client::try_from(config).map_err(|why| Error::Client(why.into()))
}
