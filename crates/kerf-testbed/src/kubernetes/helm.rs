//! Helm, for the charts in `deploy/charts`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::kubernetes::control_plane::ControlPlane;
use crate::programs::cache::Cache;
use crate::programs::command::run;
use crate::programs::go_module::GoModule;
use crate::programs::toolchain::{Keeper, helm_program};
use crate::programs::work_dir::WorkDir;

/// A Helm that reads and writes nothing in the home folder of whoever runs the test.
///
/// Charts are named by their path in the workspace, as in `deploy/charts/karpenter`, and values are
/// YAML, with `""` for none. Further arguments are those of Helm, as in `--set=replicas=1`.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    workspace: PathBuf,
    home: WorkDir,
}

impl Helm {
    /// Takes Helm from the cache; the first call on a machine builds it (a minute or two).
    pub fn ready() -> Result<Self> {
        let (module, cache) = (GoModule::locate()?, Cache::open()?);
        let keeper = Keeper::ready(&module, &cache)?;
        let program = helm_program(&module, &cache, &keeper)?;
        let home = WorkDir::create("helm", &keeper)?;
        Ok(Self { program, workspace: module.workspace().to_path_buf(), home })
    }

    /// What `helm lint --strict` says of a chart; fails where it finds something.
    pub fn lint(&self, chart: &str, values: &str) -> Result<String> {
        self.run(None, &["lint", "--strict", chart], values, &[])
    }

    /// The manifests of a release, as `helm template` prints them.
    pub fn template(
        &self,
        release: &str,
        chart: &str,
        values: &str,
        arguments: &[&str],
    ) -> Result<String> {
        self.run(None, &["template", release, chart], values, arguments)
    }

    /// Installs or upgrades a release as the administrator: what Helm says, with the chart's notes.
    pub fn install(
        &self,
        control_plane: &ControlPlane,
        release: &str,
        chart: &str,
        values: &str,
        arguments: &[&str],
    ) -> Result<String> {
        let command = ["upgrade", "--install", release, chart];
        self.run(Some(control_plane.kubeconfig()), &command, values, arguments)
    }

    /// Any other command on a cluster, as in `["uninstall", "karpenter"]`.
    pub fn on(&self, control_plane: &ControlPlane, arguments: &[&str]) -> Result<String> {
        self.run(Some(control_plane.kubeconfig()), arguments, "", &[])
    }

    fn run(
        &self,
        kubeconfig: Option<&Path>,
        command: &[&str],
        values: &str,
        arguments: &[&str],
    ) -> Result<String> {
        let mut helm = Command::new(&self.program);
        helm.current_dir(&self.workspace).args(command).args(arguments);
        if !values.is_empty() {
            helm.arg("--values=-");
        }
        for (variable, folder) in [
            ("HELM_CACHE_HOME", "cache"),
            ("HELM_CONFIG_HOME", "config"),
            ("HELM_DATA_HOME", "data"),
        ] {
            helm.env(variable, self.home.path().join(folder));
        }
        // Without a cluster there is none to ask, whatever the person's own kubeconfig says.
        helm.env("KUBECONFIG", kubeconfig.unwrap_or(Path::new("/dev/null")));
        run(&mut helm, values)
    }
}
