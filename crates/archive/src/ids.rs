//! The ids of new rows in an import that keeps ids (contract 13 §3.1).

use super::error::RecordError;
use civitas_application::Ports;
use civitas_kernel::{AnswerId, QuestionId};
use std::collections::BTreeMap;

/// The ids that an archive brings.
#[derive(Debug, Default)]
pub(super) struct ArchiveIds {
    /// Whether the import keeps them; otherwise the others are empty.
    pub(super) are_kept: bool,
    /// That of the current record.
    pub(super) own: Option<i64>,
    /// Those of the answers of the current record.
    pub(super) answers: Vec<(QuestionId, AnswerId)>,
    /// The highest of each id space.
    highest: BTreeMap<&'static str, i64>,
}

impl ArchiveIds {
    /// None so far.
    pub(super) fn new(are_kept: bool) -> Self {
        Self { are_kept, ..Self::default() }
    }

    /// Begins a record with this id.
    pub(super) fn begin(&mut self, own: Option<i64>) {
        self.own = own.filter(|_| self.are_kept);
        self.answers.clear();
    }

    /// Gives the rows that are added next in an id space these ids, which must be free; without ids, those that follow.
    /// Does nothing in an import that does not keep ids.
    pub(super) async fn assign(
        &mut self,
        ports: &dyn Ports,
        space: &'static str,
        ids: Vec<i64>,
    ) -> Result<(), RecordError> {
        if !self.are_kept {
            return Ok(());
        }
        self.check_free(ports, space, &ids).await?;
        Ok(ports.id_spaces().assign_next(space, ids).await?)
    }

    /// An error unless no row has one of these ids, which are about to be used.
    pub(super) async fn check_free(
        &mut self,
        ports: &dyn Ports,
        space: &'static str,
        ids: &[i64],
    ) -> Result<(), RecordError> {
        if let Some(taken) = ports.id_spaces().taken(space, ids).await? {
            return Err(format!("S-IDS: the id {taken} is taken").into());
        }
        if let Some(highest) = ids.iter().max() {
            let before = self.highest.entry(space).or_default();
            *before = (*before).max(*highest);
        }
        Ok(())
    }

    /// An error if a stored row has another id than the record brings.
    pub(super) fn check_same(&self, stored: Option<i64>) -> Result<(), RecordError> {
        match (self.own, stored) {
            (Some(own), Some(stored)) if own != stored => {
                Err(format!("S-IDS: exists with the id {stored} instead of {own}").into())
            }
            _ => Ok(()),
        }
    }

    /// Sets the id spaces past the ids that rows got.
    pub(super) async fn raise(&self, ports: &dyn Ports) -> Result<(), RecordError> {
        for (space, id) in &self.highest {
            ports.id_spaces().raise(space, *id).await?;
        }
        Ok(())
    }
}

/// The number in the stored id of a ref: the last part of `<kind>/<number>`.
pub(super) fn number_in(id: &str) -> Option<i64> {
    id.rsplit('/').next().and_then(|number| number.parse().ok())
}
