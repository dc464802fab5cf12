//! Removes old backups, and files that no backup has.

use crate::files::Group;
use crate::manifest::{Manifest, Name};
use crate::parts::{Names, fetch_part, manifest, names};
use crate::ports::{Listed, Plain, Target};
use civitas_attachments::FileIntake;
use civitas_kernel::Result;
use futures_util::TryStreamExt;
use serde::Serialize;
use std::collections::HashSet;
use time::{Duration, OffsetDateTime};

/// How long an incomplete backup is kept: it may be one that is being made.
const INCOMPLETE: Duration = Duration::days(1);

/// Removes old backups of a target.
pub struct Retention<'a> {
    /// The target.
    pub target: Target<'a>,
    /// Has each list while it is read.
    pub intake: &'a dyn FileIntake,
    /// How long backups are kept; `None`: for ever. The newest complete backup is never removed.
    pub keep: Option<Duration>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Backups, complete or not.
    pub backups: u64,
    /// Files of attachments that no backup has any more.
    pub files: u64,
}

impl Retention<'_> {
    /// Removes what is old. Call it while no backup is made: after one, with its guard.
    ///
    /// # Errors
    /// `Unavailable` when the target does not answer. `Internal` when the list of files of a backup that stays cannot be
    /// read; then no file is removed.
    pub async fn run(&self, now: OffsetDateTime) -> Result<Removed> {
        let Names { mut complete, mut incomplete } = names(self.target).await?;
        let newest = complete.pop();
        let is_older = |name: &Name, age: Duration| name.begun_at().is_some_and(|begun| begun < now - age);
        let (old, mut kept): (Vec<_>, Vec<_>) =
            complete.into_iter().partition(|name| self.keep.is_some_and(|keep| is_older(name, keep)));
        kept.extend(newest);
        incomplete.retain(|name| is_older(name, INCOMPLETE));
        let mut removed = Removed::default();
        for name in old.iter().chain(&incomplete) {
            self.remove(name).await?;
            removed.backups += 1;
        }
        if removed.backups > 0 {
            removed.files = self.remove_files(&kept).await?;
        }
        Ok(removed)
    }

    /// Removes the manifest first: what is left of a backup then is an incomplete one.
    async fn remove(&self, name: &Name) -> Result<()> {
        self.target.objects.delete(&name.object(Manifest::OBJECT)).await?;
        let mut listed = self.target.names.list(&format!("backups/{name}"));
        while let Some(Listed { name, .. }) = listed.try_next().await? {
            self.target.objects.delete(&name).await?;
        }
        Ok(())
    }

    async fn remove_files(&self, kept: &[Name]) -> Result<u64> {
        let mut used = HashSet::new();
        for name in kept {
            let manifest = manifest(self.target, name).await?;
            let list = &manifest.files.list;
            let list = fetch_part(self.target, self.intake, &Plain, name, list).await?;
            used.extend(Group::of_list(&manifest.files, list)?.names());
        }
        let mut removed = 0;
        let mut listed = self.target.names.list("files");
        while let Some(Listed { name, .. }) = listed.try_next().await? {
            if !used.contains(&name) {
                self.target.objects.delete(&name).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
