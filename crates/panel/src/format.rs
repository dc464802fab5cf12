//! Numbers and times in the languages of the panel.

use civitas_kernel::{Locale, TimeZone};
use time::{Month, OffsetDateTime};

/// A number for texts; at most `i64::MAX`.
pub(crate) fn saturating_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number with grouped digits: `9,842`, `9 842`, `48 210`. In Spanish numbers of four digits are not grouped.
pub(crate) fn number(locale: Locale, number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let separator = match locale {
        Locale::FR => "\u{202f}",
        Locale::ES if digits.len() <= 4 => "",
        Locale::ES => "\u{a0}",
        _ => ",",
    };
    let mut text = if number < 0 { "-".to_owned() } else { String::new() };
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push_str(separator);
        }
        text.push(digit);
    }
    text
}

/// A number of bytes with one decimal: `4.0 KB`, `1.3 GB`; in French `1,3 Go`.
pub(crate) fn bytes(locale: Locale, bytes: i64) -> String {
    let units = match locale {
        Locale::FR => ["o", "Ko", "Mo", "Go", "To"],
        _ => ["B", "KB", "MB", "GB", "TB"],
    };
    let mut tenths = i128::from(bytes.max(0)) * 10;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < units.len() {
        (tenths, unit) = ((tenths + 500) / 1_000, unit + 1);
    }
    let whole = number(locale, i64::try_from(tenths / 10).unwrap_or(i64::MAX));
    let point = if locale == Locale::EN { '.' } else { ',' };
    let decimal = if unit == 0 { String::new() } else { format!("{point}{}", tenths % 10) };
    format!("{whole}{decimal}\u{a0}{}", units[unit])
}

/// The time zone of the times on a page.
#[derive(Clone, Copy)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// UTC.
    pub(crate) fn utc() -> Self {
        Self(TimeZone::default())
    }

    /// The zone of this name; UTC if there is none.
    pub(crate) fn named(name: &str) -> Self {
        Self(TimeZone::from_name(name))
    }

    /// `Europe/Zurich (UTC+1)`
    pub(crate) fn label(self, at: OffsetDateTime) -> String {
        let (hours, minutes, _) = self.0.offset_at(at).as_hms();
        match (hours, minutes) {
            (0, 0) => self.0.name().to_owned(),
            (hours, 0) => format!("{} (UTC{hours:+})", self.0.name()),
            (hours, minutes) => format!("{} (UTC{hours:+}:{:02})", self.0.name(), minutes.unsigned_abs()),
        }
    }

    /// The time in this zone; in UTC at the end of the year 9999, which no other zone can write.
    fn local(self, at: OffsetDateTime) -> OffsetDateTime {
        at.checked_to_offset(self.0.offset_at(at)).unwrap_or(at)
    }
}

/// `20 Nov 2026`
pub(crate) fn date(locale: Locale, zone: Zone, at: OffsetDateTime) -> String {
    let local = zone.local(at);
    format!("{} {} {}", local.day(), month(locale, local.month()), local.year())
}

/// `20 Nov 2026, 14:30`
pub(crate) fn date_time(locale: Locale, zone: Zone, at: OffsetDateTime) -> String {
    let local = zone.local(at);
    let clock = match locale {
        Locale::FR => format!("{}\u{a0}h\u{a0}{:02}", local.hour(), local.minute()),
        _ => format!("{:02}:{:02}", local.hour(), local.minute()),
    };
    format!("{}, {clock}", date(locale, zone, at))
}

/// `20 Nov 2026, 14:30:09`, for logs.
pub(crate) fn date_time_seconds(locale: Locale, zone: Zone, at: OffsetDateTime) -> String {
    let local = zone.local(at);
    let clock = format!("{:02}:{:02}:{:02}", local.hour(), local.minute(), local.second());
    format!("{}, {clock}", date(locale, zone, at))
}

/// The value of a field for date and time: `2026-11-20T14:30`.
pub(crate) fn datetime_field_value(zone: Zone, at: OffsetDateTime) -> String {
    let local = zone.local(at);
    let (year, month, day) = local.to_calendar_date();
    format!("{year:04}-{:02}-{day:02}T{:02}:{:02}", u8::from(month), local.hour(), local.minute())
}

/// The time of a field for date and time in this zone; `None` if it has another form, or is not of the years 1 to 9998
/// in UTC: times on the wire have years of four digits (RFC 3339).
pub(crate) fn parse_datetime_field(zone: Zone, text: &str) -> Option<OffsetDateTime> {
    use time::format_description::well_known::Iso8601;
    let text = if text.len() == 16 { format!("{text}:00") } else { text.to_owned() };
    let local = time::PrimitiveDateTime::parse(&text, &Iso8601::PARSING).ok()?;
    let read = zone.0.moment(local);
    read.filter(|at| (1..=9998).contains(&at.year()))
}

fn month(locale: Locale, month: Month) -> &'static str {
    const EN: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const FR: [&str; 12] =
        ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."];
    const ES: [&str; 12] =
        ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"];
    let index = usize::from(u8::from(month)) - 1;
    match locale {
        Locale::FR => FR[index],
        Locale::ES => ES[index],
        _ => EN[index],
    }
}

/// The paragraphs of a text; markup is shown as it was typed.
pub(crate) fn paragraphs(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const AT: OffsetDateTime = datetime!(2026-11-20 13:30:09 UTC);

    #[test]
    fn numbers_are_grouped_as_the_language_does() {
        assert_eq!(number(Locale::EN, 9842), "9,842");
        assert_eq!(number(Locale::FR, 48210), "48\u{202f}210");
        assert_eq!(
            (number(Locale::ES, 9842), number(Locale::ES, 48210)),
            ("9842".into(), "48\u{a0}210".into())
        );
        assert_eq!(
            (number(Locale::EN, -1_234_567), number(Locale::EN, 999)),
            ("-1,234,567".into(), "999".into())
        );
    }

    #[test]
    fn sizes_have_the_unit_that_keeps_them_short() {
        assert_eq!(bytes(Locale::EN, 999), "999\u{a0}B");
        assert_eq!(bytes(Locale::EN, 4_000), "4.0\u{a0}KB");
        assert_eq!(bytes(Locale::FR, 1_250_000_000), "1,3\u{a0}Go");
        assert_eq!(bytes(Locale::ES, 999_960), "1,0\u{a0}MB", "it is rounded before the unit is chosen");
        assert_eq!(bytes(Locale::EN, i64::MAX), "9,223,372.0\u{a0}TB");
    }

    #[test]
    fn times_are_shown_in_the_zone_of_the_page() {
        let zone = Zone::named("Europe/Zurich");
        assert_eq!(date_time(Locale::EN, zone, AT), "20 Nov 2026, 14:30");
        assert_eq!(date_time(Locale::FR, zone, AT), "20 nov. 2026, 14\u{a0}h\u{a0}30");
        assert_eq!(date_time_seconds(Locale::ES, Zone::utc(), AT), "20 nov 2026, 13:30:09");
        assert_eq!(zone.label(AT), "Europe/Zurich (UTC+1)");
        assert_eq!(Zone::named("Asia/Kolkata").label(AT), "Asia/Kolkata (UTC+5:30)");
        assert_eq!(Zone::named("Nowhere/Land").label(AT), "UTC");
    }

    #[test]
    fn the_first_and_the_last_time_that_can_be_stored_are_shown_in_every_zone() {
        let ends = [datetime!(0000-01-01 0:00 UTC), datetime!(9999-12-31 23:59:59.999999 UTC)];
        for zone in civitas_organizations::TIME_ZONES.iter().map(|name| Zone::named(name)) {
            for at in ends {
                date_time(Locale::EN, zone, at);
                date_time_seconds(Locale::FR, zone, at);
                zone.label(at);
                parse_datetime_field(zone, &datetime_field_value(zone, at));
            }
        }
        let zurich = Zone::named("Europe/Zurich");
        assert_eq!(date_time(Locale::EN, zurich, ends[1]), "31 Dec 9999, 23:59");
        assert_eq!(datetime_field_value(zurich, ends[1]), "9999-12-31T23:59");
    }

    #[test]
    fn a_field_reads_the_time_that_was_written_into_it() {
        let zone = Zone::named("Europe/Zurich");
        let minute = datetime!(2026-11-20 13:30 UTC);
        assert_eq!(datetime_field_value(zone, AT), "2026-11-20T14:30");
        assert_eq!(parse_datetime_field(zone, "2026-11-20T14:30"), Some(minute));
        assert_eq!(
            parse_datetime_field(zone, "2026-03-29T02:30"),
            Some(datetime!(2026-03-29 1:30 UTC)),
            "left out in spring"
        );
        for other in ["yesterday", "0000-01-01T00:00", "9999-12-31T23:59", ""] {
            assert_eq!(parse_datetime_field(zone, other), None, "{other}");
        }
    }

    #[test]
    fn every_zone_an_organization_can_choose_is_known() {
        for name in civitas_organizations::TIME_ZONES {
            assert!(TimeZone::find(name).is_some(), "{name}");
        }
    }
}
