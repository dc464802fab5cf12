//! Makes a backup.

use crate::contents::Contents;
use crate::files::{CopiedFiles, FileCopy, Group, group};
use crate::manifest::{FilesOf, Manifest, Name, Part};
use crate::parts::{content_of, store_checked, store_part};
use crate::ports::{DatabaseCopies, DatabaseCopy, Guard, Plain, Sealing, Target};
use civitas_attachments::{Checksum, FileIntake, FileRegistry, FileStore};
use civitas_kernel::{Error, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;
use time::OffsetDateTime;

/// What a backup is made of.
pub struct Source<'a> {
    /// The database.
    pub database: &'a dyn DatabaseCopies,
    /// The rows of the files of attachments.
    pub registry: &'a dyn FileRegistry,
    /// Their bytes.
    pub files: &'a dyn FileStore,
    /// The content of the file with the secret key; `None` if the key is in the configuration.
    pub secret_key: Option<Vec<u8>>,
}

/// Makes backups.
pub struct Backup<'a> {
    /// What is copied.
    pub source: Source<'a>,
    /// Where it is stored.
    pub target: Target<'a>,
    /// Encrypts it.
    pub sealing: &'a dyn Sealing,
    /// Has each file while it is checked.
    pub intake: &'a dyn FileIntake,
    /// A directory for temporary files.
    pub work: PathBuf,
    /// The version of the program, for the manifest.
    pub version: &'a str,
}

/// A step of a backup, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Files of attachments are copied.
    Files,
    /// The database is copied.
    Database,
    /// The copy is restored into a temporary database.
    Check,
    /// The copy is stored.
    Store,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Its name.
    pub name: Name,
    /// The number of tables.
    pub tables: u64,
    /// The number of their rows.
    pub rows: u64,
    /// The stored bytes of the database.
    pub database_bytes: u64,
    /// The files of attachments.
    pub files: CopiedFiles,
    /// Whether it is encrypted.
    pub encrypted: bool,
}

impl Backup<'_> {
    /// Makes a backup; `observe` gets each step when it begins. No other backup of the database is made while the guard
    /// exists.
    ///
    /// Files are copied before the database and again after it: the second time those that came meanwhile. A file that
    /// came and was removed within the time of the copy of the database is the only one that a backup can lack.
    ///
    /// # Errors
    /// `Conflict` while another backup of this database is made. `Internal` with a sentence when the restored copy is
    /// not equal to the database. `Unavailable` when database or target do not answer, or the disk is full. The backup
    /// is then incomplete and never used.
    pub async fn run(
        &self,
        now: OffsetDateTime,
        observe: &(dyn Fn(Step) + Send + Sync),
    ) -> Result<(Made, Guard)> {
        let Some(guard) = self.source.database.lock().await? else {
            return Err(Error::Conflict("another backup of this database is being made".into()));
        };
        self.source.database.remove_leftovers().await?;
        let name = Name::new(now)?;
        let recipients = self.sealing.recipients();
        let mut files = self.file_copy(&recipients).await?;
        observe(Step::Files);
        files.run().await?;
        observe(Step::Database);
        let taken_at = civitas_kernel::clock::now();
        let copy = self.source.database.copy().await?;
        observe(Step::Check);
        let restored = self.source.database.check(&copy).await?;
        if let Some(difference) = copy.contents.difference(&restored) {
            return Err(Error::internal(format!("the restored copy differs: {difference}")));
        }
        observe(Step::Files);
        files.run().await?;
        observe(Step::Store);
        let DatabaseCopy { schema, parts, contents } = copy;
        let mut database = Vec::new();
        for (part, content) in parts {
            let part = format!("database/{part}{}", self.ending());
            database.push(store_part(self.target, self.sealing, &name, part, content).await?);
        }
        let manifest = Manifest {
            format: Manifest::FORMAT,
            civitas: self.version.to_owned(),
            name: name.clone(),
            taken_at,
            engine: self.source.database.engine(),
            schema,
            contents: self.store_contents(&name, &contents).await?,
            secret_key: self.store_key(&name).await?,
            files: self.store_list(&name, &files).await?,
            recipients,
            database,
        };
        self.store_manifest(&manifest).await?;
        let made = Made {
            name,
            tables: contents.tables.len() as u64,
            rows: contents.rows(),
            database_bytes: manifest.database.iter().map(|part| part.bytes).sum(),
            files: files.copied,
            encrypted: !manifest.recipients.is_empty(),
        };
        Ok((made, guard))
    }

    async fn file_copy(&self, recipients: &[String]) -> Result<FileCopy<'_>> {
        Ok(FileCopy {
            registry: self.source.registry,
            from: self.source.files,
            intake: self.intake,
            target: self.target,
            sealing: self.sealing,
            group: Group::of_target(self.target, group(recipients)).await?,
            files: HashMap::new(),
            copied: CopiedFiles::default(),
        })
    }

    /// The end of the names of encrypted parts.
    fn ending(&self) -> &'static str {
        if self.sealing.recipients().is_empty() { "" } else { ".age" }
    }

    async fn store_contents(&self, name: &Name, contents: &Contents) -> Result<Part> {
        let bytes = serde_json::to_vec(contents).map_err(Error::internal)?;
        let content = content_of(self.work.clone(), bytes).await?;
        let part = format!("contents.json{}", self.ending());
        store_part(self.target, self.sealing, name, part, content).await
    }

    /// A key that is not encrypted is not stored: with it, the backup would reveal every secret of the deployment.
    async fn store_key(&self, name: &Name) -> Result<Option<Part>> {
        let Some(key) = self.source.secret_key.clone().filter(|_| !self.sealing.recipients().is_empty())
        else {
            return Ok(None);
        };
        let content = content_of(self.work.clone(), key).await?;
        let part = format!("secret_key{}", self.ending());
        store_part(self.target, self.sealing, name, part, content).await.map(Some)
    }

    async fn store_list(&self, name: &Name, files: &FileCopy<'_>) -> Result<FilesOf> {
        let content = files.list(&self.work)?;
        let list = store_part(self.target, &Plain, name, "files.list.gz".to_owned(), content).await?;
        let CopiedFiles { count, missing, .. } = files.copied;
        Ok(FilesOf { group: files.group_name().to_owned(), list, count, missing })
    }

    async fn store_manifest(&self, manifest: &Manifest) -> Result<()> {
        let bytes = manifest.write()?;
        let mut checksum = Checksum::default();
        checksum.update(&bytes);
        let content = content_of(self.work.clone(), bytes).await?;
        let object = manifest.name.object(Manifest::OBJECT);
        store_checked(self.target.objects, &object, content, &checksum.finish()).await
    }
}
