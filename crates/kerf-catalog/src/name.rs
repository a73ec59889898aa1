//! What an instance type's name says: `m5dn.2xlarge`, `u-6tb1.56xlarge`, `c7i-flex.large`.

/// The parts of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameParts<'a> {
    /// Everything before the dot: `m5dn`. `None` unless there is exactly one dot.
    pub family: Option<&'a str>,
    /// Everything behind the dot: `2xlarge`. `None` unless there is exactly one dot.
    pub size: Option<&'a str>,
    /// The letters it begins with: `m`. `None` where the name follows no scheme.
    pub category: Option<&'a str>,
    /// The number behind them: `5`. `None` where the name follows no scheme.
    pub generation: Option<&'a str>,
    /// Whether the type runs at full speed only part of the time.
    pub is_flex: bool,
}

/// Takes a name apart.
#[must_use]
pub fn name_parts(name: &str) -> NameParts<'_> {
    let mut parts = name.split('.');
    let before_dot = parts.next().unwrap_or_default();
    let (family, size) = match (parts.next(), parts.next()) {
        (Some(size), None) => (Some(before_dot), Some(size)),
        _ => (None, None),
    };
    let scheme = name.contains('.').then(|| category_and_generation(before_dot)).flatten();
    NameParts {
        family,
        size,
        category: scheme.map(|(category, _)| category),
        generation: scheme.map(|(_, generation)| generation),
        is_flex: before_dot.contains("-flex"),
    }
}

/// Letters, then perhaps a memory size such as `-6tb`, then a number.
fn category_and_generation(family: &str) -> Option<(&str, &str)> {
    let (category, rest) = split_while(family, |c| c.is_ascii_lowercase());
    let (generation, _) = split_while(without_memory_size(rest), |c| c.is_ascii_digit());
    (!category.is_empty() && !generation.is_empty()).then_some((category, generation))
}

/// The text behind `-6tb`, or all of it where it does not begin so.
fn without_memory_size(text: &str) -> &str {
    let Some(behind_dash) = text.strip_prefix('-') else { return text };
    let (digits, rest) = split_while(behind_dash, |c| c.is_ascii_digit());
    match rest.strip_prefix("tb") {
        Some(rest) if !digits.is_empty() => rest,
        _ => text,
    }
}

fn split_while(text: &str, is_in: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_in(c)).unwrap_or(text.len()))
}
