//! The memory of an import does not depend on the length of the archive (contract 10 §1). The only test of its binary,
//! because it measures the memory of the process.

use civitas_archive::{ImportProgress, import};
use civitas_tests::{Engine, databases, import_options};
use civitas_tokens::Argon2Passwords;
use std::io::{BufReader, Read};
use time::macros::datetime;

/// Lines behind the head of the archive; every fourth has a long text.
const LINES: u64 = 2_000;

/// The bytes of the texts in one half of the archive.
const TEXTS: u64 = LINES / 8 * 24 * 2_500;

/// How much the second half of the file may add, in bytes: less than its texts.
const ALLOWANCE: u64 = 6 << 20;

const HEAD: &str = concat!(
    r#"{"type": "organization", "ref": "city", "host": "city.example", "name": {"en": "City"}, "#,
    r#""available_locales": ["en"], "default_locale": "en"}"#,
    "\n",
    r#"{"type": "space", "ref": "streets", "organization": "city", "manifest": "assemblies", "#,
    r#""slug": "streets", "title": {"en": "Streets"}}"#,
    "\n",
    r#"{"type": "component", "ref": "ideas", "organization": "city", "space": "streets", "#,
    r#""manifest": "proposals", "name": {"en": "Ideas"}}"#,
    "\n",
);

/// An archive that is never in memory as a whole: a user, a proposal of theirs, a vote and a role, again and
/// again.
struct Generated {
    line: u64,
    rest: Vec<u8>,
}

impl Generated {
    fn next_line(&self) -> String {
        let n = self.line / 4;
        let line = match self.line % 4 {
            0 => format!(
                r#""type": "user", "ref": "u{n}", "nickname": "user_{n}", "email": "user{n}@city.example", "name": "User {n}""#
            ),
            1 => format!(
                r#""type": "proposal", "ref": "p{n}", "component": "ideas", "authors": ["u{n}"], "published_at": "2026-02-02T08:00:00Z", "title": {{"en": "Proposal {n}"}}, "body": {{"en": "{}"}}"#,
                "A tree for every house. ".repeat(2_500)
            ),
            2 => format!(r#""type": "vote", "ref": "v{n}", "proposal": "p{n}", "user": "u{n}""#),
            _ => format!(
                r#""type": "role", "ref": "r{n}", "user": "u{n}", "kind": "space_private_member", "space": "streets""#
            ),
        };
        format!("{{{line}, \"organization\": \"city\"}}\n")
    }
}

impl Read for Generated {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() && self.line < LINES {
            self.rest = self.next_line().into_bytes();
            self.line += 1;
        }
        let length = to.len().min(self.rest.len());
        to[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Ok(length)
    }
}

/// The memory this program has allocated, in bytes; `None` where the system does not tell as Linux does.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[tokio::test]
async fn the_second_half_of_a_long_archive_takes_no_more_memory() {
    let options = import_options(datetime!(2026-11-21 10:00 UTC));
    for database in databases().await {
        let generated = Generated { line: 0, rest: Vec::new() };
        let input = BufReader::new(HEAD.as_bytes().chain(generated));
        let mut halfway = None;
        let mut progress = |at: ImportProgress| {
            if at.lines == LINES / 2 {
                halfway = memory();
            }
        };
        let report =
            import(&*database.store, &Argon2Passwords::new(), input, options, &mut progress).await.unwrap();
        assert_eq!(report.created["vote"], LINES / 4);
        if let (Some(before), Some(after)) = (halfway, memory()) {
            // SQLite has the written pages in its cache, up to 128 MiB, with the searchable texts beside the records. Held in
            // memory, the texts would be there once more.
            let pages = if database.engine == Engine::Sqlite { 2 * TEXTS } else { 0 };
            let added = after.saturating_sub(before);
            assert!(added < pages + ALLOWANCE, "{:?}: {added} bytes more than halfway", database.engine);
        }
    }
}
