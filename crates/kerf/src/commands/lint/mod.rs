//! `kerf lint`: the verdict of an API server and of the controller, offline.

mod hints;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use kerf_lint::{Catalogue, Colour, Outcome, SemanticFinding};
use serde_json::Value;

use super::exit::Exit;
use super::terminal;

/// Arguments of `kerf lint`.
#[derive(Args)]
pub(crate) struct Lint {
    /// A file, a folder (searched for .yaml, .yml and .json), or - for standard input
    #[arg(short, long, value_name = "FILE|DIR|-", required = true)]
    filename: Vec<String>,
    /// How to print the findings
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Fail on warnings, too
    #[arg(long)]
    strict: bool,
    /// Never use colour
    #[arg(long)]
    plain: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
}

impl Lint {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Self { filename, output, strict, plain } = self;
        let catalogue = Catalogue::new(&kerf_api::crds())
            .context("the definitions of this build")?
            .with_check(Box::new(controller_findings))
            .with_hints(Box::new(hints::hints));
        let inputs = kerf_lint::gather(&filename, std::io::stdin().lock());
        let report = kerf_lint::lint(&inputs, &catalogue);
        let text = match output {
            Format::Json => kerf_lint::to_json(&report),
            Format::Sarif => kerf_lint::to_sarif(&report, env!("CARGO_PKG_VERSION")),
            Format::Github => kerf_lint::to_github(&report),
            Format::Text => kerf_lint::to_text(&report, colour(plain)),
        };
        terminal::print(&text)?;
        let is_good = match report.outcome() {
            Outcome::Clean => true,
            Outcome::Warnings => !strict,
            Outcome::Findings | Outcome::Unreadable => false,
        };
        Ok(Exit::success_if(is_good).into())
    }
}

/// What the controller would find in an object that an API server admits.
pub(crate) fn controller_findings(object: &Value) -> Vec<SemanticFinding> {
    let problems = kerf_api::validation::validate_object(object).into_iter();
    let hints = hints::hints(object);
    let finding = |problem: kerf_api::FieldError| {
        let values = format!("{}.values", problem.field);
        let hint = hints.iter().find(|hint| hint.field.starts_with(&values));
        SemanticFinding {
            field: problem.field,
            rule: "validation".to_owned(),
            message: problem.message,
            instead: hint.and_then(|hint| hint.instead.clone()),
        }
    };
    let expressions = kerf_aws::catalogue::expression_problems(object).into_iter();
    let expressions = expressions.map(|problem| SemanticFinding {
        field: problem.field,
        rule: "expression".to_owned(),
        message: problem.message,
        instead: None,
    });
    problems.map(finding).chain(expressions).collect()
}

fn colour(plain: bool) -> Colour {
    let wanted = !plain && std::env::var_os("NO_COLOR").is_none();
    if wanted && std::io::stdout().is_terminal() { Colour::Always } else { Colour::Never }
}
