//! MIME documents of several parts, which cloud-init and nodeadm read.

use super::UserDataError;

/// Separates the parts of the documents written here.
const BOUNDARY: &str = "//";
const CONTENT_TYPE: &str = "Content-Type";
/// How a document begins.
const FIRST_HEADERS: [&str; 2] = ["MIME-Version:", "Content-Type:"];

/// The type of a shell script.
pub(super) const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";
/// The type of nodeadm's configuration.
pub(super) const NODE_CONFIG: &str = "application/node.eks.aws";

/// Names and values, in the order they are written.
type Headers = Vec<(String, String)>;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    headers: Headers,
    body: String,
}

impl Part {
    /// A part of a type.
    pub(super) fn new(content_type: &str, body: &str) -> Self {
        let headers = vec![(CONTENT_TYPE.to_owned(), content_type.to_owned())];
        Self { headers, body: with_lf(body) }
    }
}

/// Whether a text means to be a MIME document.
pub(super) fn is_mime(text: &str) -> bool {
    let begin = text.trim_start();
    let begins_with = |header: &&str| {
        begin.get(..header.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(header))
    };
    FIRST_HEADERS.iter().any(begins_with)
}

/// The parts of a document. Lines may end as on Unix or as on Windows.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, UserDataError> {
    let text = with_lf(text.trim_start());
    let (headers, body) = split_headers(&text)?;
    let content_type = header(&headers, CONTENT_TYPE)
        .ok_or_else(|| bad("it has no header Content-Type before the first empty line"))?;
    let boundary = boundary(content_type)?;
    let (delimiter, end) = (format!("--{boundary}"), format!("--{boundary}--"));
    let mut parts = Vec::new();
    // What stands before the first delimiter is for readers without MIME.
    let mut current: Option<Vec<&str>> = None;
    for line in body.split('\n') {
        let is_end = line.trim_end() == end;
        if !is_end && line.trim_end() != delimiter {
            if let Some(lines) = &mut current {
                lines.push(line);
            }
            continue;
        }
        if let Some(lines) = current.take() {
            parts.push(part(&lines.join("\n"))?);
        }
        if is_end {
            return Ok(parts);
        }
        current = Some(Vec::new());
    }
    Err(bad(&format!("the line {end:?} that ends it is missing")))
}

/// A document of these parts.
pub(super) fn document(parts: &[Part]) -> Result<String, UserDataError> {
    let mut text =
        format!("MIME-Version: 1.0\n{CONTENT_TYPE}: multipart/mixed; boundary=\"{BOUNDARY}\"\n\n");
    for part in parts {
        if part.body.split('\n').any(is_separator) {
            return Err(UserDataError::Separator);
        }
        text.push_str(&format!("--{BOUNDARY}\n"));
        let mut headers: Vec<_> = part.headers.iter().collect();
        headers.sort();
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\n"));
        }
        text.push_str(&format!("\n{}\n", part.body));
    }
    text.push_str(&format!("--{BOUNDARY}--\n"));
    Ok(text)
}

fn is_separator(line: &str) -> bool {
    let line = line.trim_end().strip_prefix("--").and_then(|line| line.strip_prefix(BOUNDARY));
    matches!(line, Some("" | "--"))
}

fn part(text: &str) -> Result<Part, UserDataError> {
    let (headers, body) = split_headers(text)?;
    Ok(Part { headers, body: body.to_owned() })
}

/// The headers up to the first empty line, and what comes after it.
fn split_headers(text: &str) -> Result<(Headers, &str), UserDataError> {
    let mut headers = Headers::new();
    let mut rest = text;
    loop {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_last = after.is_empty() && !rest.contains('\n');
        rest = after;
        if line.trim().is_empty() {
            return Ok((headers, rest));
        }
        match headers.last_mut() {
            // A line that begins with a space goes on with the header before it.
            Some((_, value)) if line.starts_with([' ', '\t']) => {
                *value = format!("{value} {}", line.trim());
            }
            _ => {
                let (name, value) =
                    line.split_once(':').ok_or_else(|| bad(&format!("{line:?} is no header")))?;
                headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        if is_last {
            return Ok((headers, rest));
        }
    }
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let found = headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// The boundary that `multipart/mixed; boundary="X"` names.
fn boundary(content_type: &str) -> Result<&str, UserDataError> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !kind.trim().to_ascii_lowercase().starts_with("multipart/") {
        return Err(bad(&format!("its Content-Type is {:?}, not multipart/mixed", kind.trim())));
    }
    let named = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    });
    let named = named.filter(|boundary| !boundary.is_empty());
    named.ok_or_else(|| bad("its Content-Type names no boundary"))
}

/// A text whose lines end as on Unix.
fn with_lf(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    lines.join("\n")
}

fn bad(why: &str) -> UserDataError {
    UserDataError::Mime { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<String, String> {
        let parts = parts(text).map_err(|error| error.to_string())?;
        document(&parts).map_err(|error| error.to_string())
    }

    #[test]
    fn preamble_folded_headers_and_the_case_of_names_make_no_difference() {
        let text = "mime-version: 1.0\ncontent-type: multipart/mixed;\n\tboundary=B\n\nhello\n\
                    --B  \ncontent-type: text/x-shellscript;\n charset=utf-8\n\necho 1\n\n--B--\n";
        assert!(is_mime(text));
        let expected = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n\
                        --//\ncontent-type: text/x-shellscript; charset=utf-8\n\necho 1\n\n--//--\n";
        assert_eq!(written(text).as_deref(), Ok(expected));
    }

    #[test]
    fn a_part_may_be_without_headers_or_body() {
        let text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n\
                    --B\n\nbody\n--B\nX: y\n\n--B--";
        let expected = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n\
                        --//\n\nbody\n--//\nX: y\n\n\n--//--\n";
        assert_eq!(written(text).as_deref(), Ok(expected));
    }

    #[test]
    fn what_cannot_be_merged_says_why() {
        let header = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n";
        for (text, why) in [
            ("MIME-Version: 1.0".to_owned(), "no header Content-Type"),
            ("MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n".to_owned(), "no boundary"),
            ("Content-Type: text/plain\n\nx".to_owned(), "\"text/plain\", not multipart"),
            ("MIME-Version: 1.0\nnonsense\n\n".to_owned(), "\"nonsense\" is no header"),
            (format!("{header}--B\n\nx"), "\"--B--\" that ends it is missing"),
            (format!("{header}--B\n\na\n--//\nb\n--B--"), "has the line \"--//\""),
        ] {
            let error = written(&text).expect_err(&text);
            assert!(error.starts_with("spec.userData ") && error.contains(why), "{error}");
        }
    }
}
