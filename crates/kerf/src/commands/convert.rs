//! `kerf convert`: Provisioners and AWSNodeTemplates, and objects of v1beta1, to NodePools,
//! EC2NodeClasses and NodeClaims of v1.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use kerf_api::legacy::{self, AWSNodeTemplate, Converted, ConvertedBeta, Options, Provisioner};
use kerf_lint::{Catalogue, Object, Objects, Verdict};
use serde_json::{Value, json};

use super::exit::Exit;

/// Arguments of `kerf convert`.
#[derive(Args)]
#[command(after_help = "What converts is printed in every case. Give Provisioners and NodePools \
    together with the\ntemplates and classes they use.")]
pub(crate) struct Convert {
    /// A file, a folder (searched for .yaml, .yml and .json), or - for standard input
    #[arg(short, long, value_name = "FILE|DIR|-", required = true)]
    filename: Vec<String>,
    /// How to print the new objects: YAML documents, or one JSON list
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
    /// The node role for classes that get no instance profile
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// The old setting aws.defaultInstanceProfile, for templates without a profile
    #[arg(long, value_name = "NAME")]
    default_instance_profile: Option<String>,
    /// A tag of the old setting aws.tags; may be given more than once
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    tag: Vec<(String, String)>,
    /// Write a budget of 100 %, as there were no budgets then, in place of the default of 10 %
    #[arg(long)]
    strict_budgets: bool,
    /// The cluster, for inline providers without selectors: they found subnets and security
    /// groups by its tag, kubernetes.io/cluster/NAME
    #[arg(long, value_name = "NAME")]
    cluster_name: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

/// What of the input is to be converted, and what was said about the rest.
#[derive(Default)]
struct Selection {
    provisioners: Vec<Provisioner>,
    templates: Vec<AWSNodeTemplate>,
    /// Objects of v1beta1.
    beta: Vec<Value>,
    /// Lines of the form `Kind/name  field  message`, each of which refuses an object.
    refusals: Vec<String>,
    /// How many objects of other kinds there were.
    passed_over: BTreeMap<String, usize>,
}

impl Convert {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { filename, output, .. } = self;
        let options = Options {
            global_tags: self.tag.into_iter().collect(),
            default_instance_profile: self.default_instance_profile,
            role: self.role,
            strict_budgets: self.strict_budgets,
            cluster_name: self.cluster_name,
            kubernetes_minor: None,
        };
        let inputs = kerf_lint::gather(&filename, std::io::stdin().lock());
        let Objects { objects, findings, unreadable } = kerf_lint::objects(&inputs);
        for file in &unreadable {
            say(&format!("{}  cannot be read: {}", file.file, file.reason));
        }
        for finding in &findings {
            let place = finding.position.map(|at| format!(":{}:{}", at.line, at.column));
            let place = place.unwrap_or_default();
            say(&format!("{}{place}  {}", finding.file, finding.message));
        }

        let catalogue =
            Catalogue::new(&kerf_api::crds()).context("the definitions of this build")?;
        let Selection { provisioners, templates, beta, mut refusals, passed_over } =
            select(&objects, &catalogue);
        let converted = legacy::convert(&provisioners, &templates, &options);
        let mut from_beta = legacy::convert_beta(&beta);
        refusals.extend(judge(&mut from_beta, &catalogue));
        let problems = [converted.problems.as_slice(), &from_beta.problems].concat();
        report(&refusals, &problems, &passed_over);
        let text = rendered(objects_of(&converted, from_beta)?, output)?;
        std::io::stdout().write_all(text.as_bytes()).context("could not write the objects")?;

        let all_read = unreadable.is_empty() && findings.is_empty();
        let is_complete = !problems.iter().any(legacy::LegacyFinding::is_error);
        Ok(Exit::success_if(all_read && refusals.is_empty() && is_complete).into())
    }
}

fn tag(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    if key.is_empty() {
        return Err("the key is missing before =".to_owned());
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// Takes the legacy objects an API server would admit: a field it does not know would otherwise be
/// lost without a word.
fn select(objects: &[Object], catalogue: &Catalogue) -> Selection {
    let mut selection = Selection::default();
    for object in objects {
        let kind = object.value["kind"].as_str().unwrap_or("no kind");
        let verdict = match kind {
            "Provisioner" | "AWSNodeTemplate" => catalogue.verdict(&object.value),
            // There is no schema of v1beta1 here; what becomes of it is judged.
            _ if legacy::beta_kind(&object.value).is_some() => Some(Verdict::default()),
            _ => None,
        };
        let Some(verdict) = verdict else {
            *selection.passed_over.entry(kind.to_owned()).or_default() += 1;
            continue;
        };
        let wrong = wrong(verdict);
        let twice = object.repeated_keys.iter();
        let twice = twice.map(|path| (path.to_string(), "is given twice; keep one".to_owned()));
        let refusals: Vec<String> =
            wrong.chain(twice).map(|(field, why)| refusal(object, &field, &why)).collect();
        if refusals.is_empty() {
            selection.take(object, kind);
        }
        selection.refusals.extend(refusals);
    }
    selection
}

/// Fields with what is wrong with them.
fn wrong(verdict: Verdict) -> impl Iterator<Item = (String, String)> {
    verdict.problems.into_iter().map(|problem| match problem.instead {
        Some(instead) => {
            (problem.path.to_string(), format!("{}; write: {instead}", problem.message))
        }
        None => (problem.path.to_string(), problem.message),
    })
}

/// Takes out what an API server would not admit, and says why. Fields are those of v1.
fn judge(converted: &mut ConvertedBeta, catalogue: &Catalogue) -> Vec<String> {
    let mut refusals = Vec::new();
    converted.objects.retain(|object| {
        let wrong: Vec<_> = catalogue.verdict(object).into_iter().flat_map(wrong).collect();
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        refusals.extend(wrong.iter().map(|(field, why)| format!("{kind}/{name}  {field}  {why}")));
        wrong.is_empty()
    });
    refusals
}

impl Selection {
    fn take(&mut self, object: &Object, kind: &str) {
        let value = object.value.clone();
        let taken = match kind {
            "Provisioner" => serde_json::from_value(value).map(|it| self.provisioners.push(it)),
            _ if legacy::beta_kind(&value).is_some() => {
                self.beta.push(value);
                Ok(())
            }
            _ => serde_json::from_value(value).map(|it| self.templates.push(it)),
        };
        self.refusals.extend(taken.err().map(|error| refusal(object, "", &error.to_string())));
    }
}

fn refusal(object: &Object, field: &str, message: &str) -> String {
    let text = |pointer| object.value.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or_default();
    match text("/metadata/name") {
        Some(name) => format!("{kind}/{name}  {field}  {message}"),
        // Without a name only the place tells which object is meant.
        None => format!("{kind} ({}:{})  {field}  {message}", object.file, object.position.line),
    }
}

fn report(
    refusals: &[String],
    problems: &[legacy::LegacyFinding],
    passed_over: &BTreeMap<String, usize>,
) {
    for refusal in refusals {
        say(refusal);
    }
    for problem in problems {
        let weight = if problem.is_error() { "" } else { "warning: " };
        let legacy::LegacyFinding { kind, name, field, message, .. } = problem;
        say(&format!("{kind}/{name}  {field}  {weight}{message}"));
    }
    if !passed_over.is_empty() {
        let kinds: Vec<_> =
            passed_over.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        say(&format!("passed over: {}", kinds.join(", ")));
    }
}

/// A line for the person; names and values come from manifests and may hold anything.
fn say(line: &str) {
    eprintln!("{}", kerf_lint::printable(line));
}

/// The classes first, so that whoever applies the text never has a pool without its class.
fn objects_of(converted: &Converted, from_beta: ConvertedBeta) -> Result<Vec<Value>> {
    let classes = converted.node_classes.iter().map(serde_json::to_value);
    let pools = converted.node_pools.iter().map(serde_json::to_value);
    let mut objects: Vec<Value> =
        classes.chain(pools).collect::<Result<_, _>>().context("an object is plain data")?;
    objects.extend(from_beta.objects);
    let order = |object: &Value| match object["kind"].as_str() {
        Some("EC2NodeClass") => 0,
        Some("NodePool") => 1,
        _ => 2,
    };
    objects.sort_by_key(order);
    Ok(objects)
}

fn rendered(objects: Vec<Value>, format: Format) -> Result<String> {
    match format {
        Format::Json => {
            let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
            Ok(serde_json::to_string_pretty(&list)? + "\n")
        }
        Format::Yaml => {
            let documents = objects.iter().map(|object| {
                let yaml = serde_saphyr::to_string(object).context("an object is plain data")?;
                Ok(format!("---\n{yaml}"))
            });
            documents.collect()
        }
    }
}
