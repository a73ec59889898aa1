//! The requirements of the default pool: a map from a label to its allowed values.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use kerf_model::labels::{aws, well_known};
use serde_json::Value;

/// Labels and their allowed values, in the order they were given.
pub(crate) type Requirements = Vec<(String, Vec<String>)>;

/// Reads what was given by flags, or by a file.
pub(crate) fn read(flags: &[String], file: Option<&Path>) -> Result<Requirements> {
    let all = match file {
        None => flags.iter().map(|flag| parsed(flag)).collect::<Result<Requirements>>()?,
        Some(_) if !flags.is_empty() => bail!("give --requirement or --requirements, not both"),
        Some(path) => {
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("could not read {}", path.display()))?;
            of_yaml(&text).with_context(|| path.display().to_string())?
        }
    };
    let mut seen = BTreeSet::new();
    for (key, values) in &all {
        check(key, values)?;
        if !seen.insert(key) {
            bail!("{key} is required twice: write all its values at once, {key}=V1,V2");
        }
    }
    Ok(all)
}

fn parsed(flag: &str) -> Result<(String, Vec<String>)> {
    let (key, values) = flag
        .split_once('=')
        .with_context(|| format!("--requirement {flag:?} has no values: write KEY=V1,V2"))?;
    Ok((key.to_owned(), values.split(',').map(str::to_owned).collect()))
}

/// A map keeps no order of its own: labels are sorted.
fn of_yaml(text: &str) -> Result<Requirements> {
    let map: Value = serde_saphyr::from_str(text).map_err(|why| anyhow::anyhow!("{why}"))?;
    let Value::Object(map) = map else { bail!("this is no map from labels to lists of values") };
    let entry = |(key, values): (String, Value)| {
        let texts = |values: Vec<Value>| -> Option<Vec<String>> {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let values = values.as_array().cloned().and_then(texts);
        let values =
            values.with_context(|| format!("{key}: needs a list of texts, as in [a, b]"))?;
        Ok((key, values))
    };
    map.into_iter().map(entry).collect()
}

fn check(key: &str, values: &[String]) -> Result<()> {
    if key != key.trim() {
        bail!("the label {key:?} has blanks around it");
    }
    let known = well_known::WELL_KNOWN.iter().chain(&aws::WELL_KNOWN);
    if !known.clone().any(|it| it == &key) {
        let near = known.copied().find(|it| it.ends_with(&format!("/{key}")));
        let near = near.map(|it| format!(": write {it}")).unwrap_or_default();
        bail!("{key:?} is no label that instances are told apart by{near} (docs/aws.md)");
    }
    if values.is_empty() {
        bail!("{key} allows nothing: give it a value");
    }
    let mut seen = BTreeSet::new();
    for value in values {
        if value.is_empty() || value.chars().any(char::is_whitespace) {
            bail!("{key}: the value {value:?} is empty or has blanks in it");
        }
        if !seen.insert(value) {
            bail!("{key}: the value {value:?} is there twice");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{of_yaml, read};

    fn refused(flag: &str) -> String {
        read(&[flag.to_owned()], None).expect_err(flag).to_string()
    }

    #[test]
    fn what_is_given_keeps_its_order() {
        let flags = ["kubernetes.io/arch=arm64,amd64", "karpenter.sh/capacity-type=spot"];
        let read = read(&flags.map(str::to_owned), None).unwrap();
        assert_eq!(
            read[0],
            ("kubernetes.io/arch".to_owned(), vec!["arm64".into(), "amd64".into()])
        );
        let yaml = "karpenter.sh/capacity-type: [spot]\nkubernetes.io/arch: [arm64, amd64]\n";
        let mut sorted = read.clone();
        sorted.sort();
        assert_eq!(of_yaml(yaml).unwrap(), sorted, "a file says the same");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (flag, said) in [
            ("kubernetes.io/arch", "has no values"),
            (" kubernetes.io/arch=amd64", "blanks around it"),
            ("kubernetes.io/arch=amd 64", "has blanks in it"),
            ("kubernetes.io/arch=", "is empty"),
            ("kubernetes.io/arch=amd64,amd64", "is there twice"),
            ("instance-family=m5", "write karpenter.k8s.aws/instance-family"),
            ("karpenter.k8s.aws/instance-famly=m5", "no label"),
        ] {
            assert!(refused(flag).contains(said), "{flag}: {}", refused(flag));
        }
        let twice = ["kubernetes.io/arch=amd64", "kubernetes.io/arch=arm64"].map(str::to_owned);
        assert!(read(&twice, None).unwrap_err().to_string().contains("required twice"));
        assert!(of_yaml("kubernetes.io/arch: amd64").unwrap_err().to_string().contains("list"));
    }
}
