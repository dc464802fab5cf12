//! The texts of records in the form in which words are searched, and the conditions on them (docs/decisions/0068).
//!
//! A condition has two forms with the same meaning: [`TextCondition::matches`] is cheap for few records, and
//! [`TextCondition::matches_by_index`] finds all records by an index.

use super::planner::BoxedSql;
use super::select::{SqlTemplate, number, sql, text};
use crate::columns::Condition;
use crate::engine::{Conn, dialect};
use crate::insert::{insert_rows, inserted};
use civitas_kernel::filter::{self, Comparison};
use civitas_kernel::records::{Change, Entity, SearchTexts};
use civitas_kernel::text::TRANSLATION_END;
use civitas_kernel::{Error, OrganizationId, Result, SpaceKind};
use diesel::sql_types::{BigInt, Text};

/// The texts of a record that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextPart {
    /// The title or name.
    Title,
    /// The body or description.
    Body,
    /// One of both.
    Either,
}

impl TextPart {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Title => &["title"],
            Self::Body => &["body"],
            Self::Either => &["title", "body"],
        }
    }
}

/// The kinds of records that have texts: tables, and the kinds of spaces, whose ids are numbered for each kind. The position of
/// a kind is in the triggers of the migrations.
pub(super) const KINDS: [&str; 10] = [
    "proposals",
    "meetings",
    "posts",
    "components",
    "users",
    "attachments",
    "participatory_processes",
    "assemblies",
    "conferences",
    "initiatives",
];

/// The scope of the texts of one kind of an organization, with which they begin: three syllables of Hangul, which are one
/// trigram. No searchable text has one, as they are decomposed. Two organizations may share one: conditions also compare the
/// organization.
pub(super) fn scope(organization: OrganizationId, kind: &str) -> String {
    const FIRST: u32 = 0xac00;
    const MAX: i64 = 11_000;
    let kind = KINDS.iter().position(|known| *known == kind).and_then(|at| i64::try_from(at).ok());
    let parts = [kind.unwrap_or(MAX), organization.0 / MAX % MAX, organization.0 % MAX];
    parts.into_iter().filter_map(|part| char::from_u32(FIRST + u32::try_from(part).unwrap_or(0))).collect()
}

/// How texts are compared.
#[derive(Debug)]
enum TextComparison {
    /// They contain one of these.
    Contain(Vec<String>),
    /// They are not empty and contain none of these.
    ContainNone(Vec<String>),
    /// They are like this pattern.
    Like(String),
    /// They are empty, or not.
    Empty(bool),
}

/// How an index of trigrams finds the texts of a scope: by one of these.
#[derive(Debug)]
pub(crate) struct WordIndex {
    /// The query of `record_words` that they match.
    pub(crate) query: Option<String>,
    /// What they contain too. The columns of the scope are not compared by their own index: PostgreSQL would choose it
    /// before it knows the words, and read all texts of the scope.
    pub(crate) scope: Option<String>,
}

/// A condition on the texts of the records of a table.
#[derive(Debug)]
pub(crate) struct TextCondition {
    /// The id of a record in a statement.
    id: String,
    organization: i64,
    scope: String,
    columns: &'static [&'static str],
    comparison: TextComparison,
    /// The index that finds the texts.
    index: Option<WordIndex>,
}

impl TextCondition {
    /// The condition of a filter whose values are in the searchable form. `kind`: one of [`KINDS`].
    ///
    /// # Errors
    /// `Internal` for a condition on numbers, times or extended data.
    pub(crate) fn new(
        organization: OrganizationId,
        kind: &str,
        part: TextPart,
        condition: &filter::FilterCondition,
    ) -> Result<Self> {
        let whole = |text: &String| format!("{TRANSLATION_END}{text}{TRANSLATION_END}");
        let comparison = match condition {
            filter::FilterCondition::Words(words) => TextComparison::Contain(vec![words.clone()]),
            filter::FilterCondition::Start(start) => {
                TextComparison::Contain(vec![format!("{TRANSLATION_END}{start}")])
            }
            filter::FilterCondition::Matches(pattern) => {
                let closed = crate::filter::closed(pattern);
                TextComparison::Like(format!("%{TRANSLATION_END}{closed}{TRANSLATION_END}%"))
            }
            filter::FilterCondition::Text(Comparison::Eq(text)) => TextComparison::Contain(vec![whole(text)]),
            filter::FilterCondition::Text(Comparison::In(texts)) => {
                TextComparison::Contain(texts.iter().map(whole).collect())
            }
            filter::FilterCondition::Text(Comparison::NotEq(text)) => {
                TextComparison::ContainNone(vec![whole(text)])
            }
            filter::FilterCondition::Text(Comparison::NotIn(texts)) => {
                TextComparison::ContainNone(texts.iter().map(whole).collect())
            }
            filter::FilterCondition::Text(Comparison::Blank(blank)) => TextComparison::Empty(*blank),
            _ => return Err(Error::internal("a filter compares texts with a value of another type")),
        };
        let (scope, columns) = (scope(organization, kind), part.columns());
        let has_trigram = |part: &String| part.chars().nth(2).is_some();
        let index = match &comparison {
            TextComparison::Contain(parts) if parts.iter().all(has_trigram) => {
                dialect::word_index(&scope, columns, parts)
            }
            _ => None,
        };
        let table = SpaceKind::parse(kind).map_or(kind, |_| "spaces");
        Ok(Self {
            id: format!("{table}.id"),
            organization: organization.0,
            scope,
            columns,
            comparison,
            index,
        })
    }

    /// Whether few records may satisfy it, and are found.
    pub(crate) fn is_selective(&self) -> bool {
        matches!(self.comparison, TextComparison::Contain(_))
    }

    /// Whether the texts of a record satisfy it. As a value, and not by `EXISTS`, of which PostgreSQL makes a join with all
    /// texts of the scope.
    pub(crate) fn matches<QS: 'static>(&self) -> Condition<QS> {
        let texts = format!("(SELECT ? FROM record_texts WHERE ? AND record_texts.record_id = {})", self.id);
        Box::new(SqlTemplate::condition(texts, vec![self.compared(false), self.is_in_scope(true)]))
    }

    /// The same: all records whose texts satisfy it are found first.
    pub(crate) fn matches_by_index<QS: 'static>(&self) -> Condition<QS> {
        let begin = format!("{} IN (SELECT record_texts.record_id FROM", self.id);
        if let Some(query) = self.index.as_ref().and_then(|index| index.query.clone()) {
            let words = format!(
                "{begin} record_words CROSS JOIN record_texts ON record_texts.id = record_words.rowid \
                 WHERE record_words MATCH ? AND ? \
                 UNION ALL SELECT record_texts.record_id FROM {} AND ? AND ?)",
                dialect::UNINDEXED_TEXTS
            );
            let scope = || self.is_in_scope(true);
            let values = vec![text(query), scope(), scope(), self.compared(false)];
            return Box::new(SqlTemplate::condition(words, values));
        }
        let is_scan = self.index.is_none();
        let end = if is_scan { dialect::TEXT_SCAN[1] } else { "" };
        let words = format!("{begin} record_texts WHERE ? AND ?{end})");
        Box::new(SqlTemplate::condition(words, vec![self.is_in_scope(is_scan), self.compared(true)]))
    }

    /// Whether a row of `record_texts` is of the organization and kind, by the index of these columns or without it.
    fn is_in_scope(&self, by_index: bool) -> BoxedSql {
        let scope = if by_index {
            "record_texts.organization_id = ? AND record_texts.scope = ?"
        } else {
            "record_texts.organization_id + 0 = ? AND record_texts.scope || '' = ?"
        };
        sql(scope, vec![number(self.organization), text(self.scope.clone())])
    }

    /// The comparison of the texts of a row of `record_texts`.
    fn compared(&self, is_found: bool) -> BoxedSql {
        let of_each = |operator: &str, condition: &dyn Fn(&str) -> BoxedSql| {
            joined(self.columns.iter().map(|column| condition(column)).collect(), operator)
        };
        match &self.comparison {
            TextComparison::Contain(parts) => {
                let scope = self.index.as_ref().and_then(|index| index.scope.clone()).filter(|_| is_found);
                of_each(" OR ", &|column| match &scope {
                    None => contains(&scanned(column), parts),
                    Some(scope) => {
                        let column = format!("record_texts.{column}");
                        let in_scope = contains(&column, std::slice::from_ref(scope));
                        joined(vec![in_scope, contains(&column, parts)], " AND ")
                    }
                })
            }
            TextComparison::ContainNone(parts) => {
                let none = of_each(" OR ", &|column| contains(&scanned(column), parts));
                sql("? AND NOT ?", vec![of_each(" OR ", &|column| is_empty(column, "<>")), none])
            }
            TextComparison::Like(pattern) => of_each(" OR ", &|column| {
                let like = format!("{} LIKE ? ESCAPE '\\'", scanned(column));
                sql(like, vec![text(pattern.clone())])
            }),
            TextComparison::Empty(true) => of_each(" AND ", &|column| is_empty(column, "=")),
            TextComparison::Empty(false) => of_each(" OR ", &|column| is_empty(column, "<>")),
        }
    }
}

/// Whether a text has nothing behind its scope (`=`), or something (`<>`).
fn is_empty(column: &str, operator: &str) -> BoxedSql {
    sql(format!("record_texts.{column} {operator} record_texts.scope"), Vec::new())
}

/// A text that is compared without an index.
fn scanned(column: &str) -> String {
    format!("record_texts.{column}{}", dialect::TEXT_SCAN[0])
}

/// Whether a text contains one of these.
fn contains(column: &str, parts: &[String]) -> BoxedSql {
    let [begin, between, end] = dialect::CONTAINS;
    let one = |part: &String| {
        let column = format!("{begin}{column}{between}?{end}");
        sql(column, vec![text(dialect::contains_operand(part))])
    };
    joined(parts.iter().map(one).collect(), " OR ")
}

/// These conditions with an operator between them.
fn joined(conditions: Vec<BoxedSql>, operator: &str) -> BoxedSql {
    sql(format!("({})", vec!["?"; conditions.len()].join(operator)), conditions)
}

/// Whether a record is among those whose texts satisfy a condition: see [`TextCondition::matches_by_index`].
pub(crate) fn matches_by_index<QS: 'static>(
    kind: &str,
    organization: OrganizationId,
    part: TextPart,
    condition: &filter::FilterCondition,
) -> Result<Condition<QS>> {
    Ok(TextCondition::new(organization, kind, part, condition)?.matches_by_index())
}

/// The texts of a record, if it has texts.
pub(crate) fn search_texts<E: Entity>(id: i64, record: &E) -> Option<(i64, SearchTexts)> {
    record.search_texts().map(|texts| (id, texts))
}

/// The texts of a record, if it has texts that a change changes.
pub(crate) fn changed_search_texts<E: Entity>(id: i64, change: &Change<E>) -> Option<(i64, SearchTexts)> {
    search_texts(id, &change.after).filter(|after| search_texts(id, &change.before).as_ref() != Some(after))
}

/// Stores texts of records of one of [`KINDS`], over those that they have.
pub(crate) async fn save(
    connection: &mut Conn,
    organization: OrganizationId,
    kind: &str,
    texts: impl IntoIterator<Item = (i64, SearchTexts)>,
) -> Result<()> {
    let rows = rows::<true>(organization, kind, texts);
    insert_rows(connection, &rows).await
}

/// Stores these texts of records that have none yet.
pub(crate) async fn save_missing(
    connection: &mut Conn,
    organization: OrganizationId,
    kind: &str,
    texts: Vec<(i64, SearchTexts)>,
) -> Result<()> {
    insert_rows(connection, &rows::<false>(organization, kind, texts)).await
}

/// The texts of a record; `REPLACE`: over those that it has.
struct Row<const REPLACE: bool> {
    organization_id: i64,
    scope: String,
    record_id: i64,
    title: String,
    body: String,
}

inserted! {
    Row<true> as record_texts {
        organization_id: BigInt, scope: Text, record_id: BigInt, title: Text, body: Text
    } or " ON CONFLICT (organization_id, scope, record_id) DO UPDATE SET title = excluded.title, body = excluded.body"
}
inserted! {
    Row<false> as record_texts {
        organization_id: BigInt, scope: Text, record_id: BigInt, title: Text, body: Text
    } or " ON CONFLICT DO NOTHING"
}

fn rows<const REPLACE: bool>(
    organization: OrganizationId,
    kind: &str,
    texts: impl IntoIterator<Item = (i64, SearchTexts)>,
) -> Vec<Row<REPLACE>> {
    let scope = scope(organization, kind);
    let row = |(record_id, SearchTexts { title, body })| Row {
        organization_id: organization.0,
        scope: scope.clone(),
        record_id,
        title: format!("{scope}{title}"),
        body: format!("{scope}{body}"),
    };
    texts.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_of_a_kind_of_an_organization_is_that_of_the_triggers() {
        let scope = |organization, kind| -> Vec<u32> {
            scope(OrganizationId(organization), kind).chars().map(u32::from).collect()
        };
        assert_eq!(scope(3, "proposals"), [44_032, 44_032, 44_035]);
        assert_eq!(scope(11_001, "users"), [44_036, 44_033, 44_033]);
        assert_eq!(scope(i64::MAX, "initiatives").len(), 3);
    }
}
