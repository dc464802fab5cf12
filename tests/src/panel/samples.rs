//! One page of each route of the panel, with records to show.

use super::PanelClient;
use crate::service::Service;
use civitas_panel::Panel;
use serde_json::json;

/// A page with content.
#[derive(Debug, Clone)]
pub struct SamplePage {
    /// A name for files: `organizations-id-edit-api`.
    pub name: String,
    /// The route: `/system/organizations/{id}/edit`.
    pub route: &'static str,
    /// The path with its parameters.
    pub path: String,
}

impl SamplePage {
    /// `ids`: the parameters of the route with their values.
    fn new(route: &'static str, ids: &[(&str, &str)], query: &str) -> Self {
        let filled =
            ids.iter().fold(route.to_owned(), |path, (name, id)| path.replace(&format!("{{{name}}}"), id));
        assert!(!filled.contains('{'), "no record for {route}");
        let path = filled;
        // Only the tab is part of the name: numbers of records are not the same everywhere.
        let tab = if query.starts_with("?tab") { query } else { "" };
        let name = format!("{}-{tab}", route.trim_start_matches("/system")).to_lowercase();
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), " ");
        let name = name.split_whitespace().collect::<Vec<_>>().join("-");
        let name = if name.is_empty() { "start".to_owned() } else { name };
        Self { name, route, path: format!("{path}{query}") }
    }
}

/// The records that the pages show: the parameters of routes with their values.
struct Samples {
    ids: Vec<(&'static str, String)>,
    /// The parameters that depend on the beginning of the route.
    by_start: Vec<(&'static str, &'static str, String)>,
}

impl Samples {
    /// Makes what is missing: a job, a registration with a delivery, another administrator, a survey, an attachment, a
    /// role in a space, a meeting and a post.
    async fn of(service: &Service, panel: &PanelClient) -> Self {
        let text = |kind: &str, reference: &str| service.id(kind, reference).to_string();
        let organization = text("organization", "city");
        let own = format!("/system/organizations/{organization}");
        let (registration, delivery) = delivery(service, panel).await;
        let administrator = service.add_administrator("sample@riverton.example", super::PASSWORD).await;
        let client = service.store.clients().find_by_uid("id_city_full").await.expect("a database");
        let (member, space) = (text("user", "member_one"), text("space", "streets"));
        let (component, proposal) = (text("component", "ideas"), text("proposal", "p2"));
        let survey = survey(service, panel, &organization).await;
        let (meeting, post) = publications(service, panel, &organization).await;
        let person = format!("{own}/users/{member}");
        let roles = format!("{own}/spaces/participatory_processes/{space}/roles");
        let moderator = [("role[person]", "norablum"), ("role[type]", "space_moderator")];
        panel.act("POST", &roles, &moderator).await.is(302);
        let by_start = vec![
            ("/system/admins", "id", administrator.to_string()),
            ("/system/organizations", "id", organization),
            ("/system/api_clients", "id", client.expect("the client").0.to_string()),
            ("/system/webhook_registrations", "id", registration),
            ("/system/jobs", "uuid", job(service).await),
            ("/system/webhook_deliveries", "uuid", delivery),
            ("/system/organizations/{id}/spaces", "role", role_of(panel, &roles, &roles).await),
            (
                "/system/organizations/{id}/users",
                "role",
                role_of(panel, &person, &format!("{person}/roles")).await,
            ),
        ];
        let ids = vec![
            ("state", state_of(panel, &format!("{own}/components/{component}/states")).await),
            ("aid", attachment_of(panel, &own, &proposal).await),
            ("uid", member),
            ("pid", proposal),
            ("manifest", "participatory_processes".to_owned()),
            ("sid", space),
            ("step", text("step", "collect")),
            ("cid", component),
            ("vid", survey.id),
            ("qid", survey.question),
            ("rid", survey.response),
            ("mid", meeting),
            ("bid", post),
        ];
        Self { ids, by_start }
    }

    /// The parameters of a route.
    fn of_route(&self, route: &str) -> Vec<(&str, &str)> {
        let own = self.by_start.iter().filter(|(start, ..)| route.starts_with(start));
        let own = own.map(|(_, name, id)| (*name, id.as_str()));
        own.chain(self.ids.iter().map(|(name, id)| (*name, id.as_str()))).collect()
    }

    fn id(&self, name: &str) -> &str {
        self.ids.iter().find(|(known, _)| *known == name).map_or("", |(_, id)| id)
    }

    /// The query of a page that needs one.
    fn query(&self, route: &str) -> String {
        if route.ends_with("/components/new") {
            format!("?space=participatory_processes/{}&manifest=proposals", self.id("sid"))
        } else if route.ends_with("/webhook_deliveries/replay") {
            let registration =
                self.by_start.iter().find(|(start, ..)| start.ends_with("/webhook_registrations"));
            format!("?registration={}&status=dead", registration.map_or("", |(.., id)| id))
        } else if route.ends_with("/surveys/{vid}") {
            format!("?question={}", self.id("qid"))
        } else {
            String::new()
        }
    }
}

/// All pages of the panel, with records to show. The service has the two cities.
///
/// # Panics
/// When a route has no page here.
pub async fn sample_pages(service: &Service, panel: &PanelClient) -> Vec<SamplePage> {
    let samples = Samples::of(service, panel).await;
    let page = |route, query: &str| SamplePage::new(route, &samples.of_route(route), query);
    let routes = Panel::routes().into_iter().filter(|(method, _)| method == "GET");
    let mut pages: Vec<SamplePage> = routes.map(|(_, route)| page(route, &samples.query(route))).collect();
    pages.push(page("/system/organizations/{id}/edit", "?tab=api"));
    pages.push(page("/system/api_clients/{id}/edit", "?tab=webhooks"));
    pages
}

/// A registration with a delivery; their ids.
async fn delivery(service: &Service, panel: &PanelClient) -> (String, String) {
    let attributes = json!({"url": "https://hooks.client.example/civic",
        "subscriptions": ["proposal_creation.succeeded"]});
    let body = json!({"data": {"attributes": attributes}});
    let created = service.machine().await.post("/webhook_registrations", &body).await.is(201);
    let registration = created.data()["id"].as_str().expect("an id").to_owned();
    let tested = format!("/system/webhook_registrations/{registration}/test");
    let tested = panel.act("POST", &tested, &[]).await.is(302);
    let delivery = tested.header("location").rsplit('/').next().expect("an id").to_owned();
    (registration, delivery)
}

/// A state of the proposals of a component; `states` is their page.
async fn state_of(panel: &PanelClient, states: &str) -> String {
    let links = panel.get(states).await.is(200).attributes("a", "href");
    let state = links.iter().find_map(|href| href.strip_suffix("/edit")?.split("/states/").nth(1));
    state.expect("a state").to_owned()
}

/// A job that has ended.
async fn job(service: &Service) -> String {
    let nora = service.user("norablum").await;
    let vote = json!({"proposal_id": service.id("proposal", "p2"), "data": {"weight": 1}});
    let job = nora.finished(&nora.post("/vote_proposals", &vote).await.is(202)).await;
    job["id"].as_str().expect("an id").to_owned()
}

/// A survey with a question and a response.
struct Survey {
    id: String,
    question: String,
    response: String,
}

async fn survey(service: &Service, panel: &PanelClient, organization: &str) -> Survey {
    let list = format!("/system/organizations/{organization}/surveys");
    let component = service.id("component", "surveys").to_string();
    let fields = [("survey[component]", component.as_str()), ("survey[title][en]", "Mobility")];
    let own = panel.act("POST", &list, &fields).await.is(302).header("location").to_owned();
    let id = own.rsplit('/').next().expect("an id").to_owned();
    let fields = [
        ("question[question_type]", "single_option"),
        ("question[body][en]", "Which?"),
        ("options[new-1][en]", "Bus"),
    ];
    panel.act("POST", &format!("{own}/questions"), &fields).await.is(302);
    let links = panel.get(&own).await.is(200).attributes("a", "href");
    let question = links.iter().find_map(|href| href.split_once("?question=")?.1.split('#').next());
    let question = question.expect("a question").to_owned();
    let response = json!({"meta": {"anonymous": true}, "data": {"type": "questionnaire_response",
        "attributes": {"answers": {}},
        "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": id}}}}});
    let sent = service.machine().await.post("/answers/sync", &response).await.is(201);
    let response = sent.data()["id"].as_str().expect("an id").to_owned();
    Survey { id, question, response }
}

/// A new link of a proposal; `own` is the path of the organization.
async fn attachment_of(panel: &PanelClient, own: &str, proposal: &str) -> String {
    let (list, parent) = (format!("{own}/attachments"), format!("proposals/{proposal}"));
    let fields = [
        ("parent", parent.as_str()),
        ("attachment[link]", "https://maps.example/1"),
        ("attachment[title][en]", "Map"),
        ("attachment[description][en]", "All streets"),
    ];
    panel.act("POST", &list, &fields).await.leads_to(&format!("{own}/proposals/{proposal}/attachments"));
    let links = panel.get(&list).await.is(200).attributes("a", "href");
    let start = format!("{list}/");
    let attachment = links.iter().find_map(|href| href.strip_prefix(&start)?.strip_suffix("/edit"));
    attachment.expect("an attachment").to_owned()
}

/// A role on a page; `roles` is the path of its roles.
async fn role_of(panel: &PanelClient, page: &str, roles: &str) -> String {
    let links = panel.get(page).await.is(200).attributes("a", "href");
    let start = format!("{roles}/");
    let role = links.iter().find_map(|href| href.strip_prefix(&start)?.strip_suffix("/delete"));
    role.expect("a role").to_owned()
}

/// A meeting with a registered person, and a post.
async fn publications(service: &Service, panel: &PanelClient, organization: &str) -> (String, String) {
    let made = async |path: String, fields: &[(&str, &str)]| {
        let made = panel.act("POST", &path, fields).await.is(302);
        let id = made.header("location").strip_prefix(&format!("{path}/")).expect("the new record");
        id.trim_end_matches("/edit").to_owned()
    };
    let meetings = format!("/system/organizations/{organization}/meetings");
    let component = service.id("component", "meetings").to_string();
    let fields = [
        ("meeting[component]", component.as_str()),
        ("meeting[title][en]", "Kick-off"),
        ("meeting[start_time]", "2027-01-10T18:00"),
    ];
    let meeting = made(meetings.clone(), &fields).await;
    let registered = format!("{meetings}/{meeting}/registrations");
    panel.act("POST", &registered, &[("registration[person]", "norablum")]).await.is(302);
    let component = service.id("component", "news").to_string();
    let fields = [
        ("post[component]", component.as_str()),
        ("post[title][en]", "Works start"),
        ("post[body][en]", "From Monday on."),
    ];
    let post = made(format!("/system/organizations/{organization}/posts"), &fields).await;
    (meeting, post)
}
