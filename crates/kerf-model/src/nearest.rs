//! Which known name somebody may have meant.

/// Longest name compared letter by letter; the cost of a comparison is the product of two lengths.
const COMPARED_CHARS_MAX: usize = 128;

/// The candidate nearest to `given`, if one is near enough to be what was meant.
///
/// Blanks and case are forgiven first; after that one slip for every three letters, or any number
/// of letters left out of a name of some length.
#[must_use]
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = folded(given);
    let limit = (wanted.len() / 3).max(1);
    candidates
        .map(|candidate| (folded(candidate), candidate))
        .map(|(letters, candidate)| (slips(&wanted, &letters), letters, candidate))
        .filter(|(distance, letters, candidate)| {
            !candidate.is_empty() && (*distance <= limit || is_shortened(&wanted, letters))
        })
        .map(|(distance, _, candidate)| (distance, candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Whether `short` is most of `full` with letters left out.
fn is_shortened(short: &[char], full: &[char]) -> bool {
    let mut rest = full.iter();
    short.len() * 2 >= full.len() && short.iter().all(|letter| rest.any(|other| other == letter))
}

fn folded(text: &str) -> Vec<char> {
    text.trim().chars().flat_map(char::to_lowercase).take(COMPARED_CHARS_MAX).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `left` into `right`.
fn slips(left: &[char], right: &[char]) -> usize {
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1; right.len() + 1];
        for (column, other) in right.iter().enumerate() {
            let replace = last[column] + usize::from(letter != other);
            let mut best = replace.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current[column + 1] = best;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}
