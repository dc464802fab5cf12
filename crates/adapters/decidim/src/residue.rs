//! The residue: rows and columns that have no equivalent here, one JSON line each (sheet 13 §3.6).

use crate::Result;
use crate::row::Row;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Map, Value, json};
use std::io::Write;

/// Parts of the names of columns that are never written: tokens, secrets, hashes and IP addresses.
const SECRET: &[&str] = &["token", "secret", "password", "private_key", "ip_hash", "salt"];

/// Where the residue goes; `None`: nowhere.
pub(crate) struct UnmappedRowWriter<'a>(pub(crate) Option<&'a mut (dyn Write + Send)>);

impl UnmappedRowWriter<'_> {
    /// Writes a row, or these columns of it that are not empty.
    pub(crate) fn write(
        &mut self,
        row: &Row,
        organization: Option<i64>,
        code: Option<&str>,
        columns: Option<&[&str]>,
    ) -> Result {
        let Some(out) = self.0.as_deref_mut() else { return Ok(()) };
        let kept = |name: &String, value: &Value| {
            columns.is_none_or(|columns| columns.contains(&name.as_str()) && !is_empty(value))
                && !SECRET.iter().any(|part| name.contains(part))
        };
        let kept = row.columns.iter().filter(|(name, value)| kept(name, value));
        let kept: Map<_, _> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        if columns.is_some() && kept.is_empty() {
            return Ok(());
        }
        let line = json!({
            "table": row.table, "id": row.get("id"), "organization": organization, "code": code, "row": kept,
        });
        serde_json::to_writer(&mut *out, &line)?;
        Ok(out.write_all(b"\n")?)
    }
}

/// The ids of the blobs that a text links to, in `/rails/active_storage/blobs/redirect/<id>--<signature>/<name>`. They are
/// signed, not encrypted: JSON in base64, with the number itself or, to Rails 7.0, in the format `Marshal` of Ruby (§6.3).
pub(crate) fn inline_blobs(text: &str) -> impl Iterator<Item = i64> {
    text.split("/rails/active_storage/").skip(1).filter_map(|link| {
        let (signed, _) = link.split(['/', '"', '?']).find_map(|part| part.split_once("--"))?;
        let json: Value = serde_json::from_slice(&decoded(signed)?).ok()?;
        let id = json.get("_rails")?;
        id.get("data").and_then(Value::as_i64).or_else(|| marshalled(&decoded(id.get("message")?.as_str()?)?))
    })
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(text.trim_end_matches("%3D").trim_end_matches('=')).ok()
}

/// A positive integer in the format `Marshal`: of one byte, increased by 5, or a length and as many bytes, the lowest first.
fn marshalled(bytes: &[u8]) -> Option<i64> {
    match bytes {
        [4, 8, b'i', length @ 1..=4, bytes @ ..] if bytes.len() == usize::from(*length) => {
            Some(bytes.iter().rev().fold(0, |number, byte| (number << 8) | i64::from(*byte)))
        }
        [4, 8, b'i', number @ 6..=127] => Some(i64::from(*number) - 5),
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(columns: Option<&[&str]>) -> String {
        let value =
            json!({"id": 1, "secret": "s", "encrypted_password": "$2a$", "name": "Site", "cost": null});
        let row = Row { table: "oauth_applications", columns: value.as_object().unwrap().clone() };
        let mut out = Vec::new();
        UnmappedRowWriter(Some(&mut out)).write(&row, Some(1), Some("W-OAUTHAPP"), columns).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn secrets_are_left_out() {
        let line = lines(None);
        assert!(
            line.contains(r#""name":"Site""#) && !line.contains("$2a$") && !line.contains("secret"),
            "{line}"
        );
    }

    #[test]
    fn links_in_texts_name_their_blobs() {
        let link = |json: &str| {
            let id = STANDARD_NO_PAD.encode(json);
            format!("<img src=\"/rails/active_storage/blobs/redirect/{id}==--0a1b/photo.png\">")
        };
        let messages = ["BAhpBg==", "BAhpAugD"].map(|id| format!(r#"{{"_rails":{{"message":"{id}"}}}}"#));
        let text =
            [r#"{"_rails":{"data":2,"pur":"blob_id"}}"#, messages[0].as_str(), messages[1].as_str(), "{}"]
                .map(link);
        assert_eq!(inline_blobs(&text.concat()).collect::<Vec<_>>(), [2, 1, 1000]);
    }

    #[test]
    fn columns_without_a_value_make_no_line() {
        assert_eq!(lines(Some(&["cost", "secret"])), "");
        assert!(lines(Some(&["cost", "name"])).contains(r#""row":{"name":"Site"}"#));
    }
}
