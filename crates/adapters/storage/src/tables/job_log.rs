//! The log of jobs, for administrators of the deployment.

use super::clients;
use super::jobs::{JobAnswerRow, SummaryRow, has_ended};
use crate::columns::{self, EnumColumn, JsonColumn, UuidColumn};
use crate::engine::Db;
use crate::log_pages::log_page;
use crate::old_rows::remove_oldest;
use crate::optional::filter_some;
use crate::schema::{api_clients, jobs, users};
use crate::session::{ExecuteExt, LoadRowsExt, Session};
use async_trait::async_trait;
use civitas_jobs::{JobAnswer, JobClient, JobDetail, JobLog, JobLogFilter, JobPayload, JobUser, LoggedJob};
use civitas_kernel::{ClientId, JobId, LogPage, LogRequest, OrganizationId, Result, UserId};
use diesel::dsl::IntoBoxed;
use diesel::prelude::*;
use std::collections::HashMap;
use time::OffsetDateTime;

/// The columns of a job in the log, without payload and result.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
struct Row {
    #[diesel(embed)]
    summary: SummaryRow,
    organization_id: i64,
    api_client_id: i64,
    user_id: Option<i64>,
    error_class: Option<String>,
}

/// All columns that an administrator sees.
#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs, check_for_backend(Db))]
struct DetailRow {
    #[diesel(embed)]
    row: Row,
    #[diesel(embed)]
    answer: JobAnswerRow,
    due_at: OffsetDateTime,
    payload: JsonColumn<JobPayload>,
}

/// The names of clients and users by their ids.
#[derive(Default)]
struct Names {
    clients: HashMap<i64, (String, String)>,
    users: HashMap<i64, String>,
}

impl Names {
    /// The row with its names. Each is copied: several jobs may have the same.
    fn logged(&self, row: Row) -> LoggedJob {
        LoggedJob {
            summary: row.summary.into(),
            organization: OrganizationId(row.organization_id),
            client: JobClient {
                id: ClientId(row.api_client_id),
                uid_and_name: self.clients.get(&row.api_client_id).cloned(),
            },
            user: row.user_id.map(|id| JobUser { id: UserId(id), nickname: self.users.get(&id).cloned() }),
            error_class: row.error_class,
        }
    }
}

impl Session {
    /// The names of the clients and users of these jobs, with two statements.
    async fn names_of(&self, rows: &[&Row]) -> Result<Names> {
        let mut names = Names::default();
        let clients = columns::distinct_ids(rows.iter().map(|row| row.api_client_id));
        if !clients.is_empty() {
            let found: Vec<(i64, String, String)> = clients::existing_clients()
                .filter(columns::any_of(api_clients::id.nullable(), &clients))
                .select((api_clients::id, api_clients::uid, api_clients::name))
                .rows_from(self.read())
                .await?;
            names.clients = found.into_iter().map(|(id, uid, name)| (id, (uid, name))).collect();
        }
        let users = columns::distinct_ids(rows.iter().filter_map(|row| row.user_id));
        if !users.is_empty() {
            let found: Vec<(i64, String)> = users::table
                .filter(columns::any_of(users::id.nullable(), &users))
                .select((users::id, users::nickname))
                .rows_from(self.read())
                .await?;
            names.users = found.into_iter().collect();
        }
        Ok(names)
    }
}

type Boxed<'a> = IntoBoxed<'a, jobs::table, Db>;

/// The jobs of a filter. Each member alone has an index in the order of the log.
fn matching(filter: &JobLogFilter, client: Option<i64>) -> Boxed<'_> {
    let mut matching = jobs::table.into_boxed::<Db>();
    filter_some! {
        matching;
        filter.organization => |organization| jobs::organization_id.eq(organization.0),
        filter.status => |status| jobs::status.eq(EnumColumn(status)),
        &filter.command => |command| jobs::command_key.eq(command),
        client => |client| jobs::api_client_id.eq(client),
        filter.from => |from| jobs::created_at.ge(from),
        filter.to => |to| jobs::created_at.lt(to),
    }
    matching
}

#[async_trait]
impl JobLog for Session {
    async fn list(&self, filter: &JobLogFilter, page: LogRequest<JobId>) -> Result<LogPage<LoggedJob>> {
        let client: Option<i64> = match &filter.client {
            None => None,
            Some(uid) => {
                let client = api_clients::table.filter(api_clients::uid.eq(uid)).select(api_clients::id);
                match client.first_from(self.read()).await? {
                    Some(id) => Some(id),
                    None => return Ok(LogPage { items: Vec::new(), has_newer: false, has_older: false }),
                }
            }
        };
        let some =
            log_page!(matching(filter, client), page, [jobs::created_at, jobs::id], |id| UuidColumn(id.0));
        let rows: Vec<Row> = some.select(columns::all_columns::<Row>()).rows_from(self.read_long()).await?;
        let page = LogPage::from_fetched(rows, &page);
        let names = self.names_of(&page.items.iter().collect::<Vec<_>>()).await?;
        Ok(page.map(|row| names.logged(row)))
    }

    async fn find(&self, id: JobId) -> Result<Option<JobDetail>> {
        let row: Option<DetailRow> = jobs::table
            .find(UuidColumn(id.0))
            .select(columns::all_columns::<DetailRow>())
            .first_from(self.read())
            .await?;
        let Some(DetailRow { row, answer, due_at, payload }) = row else { return Ok(None) };
        let names = self.names_of(&[&row]).await?;
        let answer = JobAnswer::from(answer);
        let request = (!answer.summary.status.has_ended()).then_some(payload.0.command);
        Ok(Some(JobDetail { job: names.logged(row), answer, due_at, request }))
    }

    async fn remove(&self, id: JobId) -> Result<bool> {
        diesel::delete(jobs::table.find(UuidColumn(id.0))).any_on(self.write()).await
    }

    async fn remove_ended(&self, before: OffsetDateTime, limit: i64) -> Result<u64> {
        let old = || jobs::table.filter(has_ended()).filter(jobs::updated_at.lt(before));
        Ok(remove_oldest!(self, jobs by uuid, old(), order jobs::updated_at, limit))
    }

    async fn remove_of_user(&self, organization: OrganizationId, user: UserId, limit: i64) -> Result<u64> {
        let ids: Vec<UuidColumn> = jobs::table
            .filter(jobs::user_id.eq(user.0))
            .filter(columns::equals_unindexed(jobs::organization_id.nullable(), organization.0))
            .limit(limit)
            .select(jobs::id)
            .rows_from(self.read())
            .await?;
        if ids.is_empty() {
            return Ok(0);
        }
        let these = columns::any_uuid(jobs::id.nullable(), ids.into_iter().map(|id| id.0));
        diesel::delete(jobs::table.filter(these)).run_on(self.write()).await
    }
}
