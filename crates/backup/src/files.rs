//! Files of attachments in backups. A file never changes, so all backups of a target share one object for it.
//!
//! An object is named by the SHA-256 of the file's name and that of the stored bytes, so that a list of the target tells
//! what is there, and neither name nor content can be read from it.

use crate::manifest::FilesOf;
use crate::parts::{LineWriter, checksum_of, fetch, lines_of, store_checked};
use crate::ports::{Listed, Opening, Sealing, Target};
use civitas_attachments::{Checksum, Content, FileIntake, FileRegistry, FileStore, StoredFile};
use civitas_kernel::{Error, FileId, Result};
use futures_util::TryStreamExt;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The most rows of a page.
const PAGE: i64 = 200;
/// The group of files that are not encrypted.
const PLAIN: &str = "plain";
/// The number of hexadecimal digits of the SHA-256 of a file's name in the name of its object.
const KEY: usize = 32;

/// What copying files did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CopiedFiles {
    /// All files of the backup; a thumbnail is a file of its own.
    pub count: u64,
    /// Those that no earlier backup had.
    pub new: u64,
    /// The stored bytes of the new ones.
    pub new_bytes: u64,
    /// Files that the deployment should have and does not have, or has with other bytes.
    pub missing: u64,
}

/// What restoring files did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RestoredFiles {
    /// Files that were written.
    pub restored: u64,
    /// Files that were there already.
    pub present: u64,
    /// Files that the backup does not have, or has damaged.
    pub missing: u64,
}

/// The group of files for these recipients.
pub(crate) fn group(recipients: &[String]) -> String {
    if recipients.is_empty() {
        return PLAIN.to_owned();
    }
    let mut sorted = recipients.to_vec();
    sorted.sort();
    let mut checksum = Checksum::default();
    checksum.update(sorted.join("\n").as_bytes());
    checksum.finish().1[..16].to_owned()
}

/// An object of a group: its SHA-256 and length.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    sha256: String,
    bytes: u64,
}

/// The objects of a group by the key of their file.
pub(crate) struct Group {
    name: String,
    objects: HashMap<String, Object>,
}

/// The key of a file: it tells nothing about its name.
fn key_of(file: &str) -> String {
    let mut checksum = Checksum::default();
    checksum.update(file.as_bytes());
    checksum.finish().1[..KEY].to_owned()
}

/// The object's name in the target.
pub(crate) fn object_name(group: &str, key: &str, sha256: &str) -> String {
    format!("files/{group}/{}/{key}-{sha256}", &key[..2])
}

/// Key and SHA-256 of an object's name; `None` for other names.
fn parse(name: &str) -> Option<(&str, &str)> {
    let (key, sha256) = name.rsplit('/').next()?.split_once('-')?;
    (key.len() == KEY && sha256.len() == 64).then_some((key, sha256))
}

impl Group {
    /// Lists what the target has.
    pub(crate) async fn of_target(target: Target<'_>, name: String) -> Result<Self> {
        let mut objects = HashMap::new();
        let mut listed = target.names.list(&format!("files/{name}"));
        while let Some(Listed { name, bytes }) = listed.try_next().await? {
            if let Some((key, sha256)) = parse(&name) {
                objects.insert(key.to_owned(), Object { sha256: sha256.to_owned(), bytes });
            }
        }
        Ok(Self { name, objects })
    }

    /// Reads the list of a backup.
    pub(crate) fn of_list(files: &FilesOf, list: Content) -> Result<Self> {
        let damaged = || Error::internal("the list of files is damaged");
        let mut objects = HashMap::new();
        for line in lines_of(list)? {
            let line = line?;
            let (name, bytes) = line.split_once(' ').ok_or_else(damaged)?;
            let (key, sha256) = parse(name).ok_or_else(damaged)?;
            let bytes = bytes.parse().map_err(|_| damaged())?;
            objects.insert(key.to_owned(), Object { sha256: sha256.to_owned(), bytes });
        }
        if objects.len() as u64 != files.count {
            return Err(damaged());
        }
        Ok(Self { name: files.group.clone(), objects })
    }

    /// The names of the objects in the target.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.objects.iter().map(|(key, object)| object_name(&self.name, key, &object.sha256))
    }

    /// Fetches and checks every object. Returns the number of those that are missing or damaged.
    pub(crate) async fn check(
        &self,
        target: Target<'_>,
        intake: &dyn FileIntake,
        opening: &dyn Opening,
    ) -> Result<u64> {
        let mut missing = 0;
        for key in self.objects.keys() {
            if self.fetch(target, intake, opening, key).await?.is_none() {
                missing += 1;
            }
        }
        Ok(missing)
    }

    /// A file, decrypted. `None`: the backup does not have it, or has it damaged.
    async fn fetch(
        &self,
        target: Target<'_>,
        intake: &dyn FileIntake,
        opening: &dyn Opening,
        key: &str,
    ) -> Result<Option<Content>> {
        let Some(Object { sha256, bytes }) = self.objects.get(key) else { return Ok(None) };
        let name = object_name(&self.name, key, sha256);
        let found = fetch(target.objects, intake, &name, (*bytes, sha256)).await?;
        match found {
            Some(sealed) => opening.open(sealed).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Copies files into a target.
pub(crate) struct FileCopy<'a> {
    pub registry: &'a dyn FileRegistry,
    pub from: &'a dyn FileStore,
    pub intake: &'a dyn FileIntake,
    pub target: Target<'a>,
    pub sealing: &'a dyn Sealing,
    /// What the target has.
    pub group: Group,
    /// The files of this backup, by key.
    pub files: HashMap<String, Object>,
    pub copied: CopiedFiles,
}

impl FileCopy<'_> {
    /// Copies all files that are stored now and are not in the target. Called again, it copies those that came
    /// meanwhile.
    pub(crate) async fn run(&mut self) -> Result<()> {
        let mut after = None;
        let mut missing = 0;
        loop {
            let page = self.registry.stored_after(after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(*last);
            for (id, file) in page {
                for (object, length, sha256) in objects_of(&file) {
                    if !self.copy(&object, length, sha256).await? && is_stored(self.registry, id).await? {
                        tracing::warn!(object, "a file is missing or damaged; the backup does not have it");
                        missing += 1;
                    }
                }
            }
        }
        self.copied.missing = missing;
        self.copied.count = self.files.len() as u64;
        Ok(())
    }

    /// False: the file is absent, or has other bytes than its row says.
    async fn copy(&mut self, object: &str, length: u64, sha256: Option<&str>) -> Result<bool> {
        let key = key_of(object);
        if self.files.contains_key(&key) {
            return Ok(true);
        }
        if let Some(present) = self.group.objects.get(&key) {
            self.files.insert(key, present.clone());
            return Ok(true);
        }
        let sha256 = match sha256 {
            Some(sha256) => sha256.to_owned(),
            None => match checksum_in(self.from, object, length).await? {
                Some(sha256) => sha256,
                None => return Ok(false),
            },
        };
        let Some(plain) = fetch_lenient(self.from, self.intake, object, (length, &sha256)).await else {
            return Ok(false);
        };
        let content = self.sealing.seal(plain).await?;
        let sealed = checksum_of(&content).await?;
        let name = object_name(&self.group.name, &key, &sealed.1);
        store_checked(self.target.objects, &name, content, &sealed).await?;
        self.copied.new += 1;
        self.copied.new_bytes += sealed.0;
        self.files.insert(key, Object { sha256: sealed.1, bytes: sealed.0 });
        Ok(true)
    }

    /// The list of the files of this backup.
    pub(crate) fn list(&self, directory: &Path) -> Result<Content> {
        let mut writer = LineWriter::new(directory)?;
        for (key, object) in &self.files {
            let name = object_name(&self.group.name, key, &object.sha256);
            writer.write(&format!("{name} {}", object.bytes))?;
        }
        writer.finish()
    }

    /// The group.
    pub(crate) fn group_name(&self) -> &str {
        &self.group.name
    }
}

/// Writes the files of a backup that a deployment does not have.
pub(crate) async fn restore(
    (registry, to, intake): (&dyn FileRegistry, &dyn FileStore, &dyn FileIntake),
    target: Target<'_>,
    opening: &dyn Opening,
    group: &Group,
) -> Result<RestoredFiles> {
    let (mut done, mut after) = (RestoredFiles::default(), None);
    loop {
        let page = registry.stored_after(after, PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(done) };
        after = Some(*last);
        for (_, file) in page {
            for (object, length, sha256) in objects_of(&file) {
                if is_there(to, &object, length, sha256).await? {
                    done.present += 1;
                    continue;
                }
                let fetched = group.fetch(target, intake, opening, &key_of(&object)).await?;
                if put_back(to, &object, (length, sha256), fetched).await? {
                    done.restored += 1;
                } else {
                    tracing::warn!(object, "the backup does not have this file");
                    done.missing += 1;
                }
            }
        }
    }
}

/// Writes a file if it has the length and SHA-256 of its row.
async fn put_back(
    to: &dyn FileStore,
    object: &str,
    (length, sha256): (u64, Option<&str>),
    fetched: Option<Content>,
) -> Result<bool> {
    let Some(content) = fetched else { return Ok(false) };
    let found = checksum_of(&content).await?;
    if found.0 != length || sha256.is_some_and(|sha256| sha256 != found.1) {
        return Ok(false);
    }
    store_checked(to, object, content, &found).await?;
    Ok(true)
}

/// Whether a deployment has a file with these bytes.
async fn is_there(store: &dyn FileStore, object: &str, length: u64, sha256: Option<&str>) -> Result<bool> {
    let found = checksum_in(store, object, length).await?;
    Ok(found.is_some_and(|found| sha256.is_none_or(|sha256| sha256 == found)))
}

/// The objects of a file: their names, lengths, and SHA-256 where the row has it.
fn objects_of(file: &StoredFile) -> impl Iterator<Item = (String, u64, Option<&str>)> {
    let whole = (file.object.clone(), file.byte_size.unsigned_abs(), Some(file.sha256.as_str()));
    let thumbnail = file.thumbnail_bytes.map(|bytes| (file.thumbnail_object(), bytes.unsigned_abs(), None));
    std::iter::once(whole).chain(thumbnail)
}

/// Whether the row still exists, and its bytes are not to be deleted.
async fn is_stored(registry: &dyn FileRegistry, id: FileId) -> Result<bool> {
    let found = registry.stored_after(Some(FileId(id.0 - 1)), 1).await?;
    Ok(found.first().is_some_and(|(found, _)| *found == id))
}

/// The SHA-256 of an object; `None` when it is absent or has another length.
async fn checksum_in(store: &dyn FileStore, object: &str, length: u64) -> Result<Option<String>> {
    // An object that is shorter is an error of the store.
    let Ok(Some(mut bytes)) = store.read(object, 0..length + 1).await else {
        store.read(object, 0..0).await?;
        return Ok(None);
    };
    let mut checksum = Checksum::default();
    while let Some(chunk) = bytes.try_next().await? {
        checksum.update(&chunk);
    }
    let (found, sha256) = checksum.finish();
    Ok((found == length).then_some(sha256))
}

/// As [`fetch`]; an object that cannot be read is as one that is absent.
async fn fetch_lenient(
    store: &dyn FileStore,
    intake: &dyn FileIntake,
    object: &str,
    expected: (u64, &str),
) -> Option<Content> {
    match fetch(store, intake, object, expected).await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(object, %error, "a file cannot be read");
            None
        }
    }
}
