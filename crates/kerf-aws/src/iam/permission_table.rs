//! The list as a table for people.

use std::fmt::Write;

use super::{Condition, Permission, STATEMENTS, Statement};

/// What people call the names that statements leave open.
const NAMES: [(&str, &str); 4] = [
    ("{cluster}", "CLUSTER"),
    ("{node_role}", "KarpenterNodeRole-CLUSTER"),
    ("{queue}", "QUEUE"),
    ("{region}", "REGION"),
];

/// Every statement with what it allows, on what, when, and what for.
pub(crate) fn permission_table() -> String {
    let mut table = "| Allowed | On | If | What for |\n|---|---|---|---|\n".to_owned();
    for it in STATEMENTS {
        let allowed: Vec<&str> = it.permissions.iter().map(|it| Permission::name(*it)).collect();
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} |",
            quoted(&allowed),
            resources(it),
            conditions(it.conditions),
            it.purpose,
        );
    }
    table
}

/// Resources without what all of them have: partition, region and account.
fn resources(it: &Statement) -> String {
    let short = |text: &&str| match text.split(':').nth(5) {
        Some(resource) => named(resource),
        None => named(text),
    };
    let all: Vec<String> = it.resources.iter().map(short).collect();
    quoted(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

fn conditions(all: &[Condition]) -> String {
    let parts: Vec<String> = all.iter().map(condition).collect();
    parts.join("; ")
}

fn condition(it: &Condition) -> String {
    let key = named(it.key);
    let what = match key.split_once('/') {
        Some(("aws:ResourceTag", tag)) => format!("it has the tag `{tag}`"),
        Some(("aws:RequestTag", tag)) => format!("it gets the tag `{tag}`"),
        _ => format!("`{key}`"),
    };
    let values: Vec<String> = it.values.iter().map(|text| short_arn(&named(text))).collect();
    let values = quoted(&values.iter().map(String::as_str).collect::<Vec<_>>());
    match it.operator {
        "StringLike" if it.values == ["*"] => what,
        "StringEqualsIfExists" => format!("{what}, if at all, with {values}"),
        "ForAllValues:StringEquals" => format!("{what} are among {values}"),
        _ if what.starts_with("it ") => format!("{what} with {values}"),
        _ => format!("{what} is {values}"),
    }
}

/// The resource of an ARN; other text as it is.
fn short_arn(text: &str) -> String {
    let resource = text.strip_prefix("arn:").and_then(|rest| rest.splitn(5, ':').nth(4));
    resource.unwrap_or(text).to_owned()
}

fn named(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (name, word)| text.replace(name, word))
}

fn quoted(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
    texts.join(", ")
}
