//! JSON texts from outside: their numbers are stored as they are, alike on both engines, or refused.

use serde::de::Error;
use serde_json::Value;

/// The most digits of a double.
const DIGITS: usize = 17;

/// Parses a JSON text.
///
/// # Errors
/// `is_data()` for a number that has other digits when it is stored as an integer of 64 bits or as a double.
///
/// ```
/// use civitas_kernel::read_json;
///
/// assert_eq!(read_json("[0.1, 18446744073709551615]").unwrap().to_string(), "[0.1,18446744073709551615]");
/// assert!(read_json("18446744073709551617").unwrap_err().is_data());
/// ```
pub fn read_json(text: &str) -> serde_json::Result<Value> {
    let mut value = serde_json::from_str(text)?;
    // The texts between quotes that are not escaped are inside and outside strings by turns.
    let unescaped = text.replace(r"\\", "").replace(r#"\""#, "");
    let outside = unescaped.split('"').step_by(2);
    let mut words =
        outside.flat_map(|part| part.split(|c| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')));
    if let Some(number) = words.find(|word| word.starts_with(|c| c != 'e') && !is_exact(word)) {
        let reason = format!("Number cannot be stored exactly, send it as text: {number:.50}");
        return Err(serde_json::Error::custom(reason));
    }
    normalize(&mut value);
    Ok(value)
}

/// Whether a number has the same digits when it is stored: as an integer of 64 bits, or as a double.
fn is_exact(number: &str) -> bool {
    if number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok() {
        return true;
    }
    let digits = |text: &str| {
        let digits = text.split(['e', 'E']).next().unwrap_or_default().replace(['-', '.'], "");
        digits.trim_matches('0').to_owned()
    };
    let sent = digits(number);
    let decimals = sent.len().saturating_sub(1);
    sent.len() <= DIGITS && number.parse().is_ok_and(|n: f64| digits(&format!("{n:.decimals$e}")) == sent)
}

/// Writes doubles as PostgreSQL returns them: integers of 64 bits without an exponent, zero without a sign.
fn normalize(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => members.values_mut().for_each(normalize),
        Value::Number(number) => {
            let text = number.to_string();
            let is_whole = |n: &f64| n.fract() == 0.0 && n.abs() < 1e20;
            if (text.contains('e') || text == "-0.0")
                && let Some(n) = number.as_f64().filter(is_whole)
                && let Ok(normal) = (n + 0.0).to_string().parse()
            {
                *number = normal;
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written_or_refused() {
        for (sent, stored) in [
            ("18446744073709551615", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("0.1", "0.1"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("0.10000000000000001", "0.1"),
            ("1.50", "1.5"),
            ("1e2", "100.0"),
            ("1E16", "10000000000000000"),
            ("-1e18", "-1000000000000000000"),
            ("1e22", "1e+22"),
            ("10000000000000000000000", "1e+22"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("0e999", "0.0"),
            ("-0.0", "0"),
            ("-0", "0"),
        ] {
            assert_eq!(read_json(sent).unwrap().to_string(), stored, "{sent}");
        }
        for sent in [
            "18446744073709551616",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "9007199254740993.0",
            "0.12345678901234567",
            "3.141592653589793238",
            "1.00000000000000000001",
            "1e-400",
            "3e-324",
        ] {
            let refused = read_json(sent).unwrap_err();
            assert!(refused.is_data() && refused.to_string().ends_with(sent), "{sent}: {refused}");
        }
        assert!(read_json("1e400").is_err());
    }

    #[test]
    fn numbers_are_found_everywhere_and_digits_of_texts_are_none() {
        let long = "1".repeat(100);
        let text = format!(r#"{{"é{long}\\":"\"{long}\u00e9","a":[-1,{{"b":2.5e-1}}],"c" : 3}}"#);
        assert_eq!(read_json(&text).unwrap()["a"].to_string(), r#"[-1,{"b":0.25}]"#);
        let refused = read_json(&format!(r#"{{"a": [{{"b": {long}}}]}}"#)).unwrap_err().to_string();
        assert!(refused.ends_with(&format!(": {}", "1".repeat(50))), "{refused}");
    }
}
