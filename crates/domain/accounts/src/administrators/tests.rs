pub(crate) mod memory;

use super::*;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-01 0:00 UTC);

#[test]
fn debug_shows_no_hash_and_no_secret() {
    let factor = SecondFactor { secret: "sealed-text".to_owned(), recovery_codes: Vec::new(), last_step: 1 };
    let ada = Administrator {
        password: Some("$argon2id$hash".to_owned()),
        second_factor: Some(factor),
        ..Administrator::new("ada@city.example".to_owned(), NOW)
    };
    let text = format!("{ada:?}");
    assert!(text.contains("has_password: true") && text.contains("last_step: 1"), "{text}");
    assert!(!text.contains("argon2id") && !text.contains("sealed-text"), "{text}");
}

#[test]
fn a_theme_is_read_by_its_name() {
    for theme in PanelTheme::ALL {
        assert_eq!(PanelTheme::parse(theme.as_str()), Some(theme));
    }
    assert_eq!(PanelTheme::parse("pink"), None);
}
