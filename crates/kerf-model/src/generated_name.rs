//! The random part of generated names, in the form the API server gives it.

/// Letters and digits of generated names, from Kubernetes: no vowels, so no words.
pub const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// How long the random part is.
pub const SUFFIX_LEN: usize = 5;

/// The random part for a number, and what is left of the number. Equal numbers give equal names.
#[must_use]
pub fn suffix(mut number: u64) -> (String, u64) {
    let base = ALPHABET.len() as u64;
    let mut letter = || {
        let index = (number % base) as usize;
        number /= base;
        char::from(ALPHABET[index])
    };
    let suffix = (0..SUFFIX_LEN).map(|_| letter()).collect();
    (suffix, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_has_five_letters_of_the_alphabet() {
        let (text, rest) = suffix(27_u64.pow(5) * 3 + 26);
        assert_eq!((text.as_str(), rest), ("9bbbb", 3));
        let letters = suffix(u64::MAX).0;
        assert!(letters.bytes().all(|letter| ALPHABET.contains(&letter)), "{letters}");
    }
}
