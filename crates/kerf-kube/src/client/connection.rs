//! How the API server is reached.

use kube::{Client, Config};

/// A client that tries everything once: whether and when to try again is decided by the engine,
/// where it can be seen. Its own way of trying would keep a refused eviction waiting for seconds.
///
/// # Errors
/// The configuration names no server that can be reached, or credentials that cannot be read.
pub fn connect(mut config: Config) -> kube::Result<Client> {
    config.default_retry = false;
    Client::try_from(config)
}
