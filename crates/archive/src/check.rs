//! The first pass of an import: checks every line, and hashes passwords. It holds no transaction, so that others can
//! write in the meantime. The second pass checks again what depends on the database.

use super::context::{ImportOptions, RecordType};
use super::error::{ImportError, RecordError};
use super::first_record::FirstRecord;
use super::lines::{LineReader, LongTexts};
use super::passwords::{PasswordHasher, PreparedPassword};
use super::prepared::{KINDS_WITH_FILES, PreparedLines};
use super::progress::{ImportPass, ImportProgress};
use super::record::{self, ArchiveRecord, RecordHead};
use super::refs::{RecordId, unknown_ref};
use super::types;
use civitas_accounts::{Passwords, normal_email};
use civitas_application::Store;
use civitas_kernel::{AdministratorId, OrganizationId, Result as StoreResult, UserId};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;
use std::panic::resume_unwind;
use std::thread;

/// The most refs of the file that are remembered: 16 MB. References are not checked in this pass when there are more.
const MAX_REFS: usize = 1_000_000;

/// The bytes of lines that are parsed at the same time, without the last line.
const BATCH_BYTES: usize = 1 << 20;

/// The least lines for a thread of their own.
const MIN_LINES: usize = 64;

/// Members that are a ref or a list of refs, in the order of the checks, and the types of the records they refer to.
const REFERENCES: [(&str, &str); 15] = [
    ("component", "component"),
    ("space", "space"),
    ("survey", "survey"),
    ("meeting", "meeting"),
    ("proposal", "proposal"),
    ("questionnaire", "questionnaire"),
    ("question", "question"),
    ("condition_question", "question"),
    ("answer_option", "answer_option"),
    ("user", "user"),
    ("author", "user"),
    ("authors", "user"),
    ("registrations", "user"),
    ("api_client", "api_client"),
    ("collection", "attachment_collection"),
];

/// The refs in the members of a record, with the types of the records they refer to.
pub(super) fn references(members: &Map<String, Value>) -> Vec<(&'static str, &str)> {
    let mut found = Vec::new();
    for (member, kind) in REFERENCES {
        match members.get(member) {
            Some(Value::String(one)) => found.push((kind, one.as_str())),
            Some(Value::Array(several)) => {
                found.extend(several.iter().filter_map(Value::as_str).map(|one| (kind, one)));
            }
            _ => {}
        }
    }
    found
}

/// The refs of the lines that were read.
#[derive(Default)]
struct KnownRefs {
    /// Digests of organization, type and ref.
    known: HashSet<u64>,
    is_full: bool,
}

impl KnownRefs {
    fn digest(organization: Option<&str>, kind: &str, reference: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (organization, kind, reference).hash(&mut hasher);
        hasher.finish()
    }

    fn add(&mut self, organization: Option<&str>, kind: &str, reference: &str) {
        self.is_full |= self.known.len() >= MAX_REFS;
        if !self.is_full {
            self.known.insert(Self::digest(organization, kind, reference));
        }
    }

    fn has(&self, organization: Option<&str>, kind: &str, reference: &str) -> bool {
        self.is_full || self.known.contains(&Self::digest(organization, kind, reference))
    }
}

/// The first pass over one archive.
struct ArchiveCheck<'a> {
    store: &'a dyn Store,
    options: ImportOptions<'a>,
    types: Vec<Box<dyn RecordType>>,
    known: KnownRefs,
    /// The organizations by ref; `None`: it does not exist yet.
    organizations: HashMap<String, Option<OrganizationId>>,
    has_files: bool,
    /// Whether a record was read.
    has_records: bool,
    hasher: PasswordHasher<'a>,
}

/// The result of the first pass.
pub(super) struct CheckedArchive {
    /// The hashed passwords.
    pub(super) passwords: PreparedLines<PreparedPassword>,
    /// Whether there are records that can have files.
    pub(super) has_files: bool,
}

/// Checks all lines of an archive.
pub(super) async fn check(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(ImportProgress) + Send),
) -> Result<CheckedArchive, ImportError> {
    let mut check = ArchiveCheck {
        store,
        options,
        types: types::all_record_types(),
        known: KnownRefs::default(),
        organizations: HashMap::new(),
        has_files: false,
        has_records: false,
        hasher: PasswordHasher::new(passwords).map_err(|error| ImportError::Store(0, error))?,
    };
    let mut lines = LineReader::new(input);
    loop {
        let (batch, end) = read_batch(&mut lines);
        let parsed = in_parallel(&batch, |line| check.parse(line));
        for (RawLine { count, bytes, .. }, parsed) in batch.iter().zip(parsed) {
            let ParsedLine { head, record, fields } = parsed.map_err(|error| error.at_line(*count, None))?;
            let checked = check.record(&head, record, fields, *count).await;
            checked.map_err(|error| error.at_line(*count, Some((head.kind, head.reference))))?;
            progress(ImportProgress { pass: ImportPass::Check, lines: *count, bytes: *bytes });
        }
        if let Some(end) = end {
            end?;
            break;
        }
    }
    let passwords = check.hasher.finish().await.map_err(|error| ImportError::Store(0, error))?;
    Ok(CheckedArchive { passwords, has_files: check.has_files })
}

/// A line that is not parsed yet.
struct RawLine {
    text: String,
    long_texts: LongTexts,
    /// The number of the line.
    count: u64,
    /// The number of bytes of the archive up to its end.
    bytes: u64,
}

/// A line whose members were checked as far as they can be without other lines.
struct ParsedLine {
    head: RecordHead,
    record: ArchiveRecord,
    fields: Result<(), RecordError>,
}

/// The next lines, and how the archive ends if it does after them. Long texts are in open files: a line with some is the
/// last.
fn read_batch(lines: &mut LineReader<impl BufRead>) -> (Vec<RawLine>, Option<Result<(), ImportError>>) {
    let (mut batch, mut length) = (Vec::new(), 0);
    while length < BATCH_BYTES {
        let text = match lines.next() {
            Ok(None) => return (batch, Some(Ok(()))),
            Ok(Some(text)) => text.to_owned(),
            Err(error) => {
                return (batch, Some(Err(RecordError::from(error.to_string()).at_line(lines.count, None))));
            }
        };
        length += text.len();
        let long_texts = lines.long_texts();
        let is_last = !long_texts.is_empty();
        batch.push(RawLine { text, long_texts, count: lines.count, bytes: lines.bytes });
        if is_last {
            break;
        }
    }
    (batch, None)
}

/// The results for all items, in their order; each core works on a part of them.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut parts = items.chunks(items.len().div_ceil(cores).max(MIN_LINES));
    let first = parts.next().unwrap_or_default();
    let on_part = |part: &[T]| part.iter().map(&work).collect::<Vec<_>>();
    thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || on_part(part))).collect();
        let mut results = on_part(first);
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    })
}

impl ArchiveCheck<'_> {
    /// Parses a line, and checks its members.
    fn parse(&self, line: &RawLine) -> Result<ParsedLine, RecordError> {
        let (head, members) = record::read(&line.text)?;
        // Its number is needed in the second pass alone.
        let organization = head.organization.as_ref().map(|_| OrganizationId(0));
        let record = ArchiveRecord { organization, existing_id: None, members };
        let kind = self.types.iter().find(|kind| kind.name() == head.kind);
        let fields = match kind {
            // It is checked as the first record.
            None if head.kind == record::ARCHIVE => Ok(()),
            Some(kind) => kind.check_fields(&record, self.options, &line.long_texts),
            None => Err(format!("type {:?} is not known", head.kind).into()),
        };
        Ok(ParsedLine { head, record, fields })
    }

    /// Checks what follows from other lines and from the database.
    async fn record(
        &mut self,
        head: &RecordHead,
        record: ArchiveRecord,
        fields: Result<(), RecordError>,
        line: u64,
    ) -> Result<(), RecordError> {
        let is_first = !std::mem::replace(&mut self.has_records, true);
        if head.kind == record::ARCHIVE {
            return FirstRecord::read(head, &record, self.options.locales, is_first).map(drop);
        }
        let own = head.organization.as_deref();
        let organization = self.organization(own).await?;
        fields?;
        self.has_files |= KINDS_WITH_FILES.contains(&head.kind.as_str());
        let members = &record.members;
        self.check_references(own, organization, members).await?;
        self.known.add(own, &head.kind, &head.reference);
        if head.kind == types::ORGANIZATION {
            let id = organization_id(self.store, &head.reference, members).await?;
            self.organizations.insert(head.reference.clone(), id);
        }
        if let Some(password) = members.get("password").and_then(Value::as_str) {
            let seen = stored_hash(self.store, organization, head, members).await?;
            self.hasher.add(line, password, seen).await?;
        }
        Ok(())
    }

    /// The organization of a ref, which an earlier line or an earlier import has. `None`: it does not exist yet.
    async fn organization(&mut self, reference: Option<&str>) -> Result<Option<OrganizationId>, RecordError> {
        let Some(reference) = reference else { return Ok(None) };
        if let Some(found) = self.organizations.get(reference) {
            return Ok(*found);
        }
        let found = self.store.refs().find(None, types::ORGANIZATION, reference).await?;
        let id = found.as_deref().and_then(OrganizationId::parse);
        let id = id.ok_or_else(|| unknown_ref(types::ORGANIZATION, reference))?;
        self.organizations.insert(reference.to_owned(), Some(id));
        Ok(Some(id))
    }

    /// An error for a ref without an earlier line and without a record in the database.
    async fn check_references(
        &self,
        own: Option<&str>,
        organization: Option<OrganizationId>,
        members: &Map<String, Value>,
    ) -> Result<(), RecordError> {
        for (kind, reference) in references(members) {
            if self.known.has(own, kind, reference) {
                continue;
            }
            let is_new = own.is_some() && organization.is_none();
            if is_new || self.store.refs().find(organization, kind, reference).await?.is_none() {
                return Err(unknown_ref(kind, reference));
            }
        }
        Ok(())
    }
}

/// The id of an organization in an archive, by ref, else by host; `None`: it does not exist yet.
pub(super) async fn organization_id(
    store: &dyn Store,
    reference: &str,
    members: &Map<String, Value>,
) -> StoreResult<Option<OrganizationId>> {
    let found = store.refs().find(None, types::ORGANIZATION, reference).await?;
    if let Some(id) = found.as_deref().and_then(OrganizationId::parse)
        && store.organizations().find(id).await?.is_some()
    {
        return Ok(Some(id));
    }
    match members.get("host").and_then(Value::as_str) {
        Some(host) => store.organizations().find_by_host(&host.trim().to_lowercase()).await,
        None => Ok(None),
    }
}

/// The hash that the account of a record has now; `None` without an account or a password.
async fn stored_hash(
    store: &dyn Store,
    organization: Option<OrganizationId>,
    head: &RecordHead,
    members: &Map<String, Value>,
) -> StoreResult<Option<String>> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    if head.organization.is_some() && organization.is_none() {
        return Ok(None);
    }
    let id = store.refs().find(organization, &head.kind, &head.reference).await?;
    let Some(organization) = organization else {
        let administrators = store.administrators();
        let found = match id.as_deref().and_then(AdministratorId::parse) {
            Some(id) => administrators.find(id).await?,
            None => None,
        };
        return Ok(match (found, text("email")) {
            (Some(found), _) => found.password,
            (None, Some(email)) => {
                let found = administrators.find_by_email(&normal_email(email)).await?;
                found.and_then(|(_, administrator)| administrator.password)
            }
            (None, None) => None,
        });
    };
    let found = match id.as_deref().and_then(UserId::parse) {
        Some(id) => store.users().find(organization, id).await?,
        None => None,
    };
    Ok(match (found, text("nickname")) {
        (Some(found), _) => found.password_hash,
        (None, Some(nickname)) => {
            let found = store.users().find_by_nickname(organization, nickname).await?;
            found.and_then(|(_, user)| user.password_hash)
        }
        (None, None) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_whatever_their_number() {
        for count in [0, 1, MIN_LINES, 3 * MIN_LINES + 1] {
            let items: Vec<_> = (0..count).collect();
            let expected: Vec<_> = items.iter().map(|item| item * 2).collect();
            assert_eq!(in_parallel(&items, |item| item * 2), expected);
        }
    }

    #[test]
    fn lines_are_read_in_batches_up_to_the_end() {
        let line = format!("{{\"a\": \"{}\"}}\n", "x".repeat(BATCH_BYTES / 2));
        let archive = line.repeat(3);
        let mut lines = LineReader::new(archive.as_bytes());
        let counts = |batch: Vec<RawLine>| batch.iter().map(|line| line.count).collect::<Vec<_>>();
        let (batch, end) = read_batch(&mut lines);
        assert_eq!((counts(batch), end.is_some()), (vec![1, 2], false));
        let (batch, end) = read_batch(&mut lines);
        assert_eq!((counts(batch), end.is_some_and(|end| end.is_ok())), (vec![3], true));
    }
}
