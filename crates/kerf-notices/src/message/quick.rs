//! The usual event, read in one pass.
//!
//! Nearly every event is an object of plain texts: no escapes, no numbers, two levels deep. Such a
//! body is read here several times faster than by a general parser. **Anything else is left to the
//! general parser**, which alone decides what is wrong with it: this one never complains, and what
//! it gives is what the other would have given.

use std::borrow::Cow;

use super::field::{Field, Object, Text, TextField};
use super::raw_list::RawList;
use super::wire::{Bridged, Detail};

/// Lists and objects inside each other that are followed; no usual event has more.
const DEPTH_MAX: usize = 4;

/// The event, if it is a usual one.
pub(super) fn bridged(text: &str) -> Option<Bridged<'_>> {
    let mut scanner = Scanner { text, at: 0 };
    let mut body = Bridged::default();
    scanner.members(|scanner, name| match name {
        "source" => scanner.text_into(&mut body.source),
        "detail-type" => scanner.text_into(&mut body.detail_type),
        "id" => scanner.text_into(&mut body.id),
        "account" => scanner.text_into(&mut body.account),
        "region" => scanner.text_into(&mut body.region),
        "time" => scanner.text_into(&mut body.time),
        "resources" => scanner.list_into(&mut body.resources),
        "detail" => scanner.detail_into(&mut body.detail),
        _ => scanner.skip(DEPTH_MAX),
    })?;
    // Nothing may follow.
    scanner.peek().is_none().then_some(body)
}

/// Where reading has come to. Every method gives `None` for whatever is not usual.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The next byte that is no space; `None` at the end.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A text without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.expect(b'"')?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(eight) = bytes.get(self.at..self.at + 8) {
            let place = first_special(eight.try_into().ok()?);
            self.at += place;
            if place < 8 {
                return self.string_from(start);
            }
        }
        while !is_special(*bytes.get(self.at)?) {
            self.at += 1;
        }
        self.string_from(start)
    }

    /// The text up to here, if a quote ends it.
    fn string_from(&mut self, start: usize) -> Option<&'a str> {
        let end = self.at;
        self.at += 1;
        (self.text.as_bytes()[end] == b'"').then(|| self.text.get(start..end))?
    }

    /// Goes through the members of an object. `each` has to read the value.
    fn members(&mut self, mut each: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            each(self, name)?;
            if self.ended_by(b'}')? {
                return Some(());
            }
        }
    }

    /// Whether the closing byte comes next, or a comma.
    fn ended_by(&mut self, closing: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(false),
            _ => (byte == closing).then_some(true),
        }
    }

    fn skip(&mut self, depth_left: usize) -> Option<()> {
        match (self.peek()?, depth_left) {
            (b'"', _) => self.string().map(drop),
            (_, 0) => None,
            (b'{', _) => self.members(|scanner, _| scanner.skip(depth_left - 1)),
            (b'[', _) => {
                self.at += 1;
                if self.peek()? == b']' {
                    self.at += 1;
                    return Some(());
                }
                loop {
                    self.skip(depth_left - 1)?;
                    if self.ended_by(b']')? {
                        return Some(());
                    }
                }
            }
            _ => None,
        }
    }

    fn text_into(&mut self, field: &mut TextField<'a>) -> Option<()> {
        if !matches!(field, Field::Absent) {
            return None;
        }
        *field = Field::Is(Text(Cow::Borrowed(self.string()?)));
        Some(())
    }

    fn list_into(&mut self, list: &mut RawList<'a>) -> Option<()> {
        if !matches!(list, RawList::Absent) || self.peek()? != b'[' {
            return None;
        }
        let start = self.at;
        self.skip(DEPTH_MAX)?;
        *list = RawList::Is(self.text.get(start..self.at)?);
        Some(())
    }

    fn detail_into(&mut self, field: &mut Field<Object<Detail<'a>>>) -> Option<()> {
        if !matches!(field, Field::Absent) {
            return None;
        }
        let mut detail = Detail::default();
        self.members(|scanner, name| match name {
            "instance-id" => scanner.text_into(&mut detail.instance_id),
            "state" => scanner.text_into(&mut detail.state),
            "EC2InstanceId" => scanner.text_into(&mut detail.asg_instance),
            _ => scanner.skip(DEPTH_MAX),
        })?;
        *field = Field::Is(Object(detail));
        Some(())
    }
}

/// What ends a text or may not stand in it as it is.
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < b' '
}

/// The place of the first special byte among eight; 8 if there is none.
///
/// All eight are compared at once: subtracting one from a byte that is zero, or 32 from one that is
/// smaller, sets its highest bit. The borrow may also mark bytes behind the first one found, which
/// does not matter.
fn first_special(eight: [u8; 8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = ONES << 7;
    let bytes = u64::from_le_bytes(eight);
    let quotes = bytes ^ (ONES * b'"' as u64);
    let escapes = bytes ^ (ONES * b'\\' as u64);
    let found = quotes.wrapping_sub(ONES) & !quotes
        | escapes.wrapping_sub(ONES) & !escapes
        | bytes.wrapping_sub(ONES * b' ' as u64) & !bytes;
    // Trailing zeros count from the first byte: at most 64, eight bits each.
    ((found & HIGHEST).trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reading::parse;
    use super::super::wire::Bridged;
    use super::{bridged, first_special, is_special};

    const USUAL: &str = r#"{"version":"0","id":"b6a1d9a1-0a3c-4f6e-9d4f-0c1f7d4d2a11",
        "detail-type":"EC2 Instance State-change Notification", "source" :"aws.ec2",
        "account":"111122223333","time":"2026-11-01T00:00:00Z","region":"eu-west-1",
        "resources":["arn:aws:ec2:eu-west-1:111122223333:instance/i-0123456789abcdef0"],
        "detail":{"instance-id":"i-0123456789abcdef0","state":"stopping","x":[{"ü":[]},{}]} } "#;

    /// Whatever is read quickly is what the general parser reads.
    fn agree(text: &str) -> bool {
        let Some(quick) = bridged(text) else { return true };
        parse::<Bridged<'_>>(text).as_ref() == Ok(&quick)
    }

    #[test]
    fn the_usual_event_is_read_quickly_and_as_by_the_general_parser() {
        assert!(bridged(USUAL).is_some() && agree(USUAL));
    }

    #[test]
    fn what_is_not_usual_is_left_to_the_general_parser() {
        for (usual, other) in [
            ("\"0\"", "0"),
            ("\"0\"", "null"),
            ("\"0\"", "\"\\u0030\""),
            ("\"aws.ec2\"", "7"),
            ("\"aws.ec2\"", "\"aws\\u002eec2\""),
            ("\"version\"", "\"id\""),
            ("[{\"ü\":[]},{}]", "[[[[[\"deep\"]]]]]"),
            ("\"state\"", "\"instance-id\""),
            ("stopping", "stop\u{1}ping"),
            ("} } ", "} } {}"),
            ("} } ", "}"),
            ("\"stopping\",", "\"stopping\""),
            ("\"stopping\",", "\"stopping\",,"),
            ("{}]", "{},]"),
        ] {
            let text = USUAL.replacen(usual, other, 1);
            assert_ne!(text, USUAL);
            assert!(bridged(&text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn an_event_with_any_few_bytes_changed_is_read_alike(
            changes in prop::collection::vec((0..USUAL.len(), 0usize..3, any::<u8>()), 1..4),
        ) {
            let mut bytes = USUAL.as_bytes().to_vec();
            for (place, length, byte) in changes {
                let start = place.min(bytes.len());
                let end = (start + length).min(bytes.len());
                bytes.splice(start..end, [byte]);
            }
            if let Ok(text) = std::str::from_utf8(&bytes) {
                prop_assert!(agree(text), "{}", text);
            }
        }

        #[test]
        fn any_brackets_quotes_and_names_are_read_alike(
            text in r#"[{\["]([{}\[\]",: \\]|"id"|"source":"x"|"detail":|"state":){0,24}"#,
        ) {
            prop_assert!(agree(&text), "{}", text);
        }

        #[test]
        fn the_first_special_byte_of_eight_is_found(eight: [u8; 8]) {
            let expected = eight.iter().position(|byte| is_special(*byte)).unwrap_or(8);
            prop_assert_eq!(first_special(eight), expected);
        }
    }
}
