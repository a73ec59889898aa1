//! Names of new claims, in the form Kubernetes gives them.

use std::sync::Arc;

use crate::observed::Name;
use crate::time::Time;

/// Letters and digits that make no words, as the API server uses for generated names.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LEN: usize = 5;
/// Generated names have at most 63 characters; what comes before the suffix is cut.
const PREFIX_LEN_MAX: usize = 63 - SUFFIX_LEN;

/// The name of the claim number `ordinal` decided on now: the same for the same decision, so that
/// storing it twice stores it once. Names that are taken are passed over.
pub(super) fn claim_name(
    pool: &str,
    pool_uid: &str,
    now: Time,
    ordinal: usize,
    is_taken: impl Fn(&str) -> bool,
) -> Name {
    let names = (0u64..).map(|attempt| {
        let seed = mix(&[
            pool_uid.as_bytes(),
            &now.millis().to_le_bytes(),
            &(ordinal as u64).to_le_bytes(),
            &attempt.to_le_bytes(),
        ]);
        let mut prefix = format!("{pool}-");
        let cut = prefix.floor_char_boundary(PREFIX_LEN_MAX);
        prefix.truncate(cut);
        prefix + &suffix(seed)
    });
    let free = names.into_iter().find(|name| !is_taken(name));
    Arc::from(free.expect("there are more names than claims"))
}

fn suffix(mut seed: u64) -> String {
    let mut letter = || {
        let index = (seed % ALPHABET.len() as u64) as usize;
        seed /= ALPHABET.len() as u64;
        char::from(ALPHABET[index])
    };
    (0..SUFFIX_LEN).map(|_| letter()).collect()
}

/// FNV-1a over the parts with their lengths, then a final shuffle (that of SplitMix64) so that
/// neighbours differ in every letter.
fn mix(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for part in parts {
        (part.len() as u64).to_le_bytes().into_iter().for_each(&mut eat);
        part.iter().copied().for_each(&mut eat);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
