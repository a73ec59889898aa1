//! Lines of a table: fields between commas, the type's name first.

use std::str::FromStr;

use super::TableError;

/// One line: its number, counted from one, and its fields.
pub(super) struct Line<'a, const N: usize> {
    number: usize,
    fields: [&'a str; N],
}

/// The lines behind the header. Names must ascend, so that no type comes twice.
pub(super) fn lines<'a, const N: usize>(
    text: &'a str,
    header: &'static str,
) -> Result<impl Iterator<Item = Result<Line<'a, N>, TableError>>, TableError> {
    let mut lines = text.lines();
    if lines.next() != Some(header) {
        return Err(TableError::Header { expected: header });
    }
    let mut previous = "";
    Ok(lines.enumerate().map(move |(index, text)| {
        let line = Line::<N>::split(index + 2, text)?;
        if line.name() <= previous {
            return Err(TableError::Order {
                line: line.number,
                name: line.name().into(),
                previous: previous.into(),
            });
        }
        previous = line.fields[0];
        Ok(line)
    }))
}

impl<'a, const N: usize> Line<'a, N> {
    fn split(number: usize, text: &'a str) -> Result<Self, TableError> {
        let mut fields = [""; N];
        let mut found = 0;
        for field in text.split(',') {
            if let Some(slot) = fields.get_mut(found) {
                *slot = field;
            }
            found += 1;
        }
        if found != N {
            return Err(TableError::FieldCount { line: number, found, expected: N });
        }
        Ok(Self { number, fields })
    }

    /// The type's name.
    pub(super) fn name(&self) -> &'a str {
        self.fields[0]
    }

    /// A field as it stands.
    pub(super) fn text(&self, column: usize) -> &'a str {
        self.fields[column]
    }

    /// A field that `read` understands.
    pub(super) fn read<T>(
        &self,
        column: usize,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, TableError> {
        let text = self.fields[column];
        read(text).ok_or_else(|| TableError::Field {
            line: self.number,
            column: name,
            text: text.into(),
            expected,
        })
    }

    /// A whole number.
    pub(super) fn number<T: FromStr>(
        &self,
        column: usize,
        name: &'static str,
    ) -> Result<T, TableError> {
        self.read(column, name, "a whole number", |text| text.parse().ok())
    }

    /// A whole number, or nothing.
    pub(super) fn maybe_number<T: FromStr>(
        &self,
        column: usize,
        name: &'static str,
    ) -> Result<Option<T>, TableError> {
        if self.fields[column].is_empty() { Ok(None) } else { self.number(column, name).map(Some) }
    }

    /// Parts joined by `+`; an empty field has none.
    pub(super) fn list<T>(
        &self,
        column: usize,
        name: &'static str,
        expected: &'static str,
        read: impl Fn(&'a str) -> Option<T>,
    ) -> Result<Vec<T>, TableError> {
        if self.fields[column].is_empty() {
            return Ok(Vec::new());
        }
        self.read(column, name, expected, |text| text.split('+').map(read).collect())
    }
}
