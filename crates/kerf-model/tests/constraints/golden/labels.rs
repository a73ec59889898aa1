//! Keys and values.

use kerf_model::labels::{LabelRules, check_label_value, check_qualified_name, domain, kwok};

use super::{recording, rows, text, texts};

#[test]
fn keys_are_restricted_normalised_and_checked_as_in_the_recording() {
    let recorded = recording("labels");
    let core = LabelRules::core();
    let with_kwok = LabelRules::core().with(&kwok::provider_labels());
    for row in rows(&recorded, "keys") {
        let key = text(row, "key");
        assert_eq!(row["restricted"], core.is_restricted(key).is_err(), "{row}");
        assert_eq!(row["restrictedKwok"], with_kwok.is_restricted(key).is_err(), "{row}");
        assert_eq!(row["wellKnown"], core.is_well_known(key), "{row}");
        assert_eq!(text(row, "normalised"), core.normalization().key(key), "{row}");
        assert_eq!(text(row, "domain"), domain(key), "{row}");
        assert_eq!(texts(row, "errors").is_empty(), check_qualified_name(key).is_ok(), "{row}");
    }
}

#[test]
fn values_are_checked_as_in_the_recording() {
    let recorded = recording("labels");
    for row in rows(&recorded, "values") {
        let accepted = check_label_value(text(row, "value")).is_ok();
        assert_eq!(texts(row, "errors").is_empty(), accepted, "{row}");
    }
}
