//! The ids of new records, for imports that keep ids.

use crate::columns::cached_by_text;
use crate::engine::{Conn, Db, dialect};
use crate::schema::id_floors;
use crate::session::{ExecuteExt, LoadRowsExt, Session, borrowed_connection};
use async_trait::async_trait;
use civitas_application::IdSpaces;
use civitas_kernel::{Error, Result, SpaceKind};
use civitas_spaces::ComponentEntryKind;
use diesel::dsl::sql_query;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::sql_types::BigInt;

/// The tables whose ids the engine assigns, by id space.
const TABLES: [(&str, &str); 22] = [
    ("organization", "organizations"),
    ("system_admin", "administrators"),
    ("user", "users"),
    ("api_client", "api_clients"),
    ("webhook_registration", "webhook_registrations"),
    ("step", "steps"),
    ("role", "roles"),
    ("component", "components"),
    ("proposal_state", "proposal_states"),
    ("proposal", "proposals"),
    ("vote", "votes"),
    ("meeting", "meetings"),
    ("post", "posts"),
    ("survey", "surveys"),
    ("questionnaire", "questionnaires"),
    ("question", "questions"),
    ("matrix_row", "matrix_rows"),
    ("answer_option", "answer_options"),
    ("display_condition", "display_conditions"),
    ("questionnaire_response", "answers"),
    ("attachment_collection", "attachment_collections"),
    ("attachment", "attachments"),
];

/// An id space: where its ids are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdSpace {
    /// The ids of a table.
    Table(&'static str),
    /// The numbers of a kind: the table, its column of kinds, and the kind.
    Kind(&'static str, &'static str, &'static str),
}

impl IdSpace {
    fn parse(space: &str) -> Result<Self> {
        let table = TABLES.iter().find(|(name, _)| *name == space).map(|(_, table)| Self::Table(table));
        let kind = || SpaceKind::parse(space).map(|kind| Self::Kind("spaces", "manifest", kind.as_str()));
        let entry =
            || ComponentEntryKind::parse(space).map(|kind| Self::Kind("entries", "kind", kind.as_str()));
        let found = table.or_else(kind).or_else(entry);
        found.ok_or_else(|| Error::rejected(format!("id space {space:?} is not known")))
    }

    /// The name by which the store of the records asks for assigned ids.
    fn name(self) -> &'static str {
        match self {
            Self::Table(name) | Self::Kind(_, _, name) => name,
        }
    }
}

/// The lowest of these ids that a row has.
struct TakenIdQuery<'a> {
    space: IdSpace,
    ids: &'a [i64],
}

cached_by_text! { [] TakenIdQuery<'_>: BigInt }

impl QueryFragment<Db> for TakenIdQuery<'_> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Db>) -> QueryResult<()> {
        if self.ids.len() != 1 {
            pass.unsafe_to_cache_prepared();
        }
        pass.push_sql(&match self.space {
            IdSpace::Table(table) => format!("SELECT id FROM {table} WHERE id IN ("),
            IdSpace::Kind(table, column, kind) => {
                format!("SELECT id FROM {table} WHERE {column} = '{kind}' AND id IN (")
            }
        });
        for (index, id) in self.ids.iter().enumerate() {
            pass.push_sql(if index == 0 { "" } else { ", " });
            pass.push_bind_param::<BigInt, _>(id)?;
        }
        pass.push_sql(") ORDER BY id LIMIT 1");
        Ok(())
    }
}

/// The number that new rows of a kind are above.
pub(crate) async fn highest_reserved_id(connection: &mut Conn, kind: &str) -> Result<i64> {
    let floor = id_floors::table.filter(id_floors::kind.eq(kind)).select(id_floors::last_id);
    let found: Option<i64> = floor.first_from(borrowed_connection(connection)).await?;
    Ok(found.unwrap_or_default())
}

#[async_trait]
impl IdSpaces for Session {
    async fn taken(&self, space: &str, ids: &[i64]) -> Result<Option<i64>> {
        let space = IdSpace::parse(space)?;
        if ids.is_empty() { Ok(None) } else { TakenIdQuery { space, ids }.row_from(self.read()).await }
    }

    async fn assign_next(&self, space: &str, ids: Vec<i64>) -> Result<()> {
        self.assign_ids(IdSpace::parse(space)?.name(), ids)
    }

    async fn raise(&self, space: &str, id: i64) -> Result<()> {
        // The names are constants and the id is a number, so that they can be part of the text.
        let statements = match IdSpace::parse(space)? {
            IdSpace::Table(table) => dialect::raise_ids(table, id),
            IdSpace::Kind(_, _, kind) => vec![format!(
                "INSERT INTO id_floors (kind, last_id) VALUES ('{kind}', {id}) ON CONFLICT (kind) DO UPDATE \
                 SET last_id = excluded.last_id WHERE id_floors.last_id < excluded.last_id"
            )],
        };
        for statement in statements {
            sql_query(statement).done_on(self.write()).await?;
        }
        Ok(())
    }

    async fn raise_all(&self, id: i64) -> Result<()> {
        let tables = TABLES.iter().map(|(space, _)| *space);
        let kinds = SpaceKind::NAMES.iter().chain(ComponentEntryKind::NAMES).copied();
        for space in tables.chain(kinds) {
            self.raise(space, id).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_space_has_the_name_of_its_record_type_or_kind() {
        assert_eq!(IdSpace::parse("proposal").unwrap(), IdSpace::Table("proposals"));
        assert_eq!(IdSpace::parse("assemblies").unwrap(), IdSpace::Kind("spaces", "manifest", "assemblies"));
        assert_eq!(IdSpace::parse("page").unwrap(), IdSpace::Kind("entries", "kind", "page"));
        assert_eq!(IdSpace::parse("space").unwrap_err().description(), "id space \"space\" is not known");
    }
}
