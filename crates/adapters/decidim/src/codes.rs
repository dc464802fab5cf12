//! Codes: stops and losses (sheet 13 §4).

use crate::options::AcceptedLosses;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The losses, the most harmful first: the order in which they are listed.
const LOSSES: &[(&str, &str)] = &[
    ("W-PERMISSION", "components that asked for verification are open to all"),
    ("W-COLLABORATOR", "collaborators become members, who may take part in a private space"),
    ("W-ANONYMOUS", "surveys for accounts only take answers without an account"),
    ("W-DELETEDSPACE", "deleted spaces are left out with everything in them"),
    ("W-MANIFEST", "components of other kinds are left out with everything in them"),
    ("W-ORPHAN", "rows refer to rows that are gone"),
    ("W-TENANT", "rows refer to another organization"),
    ("W-FILE", "bytes of files are missing or do not fit"),
    ("W-FILERULE", "files of this kind are not accepted"),
    ("W-PARENT", "attachments of records that hold none here"),
    ("W-FORM", "forms of other records are left out"),
    ("W-QUESTION", "questions of unknown types are left out"),
    ("W-CONDITION", "display conditions that cannot be evaluated are left out"),
    ("W-RESPONSE", "repeated responses are left out"),
    ("W-FREETEXT", "free texts of options are left out"),
    ("W-SURVEYCLOSED", "surveys that take no responses have ended"),
    ("W-DRAFT", "further drafts and drafts of amendments are left out"),
    ("W-TEMPORARY", "votes become temporary, or final"),
    ("W-NOTIME", "meetings without a start are left out"),
    ("W-WAITING", "people on waiting lists are left out"),
    ("W-ACCOUNT", "accounts of other types are left out"),
    ("W-PASSWORD", "password hashes of other forms are left out"),
    ("W-EMAIL", "accounts get another address"),
    ("W-NICKNAME", "accounts get another nickname"),
    ("W-USERROLE", "roles of accounts are left out"),
    ("W-CLIENT", "API clients are left out"),
    ("W-ABILITY", "permissions of API clients are left out"),
    ("W-SECRET", "secrets of API clients are weak or replaced"),
    ("W-WEBHOOK", "webhook registrations are left out, or get another secret"),
    ("W-OAUTHAPP", "sign-in applications are left out"),
    ("W-NOTEXT", "texts in no language of this deployment"),
    ("W-LOCALE", "texts in languages that this deployment does not have"),
    ("W-JSON", "values of another form than expected, or too long"),
    ("W-INLINE", "texts link to files of the old installation"),
    ("W-SETTING", "settings without a counterpart"),
    ("W-TRANSLATION", "machine translation is off"),
    ("W-HOST", "secondary hosts that are addresses"),
    ("W-MACHINE", "machine translations are left out"),
];

/// Whether this is the code of a loss, which can be accepted.
pub fn is_loss(code: &str) -> bool {
    LOSSES.iter().any(|(loss, _)| *loss == code)
}

/// The most rows that the report lists for a code.
const MAX_IDS: usize = 10_000;
/// The most rows that a message names for a code.
const MAX_NAMED_IDS: usize = 20;
/// The most examples that the report has for a code, except W-NICKNAME.
const MAX_EXAMPLES: usize = 3;

/// How often a loss occurred, and where.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct LossCount {
    pub(crate) count: u64,
    /// The rows: `users 3`
    pub(crate) ids: Vec<String>,
    /// `{"table", "id", "from", "to"}`
    pub(crate) examples: Vec<Value>,
    /// Counts by locale, of W-LOCALE and W-MACHINE.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) locales: BTreeMap<String, u64>,
}

/// The stops and losses of a pass.
#[derive(Debug, Default)]
pub(crate) struct StopsAndLosses {
    stops: Vec<String>,
    losses: BTreeMap<&'static str, LossCount>,
}

impl StopsAndLosses {
    /// Adds a stop: `S-LOCALE`, and what is wrong.
    pub(crate) fn add_stop(&mut self, code: &str, text: &str) {
        let line = format!("{code}: {text}");
        if !self.stops.contains(&line) {
            self.stops.push(line);
        }
    }

    /// Counts a loss of a row.
    pub(crate) fn count_loss(&mut self, code: &'static str, table: &str, id: impl Display) -> &mut LossCount {
        let found = self.losses.entry(code).or_default();
        found.count += 1;
        let name = format!("{} {id}", table.strip_prefix("decidim_").unwrap_or(table));
        if found.ids.len() < MAX_IDS && found.ids.last() != Some(&name) {
            found.ids.push(name);
        }
        found
    }

    /// Counts a loss, with an example of the old and the new value. Examples have no personal data but nicknames.
    pub(crate) fn count_loss_with_example(
        &mut self,
        code: &'static str,
        table: &str,
        id: i64,
        from: &Value,
        to: &Value,
    ) {
        let found = self.count_loss(code, table, id);
        // Every new nickname is listed, because its owner must be informed.
        if found.examples.len() < MAX_EXAMPLES || code == "W-NICKNAME" {
            found
                .examples
                .push(serde_json::json!({ "table": table, "id": id.to_string(), "from": from, "to": to }));
        }
    }

    /// All stops, then the losses that are not accepted: one line each, the most harmful first.
    pub(crate) fn obstacles(&self, accepted: &AcceptedLosses) -> Vec<String> {
        let losses = self.ordered().filter(|(code, ..)| !accepted.has(code));
        let lines = losses.map(|(code, meaning, found)| {
            let named =
                found.ids.iter().take(MAX_NAMED_IDS).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if found.count > MAX_NAMED_IDS as u64 { ", ..." } else { "" };
            format!("{code}: {meaning}: {} ({named}{more})", found.count)
        });
        self.stops.iter().cloned().chain(lines).collect()
    }

    pub(crate) fn ordered(&self) -> impl Iterator<Item = (&'static str, &'static str, &LossCount)> {
        LOSSES.iter().filter_map(|(code, meaning)| Some((*code, *meaning, self.losses.get(code)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stops_come_first_then_losses_by_harm_with_the_first_ids() {
        let mut codes = StopsAndLosses::default();
        for id in 1..=25 {
            codes.count_loss("W-MACHINE", "decidim_users", id);
        }
        codes.count_loss("W-PERMISSION", "decidim_components", "2");
        codes.add_stop("S-JOBS", "1 job is pending");
        codes.add_stop("S-JOBS", "1 job is pending");
        let lines = codes.obstacles(&AcceptedLosses::Codes(["W-JSON".to_owned()].into()));
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], "S-JOBS: 1 job is pending");
        assert!(
            lines[1].starts_with("W-PERMISSION: ") && lines[1].ends_with(": 1 (components 2)"),
            "{lines:?}"
        );
        assert!(lines[2].contains(": 25 (users 1, ") && lines[2].ends_with("users 20, ...)"), "{lines:?}");
        assert_eq!(codes.obstacles(&AcceptedLosses::All).len(), 1, "stops cannot be accepted");
    }

    #[test]
    fn three_examples_are_kept_and_all_nicknames() {
        let mut codes = StopsAndLosses::default();
        for code in ["W-SETTING", "W-NICKNAME"] {
            for id in 1..=5 {
                codes.count_loss_with_example(code, "decidim_users", id, &json!("a.b"), &json!("a_b"));
            }
        }
        let examples: Vec<_> = codes.ordered().map(|(_, _, found)| found.examples.len()).collect();
        assert_eq!(examples, [5, 3]);
    }
}
