//! Integers in JSON.

use serde_json::{Number, Value};

/// The integers up to this magnitude are exact in every JSON reader.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The integer of a JSON number: `2` and also `2.0`, which is the same number (RFC 8259 §6). `None` for a number with a
/// fraction, and for one outside 64 bits.
pub fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= EXACT)?;
        // Has no fraction and at most 16 digits.
        format!("{number:.0}").parse().ok()
    })
}

/// The integer of a JSON value: a number as in [`whole`], or its decimal digits as text.
///
/// ```
/// use civitas_kernel::integer;
/// use serde_json::json;
///
/// assert_eq!([json!(2), json!(2.0), json!("2")].map(|sent| integer(&sent)), [Some(2); 3]);
/// assert_eq!([json!(2.5), json!("2.0"), json!(true)].map(|sent| integer(&sent)), [None; 3]);
/// ```
pub fn integer(sent: &Value) -> Option<i64> {
    match sent {
        Value::Number(number) => whole(number),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, json};

    #[test]
    fn a_number_without_fraction_is_an_integer_however_it_is_written() {
        for (text, expected) in [
            ("2", Some(2)),
            ("-2.0", Some(-2)),
            ("-0.0", Some(0)),
            ("2e3", Some(2_000)),
            ("9007199254740992.0", Some(9_007_199_254_740_992)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("1e300", None),
            ("2.5", None),
        ] {
            assert_eq!(integer(&from_str(text).unwrap()), expected, "{text}");
        }
        assert_eq!(integer(&json!(null)), None);
    }
}
