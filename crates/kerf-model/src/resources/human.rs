//! Amounts of resources as people say them.

use super::{CPU, EPHEMERAL_STORAGE, HUGE_PAGES_PREFIX, MEMORY, NODES, PODS};
use crate::quantity::Quantity;

const NANOS: i128 = 1_000_000_000;
/// Binary units of bytes, the largest first.
const BYTE_UNITS: [(&str, u32); 6] =
    [("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// An amount with its unit: `0.38 CPU`, `512 MiB`, `3 pods`, `2 nvidia.com/gpu`.
#[must_use]
pub fn human(resource: &str, amount: Quantity) -> String {
    match resource {
        CPU => format!("{} CPU", decimal(amount.nanos(), NANOS, 3)),
        _ if is_bytes(resource) => bytes(amount, 2),
        PODS => counted(amount, "pod"),
        NODES => counted(amount, "node"),
        _ => format!("{} {resource}", decimal(amount.nanos(), NANOS, 3)),
    }
}

/// Two amounts of one resource that differ, with as many digits as it takes to tell them apart.
#[must_use]
pub fn human_pair(resource: &str, one: Quantity, other: Quantity) -> (String, String) {
    let texts = (human(resource, one), human(resource, other));
    if texts.0 != texts.1 || one == other {
        return texts;
    }
    match is_bytes(resource) {
        true => (format!("{} bytes", one.value()), format!("{} bytes", other.value())),
        false => (format!("{one} {resource}"), format!("{other} {resource}")),
    }
}

/// What follows an amount where its unit does not say what it is of: ` of memory`.
#[must_use]
pub fn human_noun(resource: &str) -> String {
    match resource {
        MEMORY => " of memory".to_owned(),
        EPHEMERAL_STORAGE => " of ephemeral storage".to_owned(),
        _ if is_bytes(resource) => format!(" of {resource}"),
        _ => String::new(),
    }
}

fn is_bytes(resource: &str) -> bool {
    matches!(resource, MEMORY | EPHEMERAL_STORAGE) || resource.starts_with(HUGE_PAGES_PREFIX)
}

fn bytes(amount: Quantity, digits: u32) -> String {
    let nanos = amount.nanos();
    let unit = BYTE_UNITS.iter().find(|(_, shift)| nanos.abs() >= NANOS << shift);
    match unit {
        Some((unit, shift)) => format!("{} {unit}", decimal(nanos, NANOS << shift, digits)),
        None if nanos == 0 => "0 MiB".to_owned(),
        None => format!("{} bytes", decimal(nanos, NANOS, 0)),
    }
}

fn counted(amount: Quantity, noun: &str) -> String {
    let count = decimal(amount.nanos(), NANOS, 0);
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// `nanos / unit` with at most so many digits after the point, rounded to the nearest; what is not
/// nothing never prints as nothing.
fn decimal(nanos: i128, unit: i128, digits: u32) -> String {
    let scale = 10_i128.pow(digits);
    let scaled = nanos.saturating_abs().saturating_mul(scale);
    let mut rounded = scaled.saturating_add(unit / 2) / unit;
    if rounded == 0 && nanos != 0 {
        rounded = 1;
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let (whole, part) = (rounded / scale, rounded % scale);
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let part = format!("{part:0width$}", width = digits as usize);
    format!("{sign}{whole}.{}", part.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_say_them() {
        let cases = [
            (CPU, "380m", "0.38 CPU"),
            (CPU, "100", "100 CPU"),
            (CPU, "7910m", "7.91 CPU"),
            (CPU, "1n", "0.001 CPU"),
            (MEMORY, "512Mi", "512 MiB"),
            (MEMORY, "0", "0 MiB"),
            (MEMORY, "1536Mi", "1.5 GiB"),
            (MEMORY, "100", "100 bytes"),
            (EPHEMERAL_STORAGE, "120Gi", "120 GiB"),
            ("hugepages-2Mi", "4Mi", "4 MiB"),
            (PODS, "1", "1 pod"),
            (PODS, "110", "110 pods"),
            ("nvidia.com/gpu", "8", "8 nvidia.com/gpu"),
        ];
        for (resource, amount, said) in cases {
            let amount = Quantity::parse(amount).expect("a quantity");
            assert_eq!(human(resource, amount), said);
        }
    }

    #[test]
    fn amounts_that_differ_never_read_the_same() {
        let pair = |resource, one, other| {
            let read = |text| Quantity::parse(text).expect("a quantity");
            human_pair(resource, read(one), read(other))
        };
        assert_eq!(pair(MEMORY, "2Gi", "1Gi"), ("2 GiB".to_owned(), "1 GiB".to_owned()));
        let (one, other) = pair(MEMORY, "1073741825", "1073741824");
        assert_eq!((one.as_str(), other.as_str()), ("1073741825 bytes", "1073741824 bytes"));
        let (one, other) = pair(CPU, "1000000001n", "1");
        assert_ne!(one, other);
    }
}
