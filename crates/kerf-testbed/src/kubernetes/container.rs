//! Containers without a container engine: what a workload says, as a process of this machine.
//!
//! Nodes of the testbed are simulated, so nothing runs in their pods. A test that wants to know
//! whether what it installed works runs it with this: the program, its arguments, its environment
//! and the rights of its service account are those the API server has stored, and nothing else.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::kubernetes::control_plane::ControlPlane;

/// Longer than any test.
const TOKEN_LIVES: &str = "--duration=3h";

impl ControlPlane {
    /// The command of a workload's first container, with its environment as a kubelet would set
    /// it and a token of its service account. `program` takes the place of the one the image has.
    /// A name without a kind, as in `daemonset/NAME`, is a Deployment's.
    ///
    /// It fails where the container asks for what a process cannot be given: a field of the pod
    /// that is not known before it runs, a ConfigMap, a Secret, another user's program.
    pub fn container(&self, namespace: &str, name: &str, program: &Path) -> Result<Command> {
        let of = format!("--namespace={namespace}");
        let workload = match name.contains('/') {
            true => name.to_owned(),
            false => format!("deployment/{name}"),
        };
        let text = self.kubectl(&["get", &workload, &of, "--output=json"])?;
        let fails =
            |why: String| Error::Container { deployment: format!("{namespace}/{name}"), why };
        let deployment: Value =
            serde_json::from_str(&text).map_err(|error| fails(error.to_string()))?;
        let pod = &deployment["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let words: Vec<&str> =
            texts(&container["command"]).chain(texts(&container["args"])).collect();
        let Some((first, arguments)) = words.split_first() else {
            return Err(fails("it names no command".to_owned()));
        };
        if Path::new(first).file_name() != program.file_name() {
            return Err(fails(format!("it runs {first:?} and not {}", program.display())));
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        for variable in container["env"].as_array().into_iter().flatten() {
            let variable_name = variable["name"].as_str().unwrap_or_default();
            let value = resolved(variable, namespace).map_err(fails)?;
            command.env(variable_name, value);
        }
        let account = pod["serviceAccountName"].as_str().unwrap_or("default");
        let token = self.kubectl(&["create", "token", account, &of, TOKEN_LIVES])?;
        let file = format!("kubeconfig-{namespace}-{account}");
        command.env("KUBECONFIG", self.write_kubeconfig(&file, token.trim())?);
        Ok(command)
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// What a variable of a container is set to.
fn resolved(variable: &Value, namespace: &str) -> std::result::Result<String, String> {
    let field = variable["valueFrom"]["fieldRef"]["fieldPath"].as_str();
    match (variable.get("valueFrom"), field) {
        (None, _) => {
            let value = variable["value"].as_str().unwrap_or_default();
            match value.contains("$(") {
                true => Err(format!("{variable} refers to another variable")),
                false => Ok(value.to_owned()),
            }
        }
        (_, Some("metadata.namespace")) => Ok(namespace.to_owned()),
        // Names of pods and nodes are only ever names; which one makes no difference to a process.
        (_, Some("metadata.name" | "spec.nodeName")) => Ok("testbed".to_owned()),
        _ => Err(format!("{variable} is of no kind that is known here")),
    }
}
