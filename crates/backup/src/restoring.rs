//! Checks and restores backups.

use crate::contents::Contents;
use crate::files::{self, Group, RestoredFiles};
use crate::manifest::{Manifest, Name};
use crate::parts::{bytes_of, fetch_part, manifest, names};
use crate::ports::{DatabaseCopies, DatabaseCopy, Opening, Plain, Target};
use civitas_attachments::{FileIntake, FileRegistry, FileStore};
use civitas_kernel::{Error, Result};
use serde::Serialize;

/// Reads backups of a target.
pub struct Restore<'a> {
    /// Where they are.
    pub target: Target<'a>,
    /// Decrypts them.
    pub opening: &'a dyn Opening,
    /// Has each object while it is checked.
    pub intake: &'a dyn FileIntake,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The name of the backup.
    pub name: Name,
    /// The number of tables.
    pub tables: u64,
    /// The number of their rows.
    pub rows: u64,
    /// The number of files of attachments.
    pub files: u64,
    /// Those that are missing or damaged in the target.
    pub missing: u64,
}

impl Restore<'_> {
    /// The manifest of a backup; without a name that of the newest complete one.
    ///
    /// # Errors
    /// `Internal` with a sentence when there is none, or it cannot be read. `Unavailable` when the target does not
    /// answer.
    pub async fn find(&self, name: Option<&Name>) -> Result<Manifest> {
        match name {
            Some(name) => manifest(self.target, name).await,
            None => match names(self.target).await?.complete.last() {
                Some(name) => manifest(self.target, name).await,
                None => Err(Error::internal("there is no complete backup")),
            },
        }
    }

    /// The copy of the database.
    ///
    /// # Errors
    /// `Internal` with a sentence when it was made with another engine, or a part is missing, damaged, or for other
    /// recipients.
    pub async fn database(&self, manifest: &Manifest, engine: crate::Engine) -> Result<DatabaseCopy> {
        if manifest.engine != engine {
            let made = manifest.engine;
            return Err(Error::internal(format!(
                "the backup is of {made}, and the configured database is {engine}: restore it with {made}, then move \
                 with `civitas export` and `civitas import`"
            )));
        }
        let fetch = |part| fetch_part(self.target, self.intake, self.opening, &manifest.name, part);
        let contents = bytes_of(fetch(&manifest.contents).await?).await?;
        let contents: Contents = serde_json::from_slice(&contents).map_err(Error::internal)?;
        let mut parts = Vec::new();
        for part in &manifest.database {
            let name = part.name.trim_start_matches("database/").trim_end_matches(".age");
            parts.push((name.to_owned(), fetch(part).await?));
        }
        Ok(DatabaseCopy { schema: manifest.schema.clone(), parts, contents })
    }

    /// The content of the file with the secret key; `None` if the backup does not have it.
    ///
    /// # Errors
    /// As [`database`](Self::database).
    pub async fn secret_key(&self, manifest: &Manifest) -> Result<Option<Vec<u8>>> {
        let Some(part) = &manifest.secret_key else { return Ok(None) };
        let content = fetch_part(self.target, self.intake, self.opening, &manifest.name, part).await?;
        bytes_of(content).await.map(Some)
    }

    /// Restores the database into a temporary one, and reads all files.
    ///
    /// # Errors
    /// `Internal` with a sentence when the database cannot be restored, or not as it was.
    pub async fn check(&self, manifest: &Manifest, database: &dyn DatabaseCopies) -> Result<Checked> {
        let copy = self.database(manifest, database.engine()).await?;
        let restored = database.check(&copy).await?;
        if let Some(difference) = copy.contents.difference(&restored) {
            return Err(Error::internal(format!("the restored database differs: {difference}")));
        }
        self.secret_key(manifest).await?;
        let group = self.group(manifest).await?;
        Ok(Checked {
            name: manifest.name.clone(),
            tables: restored.tables.len() as u64,
            rows: restored.rows(),
            files: manifest.files.count,
            missing: group.check(self.target, self.intake, self.opening).await?,
        })
    }

    /// Writes the files that the rows of `registry` name and `to` does not have. Can be repeated.
    ///
    /// # Errors
    /// `Internal` when the list of files is damaged. `Unavailable` when a store does not answer.
    pub async fn files(
        &self,
        manifest: &Manifest,
        registry: &dyn FileRegistry,
        to: &dyn FileStore,
    ) -> Result<RestoredFiles> {
        let group = self.group(manifest).await?;
        files::restore((registry, to, self.intake), self.target, self.opening, &group).await
    }

    async fn group(&self, manifest: &Manifest) -> Result<Group> {
        let list = &manifest.files.list;
        let list = fetch_part(self.target, self.intake, &Plain, &manifest.name, list).await?;
        Group::of_list(&manifest.files, list)
    }
}
