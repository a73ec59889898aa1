//! `docs/benchmarks.md`: tables that programs write into a page that people write.

use std::fs;

use anyhow::{Context, Result};

use crate::command::root;

const PAGE: &str = "docs/benchmarks.md";

/// Writes a table between the marks of a part of the page; the rest of the page stays.
pub(super) fn write(part: &str, table: &str) -> Result<()> {
    let page = root()?.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    fs::write(&page, replaced(&text, part, table)?)?;
    eprintln!("bench {part}: wrote {PAGE}");
    Ok(())
}

/// Writes a table where the page has a place for it; a part that nobody has marked is only printed.
pub(super) fn write_if_marked(part: &str, table: &str) -> Result<()> {
    let page = root()?.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    match text.contains(&format!("<!-- cargo xtask bench {part}: begin -->")) {
        true => write(part, table),
        false => Ok(()),
    }
}

fn replaced(text: &str, part: &str, table: &str) -> Result<String> {
    let mark = |edge: &str| format!("<!-- cargo xtask bench {part}: {edge} -->");
    let (begin, end) = (mark("begin"), mark("end"));
    let lost = || format!("{PAGE} lost the marks of its part `{part}`");
    let (before, rest) = text.split_once(&begin).with_context(lost)?;
    let (_, after) = rest.split_once(&end).with_context(lost)?;
    Ok(format!("{before}{begin}\n\n{table}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_what_stands_between_the_marks_of_a_part_is_written_anew() {
        let page = |inside: &str| {
            format!(
                "For people.\n<!-- cargo xtask bench scale: begin -->{inside}<!-- cargo xtask \
                 bench scale: end -->\nAlso for people.\n"
            )
        };
        let written = replaced(&page("\nold\n"), "scale", "| new |\n").unwrap();
        assert_eq!(written, page("\n\n| new |\n\n"));
        assert_eq!(replaced(&written, "scale", "| new |\n").unwrap(), written);
    }

    #[test]
    fn a_page_without_marks_is_refused() {
        let error = replaced("Nothing.", "scale", "").unwrap_err();
        assert!(error.to_string().contains("`scale`"), "{error}");
    }
}
