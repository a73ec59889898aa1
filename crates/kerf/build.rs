//! Gives `kerf version` the commit that is built: what the environment says (a build without the
//! repository), else what git says. A development build names none, since every commit would build
//! the program anew.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit =
        given("KERF_COMMIT").or_else(|| git(is_release, &["rev-parse", "--short=12", "HEAD"]));
    let date = given("KERF_COMMIT_DATE")
        .or_else(|| git(is_release, &["log", "-1", "--format=%cs", "HEAD"]));
    if is_release {
        for file in ["HEAD", "logs/HEAD"] {
            let path = git(true, &["rev-parse", "--git-path", file]);
            let path = path.filter(|path| std::path::Path::new(path).exists());
            if let Some(path) = path {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    let commit = commit.as_deref().unwrap_or("unknown");
    println!("cargo::rustc-env=KERF_COMMIT={commit}");
    println!("cargo::rustc-env=KERF_COMMIT_DATE={}", date.as_deref().unwrap_or("unknown date"));
}

fn given(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn git(is_release: bool, arguments: &[&str]) -> Option<String> {
    let output = is_release.then(|| Command::new("git").args(arguments).output())?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
