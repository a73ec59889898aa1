//! Which code ran: the counters in the profile that an instrumented program writes at its end.

/// The first eight bytes of a raw profile of a 64-bit program, as a number; from LLVM.
const MAGIC: u64 = 0xff6c_7072_6f66_7281;
/// Numbers in the header of version 10, the one that this toolchain writes.
const HEADER_NUMBERS: usize = 16;
/// Bytes of the record of one function.
const RECORD_BYTES: usize = 64;
/// Bytes of a number.
const NUMBER_BYTES: usize = 8;

/// A set of counters that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    words: Vec<u64>,
}

impl Coverage {
    /// Reads a profile; `None` if it has another layout than expected.
    pub(crate) fn of_profile(bytes: &[u8]) -> Option<Self> {
        let counters = counters(bytes)?;
        let mut words = vec![0; counters.len().div_ceil(NUMBER_BYTES * 64)];
        for (index, counter) in counters.chunks_exact(NUMBER_BYTES).enumerate() {
            if counter.iter().any(|byte| *byte != 0) {
                words[index / 64] |= 1 << (index % 64);
            }
        }
        Some(Self { words })
    }

    /// How many counters it has.
    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether it has a counter that the other lacks.
    pub(crate) fn exceeds(&self, other: &Self) -> bool {
        let of_other = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().zip(of_other).any(|(own, other)| own & !other != 0)
    }

    /// Takes the other's counters in.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }
}

/// The part of a profile that holds the counters: behind the header, the build ids and the records
/// of functions. What follows them must end where the file does.
fn counters(bytes: &[u8]) -> Option<&[u8]> {
    let number = |index: usize| {
        let at = index * NUMBER_BYTES;
        Some(u64::from_le_bytes(bytes.get(at..at + NUMBER_BYTES)?.try_into().ok()?))
    };
    let size = |index: usize| usize::try_from(number(index)?).ok();
    if number(0)? != MAGIC {
        return None;
    }
    let [ids, records, gap, counters] = [size(2)?, size(3)?, size(4)?, size(5)?];
    let behind = size(6)? + size(7)? + size(8)? + size(9)?;
    let start = HEADER_NUMBERS * NUMBER_BYTES + ids + records.checked_mul(RECORD_BYTES)? + gap;
    let end = start.checked_add(counters.checked_mul(NUMBER_BYTES)?)?;
    let whole = (end + behind).next_multiple_of(NUMBER_BYTES);
    (whole == bytes.len()).then(|| bytes.get(start..end))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile of one function with these counters.
    fn profile(counters: &[u64]) -> Vec<u8> {
        let mut numbers = [0; HEADER_NUMBERS];
        numbers[0] = MAGIC;
        numbers[1] = 10;
        numbers[2] = 32;
        numbers[3] = 1;
        numbers[5] = counters.len() as u64;
        numbers[9] = 3;
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.resize(bytes.len() + 32 + RECORD_BYTES, 7);
        bytes.extend(counters.iter().flat_map(|counter| counter.to_le_bytes()));
        bytes.resize(bytes.len() + 8, 0);
        bytes
    }

    #[test]
    fn counters_that_are_not_zero_are_read_from_their_place() {
        let coverage = Coverage::of_profile(&profile(&[0, 3, 0, 1])).expect("the layout is known");
        assert_eq!((coverage.count(), coverage.words[0]), (2, 0b1010));
        assert_eq!(Coverage::of_profile(&profile(&[1])[1..]), None);
        assert_eq!(Coverage::of_profile(&[]), None);
        let mut longer = profile(&[1]);
        longer.extend([0; 8]);
        assert_eq!(Coverage::of_profile(&longer), None, "what is not understood is not guessed");
    }

    #[test]
    fn new_code_is_what_no_input_before_has_reached() {
        let of = |counters: &[u64]| Coverage::of_profile(&profile(counters)).expect("known");
        let mut all = Coverage::default();
        assert!(of(&[1, 0]).exceeds(&all));
        all.add(&of(&[1, 0]));
        assert!(!of(&[9, 0]).exceeds(&all) && of(&[0, 1]).exceeds(&all));
    }
}
