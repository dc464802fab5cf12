//! The plan of each statement of each list and show, over a city whose tables are large: none is read from its beginning
//! to its end. Sorts are checked by the tests of the storage.

use super::{FORMS, alone, is_data, is_of_workers, taken};
use civitas_tests::service::{CITIES, Client, SYSTEM_CLIENTS, Service};
use civitas_tests::{Database, Engine};
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows that each of these tables gets: so many that PostgreSQL finds a page of them by an index.
const ROWS: i64 = 30_000;
const LARGE: [&str; 12] = [
    "users",
    "proposals",
    "proposal_authors",
    "votes",
    "meetings",
    "meeting_registrations",
    "posts",
    "attachments",
    "roles",
    "responses",
    "answers",
    "jobs",
];

/// Lists without an id of this city.
const LISTS: &[&str] = &[
    "/proposals?filter[voted_weight_eq]=1",
    "/vote_proposals",
    "/components/search",
    "/components/search?filter[manifest_name_eq]=proposals",
    "/components/proposal_components",
    "/components/blog_components",
    "/spaces/search",
    "/spaces/assemblies",
    "/spaces/conferences",
    "/spaces/initiatives",
    "/spaces/participatory_processes",
    "/users",
    "/users?page=20",
    "/users?filter[nickname_eq]=p77",
    "/me/extended_data?object_path=.",
    "/roles",
    "/roles?page=20",
    "/attachments",
    "/questionnaires",
    "/jobs",
    "/jobs?page=20",
    "/jobs?filter[status_eq]=completed",
    "/jobs?filter[command_key_eq]=votes%23create",
    "/webhook_registrations",
    "/organizations",
];

/// A city whose tables are filled.
struct City<'a> {
    service: &'a Service,
    organization: i64,
    /// The time of the row of the number `n`, one minute after the one before.
    at: &'static str,
}

impl City<'_> {
    async fn number(&self, sql: &str) -> i64 {
        self.service.database.number(&format!("SELECT {sql} AS number")).await
    }

    async fn insert(&self, into: &str, values: &str) {
        let numbers =
            format!("numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS})");
        let sql =
            format!("WITH RECURSIVE {numbers} INSERT INTO {into} SELECT {values} FROM numbers ORDER BY n");
        self.service.database.execute(&sql).await;
    }

    /// Inserts rows of the city with both times; the id of that of the number `n`.
    async fn insert_own(&self, table: &str, columns: &str, values: &str) -> String {
        let Self { organization, at, .. } = self;
        let into = format!("{table} (organization_id, created_at, updated_at, {columns})");
        self.insert(&into, &format!("{organization}, {at}, {at}, {values}")).await;
        format!("{} + n", self.number(&format!("(SELECT max(id) FROM {table})")).await - ROWS)
    }

    async fn fill(&self) {
        let (id, at) = (|kind, reference| self.service.id(kind, reference), self.at);
        let (p2, nora) = (id("proposal", "p2"), id("user", "norablum"));
        let component = |reference| id("component", reference);
        let user = self
            .insert_own(
                "users",
                "nickname, nickname_folded, email, name, admin, confirmed_at, managed, extended_data, \
                 extended_data_text",
                &format!(
                    "'P' || n, 'p' || n, 'p' || n || '@example.org', 'P', false, {at}, false, '{{}}', '{{}}'"
                ),
            )
            .await;
        let ideas = component("ideas");
        let proposal = self
            .insert_own(
                "proposals",
                "component_id, title, body, extended_data, extended_data_text, public_state, published_at",
                &format!(
                    "{ideas}, '{{\"en\": \"Lamps\"}}', '{{\"en\": \"Lamps\"}}', '{{}}', '{{}}', '', {at}"
                ),
            )
            .await;
        self.insert("proposal_authors (proposal_id, user_id, position)", &format!("{proposal}, {user}, 0"))
            .await;
        let columns = "proposal_id, component_id, user_id, weight, temporary";
        self.insert_own("votes", columns, &format!("{p2}, {ideas}, {user}, 1, false")).await;
        let own = format!(
            "INSERT INTO votes (organization_id, created_at, updated_at, {columns}) SELECT organization_id, \
             created_at, updated_at, id, {ideas}, {nora}, 1, false FROM proposals \
             WHERE component_id = {ideas} AND id % 300 = 0"
        );
        self.service.database.execute(&own).await;
        let meeting = self
            .insert_own(
                "meetings",
                "component_id, title, description, start_time, published_at, private, transparent, extended_data, \
                 extended_data_text",
                &format!(
                    "{}, '{{\"en\": \"Walk\"}}', '{{}}', {at}, {at}, n % 3 = 0, false, '{{}}', '{{}}'",
                    component("meetings")
                ),
            )
            .await;
        self.insert("meeting_registrations (meeting_id, user_id)", &format!("{meeting}, {user}")).await;
        self.fill_others(&user, &proposal).await;
        self.fill_forms(&user).await;
        self.fill_jobs().await;
        self.service.store.analyze().await.expect("measured tables");
    }

    async fn fill_others(&self, user: &str, proposal: &str) {
        let (id, at) = (|kind, reference| self.service.id(kind, reference), self.at);
        let (news, streets) = (id("component", "news"), id("space", "streets"));
        let values = format!("{news}, '{{\"en\": \"News\"}}', '{{}}', {at}");
        self.insert_own("posts", "component_id, title, body, published_at", &values).await;
        let values = format!(
            "'Platform::Proposals::Proposal', {proposal}, {proposal}, '{{}}', '{{}}', 0, 'link', 'https://example.org'"
        );
        let columns =
            "attached_to_type, attached_to_id, proposal_id, title, description, weight, file_type, link";
        self.insert_own("attachments", columns, &values).await;
        let values = format!("'participatory_processes', {streets}, {user}, 'space_private_member'");
        self.insert_own("roles", "space_manifest, space_id, user_id, kind", &values).await;
    }

    async fn fill_jobs(&self) {
        let (at, nora) = (self.at, self.service.id("user", "norablum"));
        let job = match self.service.engine {
            Engine::Sqlite => "unhex(printf('%032d', n))",
            Engine::Postgres => "lpad(n::text, 32, '0')::uuid",
        };
        // The client of the tokens.
        let client =
            self.number("(SELECT max(api_client_id) FROM access_tokens WHERE user_id IS NOT NULL)").await;
        let into = "jobs (id, organization_id, api_client_id, user_id, access_token_id, command_key, status, payload, \
                    attempts, due_at, created_at, updated_at)";
        let organization = self.organization;
        let values = format!(
            "{job}, {organization}, {client}, {nora}, 1, 'votes#create', 'completed', '{{}}', 1, {at}, {at}, {at}"
        );
        self.insert(into, &values).await;
    }

    async fn fill_forms(&self, user: &str) {
        let Self { organization, at, service } = self;
        let (poll, question) = (service.id("questionnaire", "poll"), service.id("question", "text"));
        let into = "responses (organization_id, questionnaire_id, user_id, session_token, created_at)";
        self.insert(into, &format!("{organization}, {poll}, {user}, 'session' || n, {at}")).await;
        let response = self.number("(SELECT max(id) FROM responses)").await - ROWS;
        let into = "answers (organization_id, questionnaire_id, response_id, question_id, user_id, body, created_at)";
        let values = format!("{organization}, {poll}, {response} + n, {question}, {user}, 'text', {at}");
        self.insert(into, &values).await;
    }

    /// Those of proposals, meetings and posts.
    async fn paths_of_records(&self) -> Vec<String> {
        let id = |kind, reference| self.service.id(kind, reference);
        let component = |reference| id("component", reference);
        let (p2, streets) = (id("proposal", "p2"), id("space", "streets"));
        let newest = async |table: &str| self.number(&format!("(SELECT max(id) FROM {table})")).await;
        let mut paths = Vec::new();
        for (list, component, one) in [
            ("proposals", component("ideas"), p2),
            ("meetings", component("meetings"), newest("meetings").await),
            ("blogs", component("news"), newest("posts").await),
        ] {
            let inside = format!("component_id={component}");
            let space = format!("space_manifest=participatory_processes&space_id={streets}");
            for order in ["", "order_direction=desc", "order=rand"] {
                paths.push(format!("/{list}?{order}"));
                paths.push(format!("/{list}?{inside}&{order}"));
                paths.push(format!("/{list}?{space}&{order}"));
                paths.push(format!("/{list}?page=100&{order}"));
                paths.push(format!("/{list}/{one}?{order}"));
                paths.push(format!("/{list}/{one}?{inside}&{order}"));
            }
            if list != "blogs" {
                paths.push(format!("/{list}?filter[id_eq]={one}"));
                paths.push(format!("/{list}?filter[id_in][]={one}&filter[id_in][]=7"));
                paths.push(format!("/{list}/{one}/extended_data?object_path=."));
            }
        }
        paths
    }

    /// The paths of all lists and shows, with usual parameters.
    async fn paths(&self, reader: &Client) -> Vec<String> {
        let id = |kind, reference| self.service.id(kind, reference);
        let component = |reference| id("component", reference);
        let (p2, streets, poll) = (id("proposal", "p2"), id("space", "streets"), id("questionnaire", "poll"));
        let (ideas, news, nora) = (component("ideas"), component("news"), id("user", "norablum"));
        let (city, question) = (self.organization, id("question", "one"));
        let newest = async |table: &str| self.number(&format!("(SELECT max(id) FROM {table})")).await;
        let first = async |list: &str| match &reader.get(list).await.data()[0]["id"] {
            Value::String(id) => id.clone(),
            id => id.to_string(),
        };
        let mut paths = self.paths_of_records().await;
        paths.extend(LISTS.iter().map(|list| (*list).to_owned()));
        paths.extend([
            format!("/proposals/{p2}?filter[voted_weight_eq]=1"),
            format!("/vote_proposals/{}", first("/vote_proposals").await),
            format!("/components/proposal_components/{ideas}"),
            format!("/components/blog_components/{news}"),
            format!("/components/{ideas}/extended_data?object_path=."),
            format!("/spaces/participatory_processes/{streets}"),
            format!("/spaces/participatory_processes/{streets}/extended_data?object_path=."),
            format!("/users?filter[id_in][]={nora}"),
            format!("/roles?filter[user_id_eq]={nora}"),
            format!("/roles/{}", first("/roles").await),
            format!("/attachments?filter[attached_to_id_eq]={p2}"),
            format!("/attachments/{}", newest("attachments").await),
            format!("/questionnaires/{poll}"),
            format!("/questions?filter[questionnaire_id]={poll}"),
            format!("/questions/{question}"),
            format!("/answer_options?filter[question_id]={question}"),
            format!("/answers?filter[questionnaire_id]={poll}"),
            format!("/answers?filter[questionnaire_id]={poll}&page=100"),
            format!("/organizations/{city}"),
            format!("/organizations/{city}/extended_data?object_path=."),
        ]);
        paths
    }
}

/// Whether a plan reads a large table as a whole.
fn scans(engine: Engine, plan: &[String]) -> bool {
    let scan = match engine {
        Engine::Sqlite => "SCAN ",
        Engine::Postgres => "Seq Scan on ",
    };
    plan.iter().any(|step| {
        let name = step.split(scan).nth(1).and_then(|rest| rest.split(' ').next());
        name.is_some_and(|name| LARGE.contains(&name))
    })
}

/// A city with large tables, and the statements of all lists and shows, each with a path that sends it.
async fn asked(engine: Engine) -> Option<(Service, BTreeMap<String, String>)> {
    let database = Database::fresh(engine).await?;
    let service = Service::over(database, &format!("{CITIES}{FORMS}{SYSTEM_CLIENTS}"), &[]).await;
    let (nora, mary) = (service.user("norablum").await, service.user("maryadmin").await);
    let (machine, system) = (service.machine().await, service.anonymous().of_system("city_system").await);
    let at = match engine {
        Engine::Sqlite => "strftime('%Y-%m-%d %H:%M:%S+00:00', 1767225600 + n * 60, 'unixepoch')",
        Engine::Postgres => "to_timestamp(1767225600 + n * 60)",
    };
    let city = City { service: &service, organization: service.id("organization", "city"), at };
    city.fill().await;
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    for path in city.paths(&mary).await {
        let mut refusals = Vec::new();
        for reader in [&nora, &mary, &machine, &system] {
            taken();
            let answer = reader.get(&path).await;
            if !answer.status.is_success() {
                refusals.push(answer.text);
            }
            for text in taken().into_iter().filter(|text| is_data(text) && !is_of_workers(text)) {
                let sql = text.split(" -- binds").next().unwrap_or_default().to_owned();
                asked.entry(sql).or_insert_with(|| path.clone());
            }
        }
        assert!(refusals.len() < 4, "{engine:?}: nobody may read {path}: {}", refusals.join(" "));
    }
    assert!(asked.len() > 100, "{engine:?}: {} statements", asked.len());
    Some((service, asked))
}

#[tokio::test]
async fn no_list_and_no_show_reads_a_large_table_as_a_whole() {
    let _alone = alone().await;
    let mut faults = Vec::new();
    for engine in Engine::BOTH {
        let Some((service, asked)) = asked(engine).await else { continue };
        for (sql, path) in asked {
            let plan = service.database.plan(&sql).await;
            if scans(engine, &plan) {
                faults.push(format!("{engine:?}: {path}\n{sql}\n{}", plan.join("\n")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Whether a statement looks for records by a list of values, but its plan on SQLite reads all of the organization: it
/// sorts them, or has no limit.
fn reads_the_organization(sql: &str, plan: &[String]) -> bool {
    let depth = |step: &str| step.len() - step.trim_start().len();
    let sorts = |from: &[String]| {
        let select = from.iter().take_while(|step| depth(step) >= depth(&from[0]));
        let mut own = select.filter(|step| depth(step) == depth(&from[0]));
        own.any(|step| step.contains("USE TEMP B-TREE FOR ORDER BY"))
    };
    let reads = |(at, step): (usize, &String)| {
        step.ends_with("(organization_id=?)") && (sorts(&plan[at..]) || !sql.contains("LIMIT"))
    };
    sql.contains("json_each") && plan.iter().enumerate().any(reads)
}

/// SQLite expects few records of an organization where it has no statistics, as in a database that has grown since its
/// first day, and where the others are small.
#[tokio::test]
async fn no_list_of_values_is_looked_up_in_all_records_of_a_large_organization() {
    let _alone = alone().await;
    let (service, asked) = asked(Engine::Sqlite).await.expect("SQLite is always there");
    let among_small = "UPDATE sqlite_stat1 SET stat = CAST(stat AS INTEGER) || ' 2 2 2 1' \
         WHERE (SELECT name FROM pragma_index_info(idx) WHERE seqno = 0) = 'organization_id'";
    let mut faults = Vec::new();
    for (statistics, change) in
        [("of small organizations", among_small), ("none", "DELETE FROM sqlite_stat1")]
    {
        service.database.execute(change).await;
        for (sql, path) in &asked {
            let plan = service.database.plan(sql).await;
            if reads_the_organization(sql, &plan) {
                faults.push(format!("statistics: {statistics}\n{path}\n{sql}\n{}", plan.join("\n")));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
