//! One control plane for all tests of a test binary.

use std::sync::OnceLock;

use crate::error::Result;
use crate::kubernetes::control_plane::ControlPlane;
use crate::kubernetes::options::Options;

/// Starts a control plane when the first test asks and keeps it for the others:
///
/// ```no_run
/// use kerf_testbed::{Options, Shared};
///
/// static CLUSTER: Shared = Shared::new(Options::api_server);
///
/// let namespaces = CLUSTER.get().kubectl(&["get", "namespaces", "--output=name"]);
/// ```
///
/// Rust never drops a static, so nothing here ends the parts. Their keepers do, when the process is
/// gone and its side of their pipes is closed; the sweeper then removes the folder.
pub struct Shared {
    options: fn() -> Options,
    /// A failure is kept as well: the other tests should not each wait for it again.
    started: OnceLock<Result<ControlPlane>>,
}

impl Shared {
    /// Names what to start, without starting it.
    pub const fn new(options: fn() -> Options) -> Self {
        Self { options, started: OnceLock::new() }
    }

    /// The control plane, started by whoever asks first; the others wait.
    ///
    /// # Panics
    ///
    /// If it cannot be started: a test can do nothing but fail with the reason.
    pub fn get(&self) -> &ControlPlane {
        match self.started.get_or_init(|| ControlPlane::start((self.options)())) {
            Ok(control_plane) => control_plane,
            Err(error) => panic!("the test control plane did not start: {error}"),
        }
    }
}
