//! Texts to throw at a parser: noise, and near misses of its grammar.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many texts a test tries unless `KERF_FUZZ_CASES` says otherwise.
const CASES_DEFAULT: usize = 20_000;
/// The longest text, in pieces.
const PIECES_MAX: u64 = 24;
/// The same texts on every run, so that a failure is met again.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Calls `check` with half noise, half texts made from `tokens`; it tells whether the text was
/// accepted. A panic is reported with its text. Unless one in two hundred is accepted, the
/// tokens do not come near the grammar and the test proves nothing.
pub(crate) fn for_arbitrary_texts(tokens: &[&str], check: impl Fn(&str) -> bool) {
    let cases = match std::env::var("KERF_FUZZ_CASES") {
        Ok(count) => count.parse().expect("KERF_FUZZ_CASES is a number of texts"),
        Err(_) => CASES_DEFAULT,
    };
    let mut random = Random { state: SEED };
    let mut accepted = 0;
    for case in 0..cases {
        let text = if case % 2 == 0 { noise(&mut random) } else { near_miss(&mut random, tokens) };
        match catch_unwind(AssertUnwindSafe(|| check(&text))) {
            Ok(is_accepted) => accepted += usize::from(is_accepted),
            Err(_) => panic!("text {case} of {cases} failed: {text:?}"),
        }
    }
    println!("{cases} texts, {accepted} accepted");
    assert!(accepted >= cases / 200, "only {accepted} of {cases} texts were accepted");
}

/// Any bytes, made into text the way a lenient reader would.
fn noise(random: &mut Random) -> String {
    let len = random.below(PIECES_MAX);
    let bytes: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Pieces of the grammar in any order, with now and then a foreign character in between.
fn near_miss(random: &mut Random, tokens: &[&str]) -> String {
    let mut text = String::new();
    let longest = 1 + random.below(PIECES_MAX);
    for _ in 0..random.below(longest) {
        match random.below(16) {
            0 => text.push(char::from_u32(random.below(0x3000) as u32).unwrap_or('\u{fffd}')),
            1..=5 => text.push((b'0' + random.below(10) as u8).into()),
            _ => text.push_str(tokens[random.below(tokens.len() as u64) as usize]),
        }
    }
    text
}

/// A xorshift generator: enough for variety, the same everywhere.
struct Random {
    state: u64,
}

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }
}
