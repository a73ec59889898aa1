//! What the program is made of, in SPDX.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde_json::{Value, json};

use crate::metadata::{Metadata, Package};

/// The program's package.
const ROOT: &str = "kerf";

/// A document that names every package that is linked into the program, or builds it.
pub(super) fn of_workspace() -> Result<String> {
    let metadata = Metadata::read()?;
    let packages: Vec<Value> = reached(&metadata.packages).into_iter().map(described).collect();
    let document = json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": format!("kerf-{}", super::VERSION),
        "documentNamespace": format!("https://spdx.org/spdxdocs/kerf-{}", super::VERSION),
        "creationInfo": {"created": "1970-01-01T00:00:00Z", "creators": ["Tool: cargo-xtask-image"]},
        "packages": packages,
    });
    Ok(format!("{document:#}"))
}

/// The packages that one needs, itself included. Two versions of a name both count.
fn reached(all: &[Package]) -> Vec<&Package> {
    let mut by_name: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in all {
        by_name.entry(&package.name).or_default().push(package);
    }
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![ROOT]);
    while let Some(name) = waiting.pop() {
        if seen.insert(name) {
            let packages = by_name.get(name).into_iter().flatten();
            waiting.extend(packages.flat_map(|it| it.dependencies.iter().map(String::as_str)));
        }
    }
    all.iter().filter(|package| seen.contains(package.name.as_str())).collect()
}

fn described(package: &Package) -> Value {
    let Package { name, version, licence, .. } = package;
    json!({
        "SPDXID": format!("SPDXRef-{name}-{version}").replace(['_', '+'], "-"),
        "name": name,
        "versionInfo": version,
        "licenseDeclared": licence.as_deref().unwrap_or("NOASSERTION"),
        "downloadLocation": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": format!("pkg:cargo/{name}@{version}"),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::reached;
    use crate::metadata::Package;

    #[test]
    fn what_is_needed_is_named_and_nothing_else() {
        let package = |name: &str, needs: &[&str]| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: None,
            manifest_path: String::new(),
            dependencies: needs.iter().map(|it| (*it).to_owned()).collect(),
            ours: false,
        };
        let all = [
            package("kerf", &["a"]),
            package("a", &["b"]),
            package("b", &["a"]),
            package("c", &[]),
        ];
        let names: Vec<&str> = reached(&all).iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["kerf", "a", "b"]);
    }
}
