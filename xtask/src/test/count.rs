//! How many tests passed, as the test programs say it.

/// Tests by their result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl Count {
    /// Reads `test result: ok. 12 passed; 0 failed; 0 ignored; …`, the line each test program
    /// closes with.
    pub(super) fn add(&mut self, line: &str) {
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            let Some((number, word)) = part.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn closing_lines_add_up_and_other_lines_do_not_count() {
        let mut count = Count::default();
        count.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out");
        count.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured");
        count.add("test a_test ... ok");
        assert_eq!(count, Count { passed: 15, failed: 2, ignored: 1 });
    }
}
