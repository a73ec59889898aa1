//! The kinds that are linted: their CRDs, read once, and checks a controller makes beyond them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use crate::cel::Evaluator;
use crate::schema::Schema;

/// Something a controller would object to, although an API server stores the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemanticFinding {
    /// The field, as `spec.template.spec.requirements[0].key`.
    pub field: String,
    /// The name of the check.
    pub rule: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be known.
    pub instead: Option<String>,
}

/// A check of a whole object, run when an API server would accept the object.
pub type SemanticCheck = Box<dyn Fn(&Value) -> Vec<SemanticFinding>>;

/// A CRD that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The CRD has no JSON form. Retrying does not help.
    #[error("the CRD {name} cannot be turned into JSON: {source}")]
    NotJson {
        /// The CRD.
        name: String,
        /// The JSON that cannot be read, by line and column.
        source: serde_json::Error,
    },
}

/// The kinds that are linted.
pub struct Catalogue {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) evaluator: Evaluator,
    pub(crate) checks: Vec<SemanticCheck>,
    pub(crate) hints: Vec<SemanticCheck>,
}

/// One kind and its versions.
#[derive(Debug)]
pub(crate) struct Kind {
    pub group: String,
    pub name: String,
    pub namespaced: bool,
    pub versions: Vec<Version>,
}

/// One version of a kind.
#[derive(Debug)]
pub(crate) struct Version {
    pub name: String,
    pub served: bool,
    pub schema: Schema,
    /// With a status subresource, `status` in a manifest is set aside before validation.
    pub status_subresource: bool,
    /// Where the scale subresource finds replicas, as `spec.replicas`.
    pub replicas_path: Option<String>,
}

impl Catalogue {
    /// Reads CRDs.
    pub fn new(crds: &[CustomResourceDefinition]) -> Result<Self, CatalogueError> {
        let kinds = crds.iter().map(Kind::read).collect::<Result<_, _>>()?;
        Ok(Self { kinds, evaluator: Evaluator::new(), checks: Vec::new(), hints: Vec::new() })
    }

    /// The same catalogue with one more check.
    #[must_use]
    pub fn with_check(mut self, check: SemanticCheck) -> Self {
        self.checks.push(check);
        self
    }

    /// The same catalogue with one more check whose findings are warnings.
    #[must_use]
    pub fn with_hints(mut self, check: SemanticCheck) -> Self {
        self.hints.push(check);
        self
    }
}

impl Kind {
    fn read(crd: &CustomResourceDefinition) -> Result<Self, CatalogueError> {
        let spec = &crd.spec;
        let versions = spec.versions.iter().map(|version| {
            let read = |value: &Value| -> Version {
                let at = |path: &str| value.pointer(path);
                Version {
                    name: version.name.clone(),
                    served: version.served,
                    schema: Schema::parse(at("/schema/openAPIV3Schema").unwrap_or(&Value::Null)),
                    status_subresource: at("/subresources/status").is_some(),
                    replicas_path: at("/subresources/scale/specReplicasPath")
                        .and_then(Value::as_str)
                        .map(|path| path.trim_start_matches('.').to_owned()),
                }
            };
            serde_json::to_value(version).map(|value| read(&value)).map_err(|source| {
                CatalogueError::NotJson {
                    name: format!("{}.{}", spec.names.plural, spec.group),
                    source,
                }
            })
        });
        Ok(Self {
            group: spec.group.clone(),
            name: spec.names.kind.clone(),
            namespaced: spec.scope == "Namespaced",
            versions: versions.collect::<Result<_, _>>()?,
        })
    }

    /// The versions a manifest may name.
    pub(crate) fn served(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().filter(|version| version.served)
    }
}
