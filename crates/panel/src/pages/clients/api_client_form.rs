//! A new API client (contract 04 §2).

use super::api_client::{self, LIST};
use super::permissions::is_offered;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::notice::Notice;
use crate::parts::{Choice, ChoiceGroup, Field, FormError, FormErrors, Html, Section};
use crate::reply::Reply;
use civitas_accounts::NewClient;
use civitas_audit::Action;
use civitas_kernel::{Error, OrganizationId, Result, Scope};

const NAME_FIELD: &str = "system_api_client[name]";
const ORGANIZATION_FIELD: &str = "system_api_client[organization_id]";
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

pub(crate) async fn new(req: &AdminRequest) -> Result<Reply> {
    new_page(req, Vec::new()).await
}

/// The form, with what was typed.
async fn new_page(req: &AdminRequest, problems: FormErrors) -> Result<Reply> {
    let translator = &req.translator;
    let typed =
        req.form.get(ORGANIZATION_FIELD).or_else(|| req.query.get("organization")).unwrap_or_default();
    let chosen = typed.parse().ok().map(OrganizationId);
    let features = match chosen {
        Some(id) => req.store().organizations().tenant(id).await?.map(|tenant| tenant.features),
        None => None,
    };
    let organizations = api_client::organizations(req, chosen).await?;
    let choose = std::iter::once(Choice::new("", req.tr("choose")));
    let choices = choose.chain(organizations.iter().map(|(id, name)| Choice::new(id.to_string(), name)));
    let name = Field::text(NAME_FIELD, req.tr("column-name"), req.form.get(NAME_FIELD).unwrap_or_default())
        .hint(req.tr("client-name-hint"));
    let organization = Field::select(ORGANIZATION_FIELD, req.tr("organization"), typed, choices.collect())
        .hint(req.tr("client-organization-hint"))
        .class("medium");
    let who = Section::new("who", req.tr("client-card"))
        .hint(req.tr("client-fixed-later"))
        .field(name.required().check(&problems).html(translator))
        .field(organization.required().check(&problems).html(translator));
    let ticked = req.form.values(SCOPES);
    let offered = |scope: &&Scope| features.is_none_or(|features| is_offered(**scope, &features));
    let group = |id: &str, legend: &str, scopes: &[Scope]| {
        let choice = |scope: &Scope| {
            Choice::new(scope.as_str(), scope.as_str()).hint(req.tr(&format!("scope-{scope}")))
        };
        let choices = scopes.iter().filter(offered).map(choice).collect();
        ChoiceGroup::checkboxes(SCOPES, req.tr(legend), choices, ticked.clone()).id(id).html(translator)
    };
    let scopes = Section::new("scopes", req.tr("client-scopes"))
        .hint(req.tr("client-scopes-hint"))
        .field(Html::paragraph("hint", &req.tr("client-public-always")))
        .field(group("system_api_client-scopes", "client-scopes-content", &CONTENT))
        .field(group("scopes-others", "client-scopes-others", &OTHERS));
    let form = req.build_form(LIST, "client-create").section(who).section(scopes).cancel(LIST);
    let head = req.head("client-new").crumb(req.tr("nav-api-clients"), LIST).lede(req.tr("client-new-lede"));
    req.form_page(head, form.html(), problems).await
}

pub(crate) async fn create(req: &AdminRequest) -> Result<Reply> {
    let name = req.form.text(NAME_FIELD).to_owned();
    let organization: Option<i64> = req.form.text(ORGANIZATION_FIELD).parse().ok();
    let asked = req.form.values(SCOPES);
    let mut problems = Vec::new();
    if name.is_empty() {
        problems.push(FormError::new(NAME_FIELD, req.tr("problem-blank")));
    }
    if organization.is_none() {
        problems.push(FormError::new(ORGANIZATION_FIELD, req.tr("problem-choose")));
    }
    if let Some(unknown) = asked.iter().find(|scope| Scope::parse(scope).is_none()) {
        let text = req.tr_with("problem-scope", "scope", unknown.as_str());
        problems.push(FormError::new("system_api_client[scopes]", text));
    }
    if !problems.is_empty() {
        return refused_page(req, problems).await;
    }
    // The panel adds `public`; the command line does not (contract 04 §7).
    let scopes: Vec<String> = std::iter::once(Scope::Public.to_string()).chain(asked).collect();
    let organization = organization.map(OrganizationId);
    let created = req.change_with_audit(
        async |tx| {
            let (name, scopes) = (Some(name.clone()), scopes.clone());
            let new = NewClient { name, organization, scopes, ..NewClient::default() };
            let (client, secret) =
                api_client::admin(tx).create(new, req.now).await.map_err(api_client::client_admin_error)?;
            let (id, _) = tx.clients().find_by_uid(&client.uid).await?.ok_or(Error::NotFound)?;
            Ok((id, client, secret))
        },
        |(_, client, _)| {
            let entry = req.audit_entry(Action::ApiClientCreated).in_organization(organization);
            let entry = entry.with_object("api_client", &client.uid, &client.name);
            Some(entry.with_change("scopes", None, Some(&client.scopes.to_string())))
        },
    );
    let (id, client, secret) = match created.await {
        Ok(created) => created,
        Err(error) => {
            return refused_page(req, error::form_errors(&req.translator, error, |_| String::new())?).await;
        }
    };
    let found = api_client::find_client(req, id.0).await?;
    let notice = Notice::success("API Client created")
        .text(req.tr("client-created-next"))
        .shown_once(req.tr("client-id"), client.uid)
        .shown_once(req.tr("client-secret"), secret.expose())
        .command(api_client::token_command(req, &found, secret.expose()));
    req.redirect(format!("{LIST}/{id}/edit"), notice).await
}

/// The form again, below the sentence of the contract.
async fn refused_page(req: &AdminRequest, mut problems: FormErrors) -> Result<Reply> {
    problems.insert(0, FormError::new("", "Could not create API Client"));
    new_page(req, problems).await
}
