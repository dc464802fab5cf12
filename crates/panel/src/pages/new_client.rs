//! A new API client (contract 04 §2).

use super::client::{self, LIST};
use super::client_permissions::is_offered;
use crate::error;
use crate::notice::Notice;
use crate::parts::{Choice, Field, Form, Group, Html, Problem, Section};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::NewClient;
use civitas_audit::Action;
use civitas_kernel::{Error, OrganizationId, Result, Scope};

const NAME: &str = "system_api_client[name]";
const ORGANIZATION: &str = "system_api_client[organization_id]";
const SCOPES: &str = "system_api_client[scopes][]";
/// The scopes of content; the others are those of people and programs.
const CONTENT: [Scope; 8] = [
    Scope::Proposals,
    Scope::Blogs,
    Scope::Meetings,
    Scope::Surveys,
    Scope::Attachments,
    Scope::Debates,
    Scope::Budgets,
    Scope::Accountability,
];
const OTHERS: [Scope; 6] =
    [Scope::Oauth, Scope::Roles, Scope::Webhooks, Scope::System, Scope::Spaces, Scope::Pages];

pub(crate) async fn new(visit: &mut Visit) -> Result<Reply> {
    show(visit, Vec::new()).await
}

/// The form, with what was typed.
async fn show(visit: &Visit, problems: Vec<Problem>) -> Result<Reply> {
    let words = &visit.words;
    let typed = visit.form.get(ORGANIZATION).or_else(|| visit.query.get("organization")).unwrap_or_default();
    let features = match typed.parse().map(OrganizationId) {
        Ok(id) => visit.panel.store().organizations().tenant(id).await?.map(|tenant| tenant.features),
        Err(_) => None,
    };
    let organizations = client::organizations(visit).await?;
    let choose = std::iter::once(Choice::new("", visit.say("choose")));
    let choices = choose.chain(organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name)));
    let name = Field::text(NAME, visit.say("column-name"), visit.form.get(NAME).unwrap_or_default())
        .hint(visit.say("client-name-hint"));
    let organization = Field::select(ORGANIZATION, visit.say("organization"), typed, choices.collect())
        .hint(visit.say("client-organization-hint"))
        .class("medium");
    let who = Section::new("who", visit.say("client-card"))
        .hint(visit.say("client-fixed-later"))
        .field(name.required().check(&problems).html(words))
        .field(organization.required().check(&problems).html(words));
    let ticked = visit.form.all(SCOPES);
    let offered = |scope: &&Scope| features.is_none_or(|features| is_offered(**scope, &features));
    let group = |id: &str, legend: &str, scopes: &[Scope]| {
        let choice = |scope: &Scope| {
            Choice::new(scope.as_str(), scope.as_str()).hint(visit.say(&format!("scope-{scope}")))
        };
        let choices = scopes.iter().filter(offered).map(choice).collect();
        Group::ticks(SCOPES, visit.say(legend), choices, ticked.clone()).id(id).html(words)
    };
    let scopes = Section::new("scopes", visit.say("client-scopes"))
        .hint(visit.say("client-scopes-hint"))
        .field(Html::paragraph("hint", &visit.say("client-public-always")))
        .field(group("system_api_client-scopes", "client-scopes-content", &CONTENT))
        .field(group("scopes-others", "client-scopes-others", &OTHERS));
    let form =
        Form::new(words, LIST, visit.token(), "client-create").section(who).section(scopes).cancel(LIST);
    let head =
        visit.head("client-new").crumb(visit.say("nav-api-clients"), LIST).lede(visit.say("client-new-lede"));
    visit.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(visit: &Visit) -> Result<Reply> {
    let name = visit.form.text(NAME).to_owned();
    let organization: Option<i64> = visit.form.text(ORGANIZATION).parse().ok();
    let asked = visit.form.all(SCOPES);
    let mut problems = Vec::new();
    if name.is_empty() {
        problems.push(Problem::new(NAME, visit.say("problem-blank")));
    }
    if organization.is_none() {
        problems.push(Problem::new(ORGANIZATION, visit.say("problem-choose")));
    }
    if let Some(unknown) = asked.iter().find(|scope| Scope::parse(scope).is_none()) {
        let text = visit.tell("problem-scope", &[("scope", unknown.as_str().into())]);
        problems.push(Problem::new("system_api_client[scopes]", text));
    }
    if !problems.is_empty() {
        return could_not(visit, problems).await;
    }
    // The panel adds `public`; the command line does not (contract 04 §7).
    let scopes: Vec<String> = std::iter::once(Scope::Public.to_string()).chain(asked).collect();
    let organization = organization.map(OrganizationId);
    let created = visit.change(async |tx| {
        let (name, scopes) = (Some(name.clone()), scopes.clone());
        let new = NewClient { name, organization, scopes, ..NewClient::default() };
        let (client, secret) = client::admin(tx).create(new, visit.now).await.map_err(client::fault)?;
        let entry = visit.record(Action::ApiClientCreated).on("api_client", &client.uid, &client.name);
        let entry = entry.changed("scopes", None, Some(&client.scopes.to_string())).of(organization);
        visit.append(tx, &entry).await?;
        let (id, _) = tx.clients().find_by_uid(&client.uid).await?.ok_or(Error::NotFound)?;
        Ok((id, client, secret))
    });
    let (id, client, secret) = match created.await {
        Ok(created) => created,
        Err(fault) => {
            return could_not(visit, error::problems(&visit.words, fault, |_| String::new())?).await;
        }
    };
    let found = client::client(visit, id.0).await?;
    let notice = Notice::good("API Client created")
        .text(visit.say("client-created-next"))
        .once(visit.say("client-id"), client.uid)
        .once(visit.say("client-secret"), secret.expose())
        .command(client::token_command(visit, &found, secret.expose()));
    visit.redirect(format!("{LIST}/{id}/edit"), notice).await
}

/// The form again, below the sentence of the contract.
async fn could_not(visit: &Visit, mut problems: Vec<Problem>) -> Result<Reply> {
    problems.insert(0, Problem::new("", "Could not create API Client"));
    show(visit, problems).await
}
