//! The first pass of an import: checks every line, and hashes passwords. It holds no transaction, so that others can
//! write in the meantime. The second pass checks again what depends on the database.

use super::context::{ImportOptions, RecordType};
use super::error::{ImportError, RecordError};
use super::lines::{Lines, LongTexts};
use super::passwords::{PasswordHasher, PreparedPasswords};
use super::prepared_files::KINDS_WITH_FILES;
use super::progress::{Pass, Progress};
use super::record::{self, Head, Record};
use super::refs::{RecordId, unknown};
use super::types;
use crate::Store;
use civitas_accounts::Passwords;
use civitas_kernel::{AdministratorId, OrganizationId, Result as StoreResult, UserId};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

/// The most refs of the file that are remembered: 16 MB. References are not checked in this pass when there are more.
const MAX_REFS: usize = 1_000_000;

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
struct Check<'a> {
    store: &'a dyn Store,
    options: ImportOptions<'a>,
    types: Vec<Box<dyn RecordType>>,
    known: KnownRefs,
    /// The organizations by ref; `None`: it does not exist yet.
    organizations: HashMap<String, Option<OrganizationId>>,
    has_files: bool,
    hasher: PasswordHasher<'a>,
}

/// The result of the first pass.
pub(super) struct Checked {
    /// The hashed passwords.
    pub(super) passwords: PreparedPasswords,
    /// Whether there are records that can have files.
    pub(super) has_files: bool,
}

/// Checks all lines of an archive.
pub(super) async fn check(
    store: &dyn Store,
    passwords: &dyn Passwords,
    input: impl BufRead + Send,
    options: ImportOptions<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Checked, ImportError> {
    let mut check = Check {
        store,
        options,
        types: types::all(),
        known: KnownRefs::default(),
        organizations: HashMap::new(),
        has_files: false,
        hasher: PasswordHasher::new(passwords).map_err(|error| ImportError::Store(0, error))?,
    };
    let mut lines = Lines::new(input);
    loop {
        let (line, count) = match lines.next() {
            Ok(None) => break,
            Ok(Some(line)) => (record::read(line), lines.count),
            Err(error) => return Err(RecordError::from(error.to_string()).at(lines.count, None)),
        };
        let (head, members) = line.map_err(|error| error.at(count, None))?;
        let long_texts = lines.long_texts();
        let checked = check.record(&head, members, (count, &long_texts)).await;
        checked.map_err(|error| error.at(count, Some((head.kind, head.reference))))?;
        progress(Progress { pass: Pass::Check, lines: lines.count, bytes: lines.bytes });
    }
    let passwords = check.hasher.finish().await.map_err(|error| ImportError::Store(0, error))?;
    Ok(Checked { passwords, has_files: check.has_files })
}

impl Check<'_> {
    async fn record(
        &mut self,
        head: &Head,
        members: Map<String, Value>,
        (line, long_texts): (u64, &LongTexts),
    ) -> Result<(), RecordError> {
        let own = head.organization.as_deref();
        let organization = self.organization(own).await?;
        // Its number is needed in the second pass alone.
        let record = Record { organization: own.map(|_| OrganizationId(0)), existing_id: None, members };
        let kind = types::find(&mut self.types, &head.kind);
        let kind = kind.ok_or_else(|| format!("type {:?} is not known", head.kind))?;
        kind.check_fields(&record, self.options, long_texts)?;
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
        let id = id.ok_or_else(|| unknown(types::ORGANIZATION, reference))?;
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
                return Err(unknown(kind, reference));
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
    head: &Head,
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
                let found = administrators.find_by_email(&email.trim().to_lowercase()).await?;
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
