//! The permissions of a client: a box for each ability and event of its scopes (contract 02 §1.2, 04 §2).

use super::api_client::{self, OpenedClient};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{FormErrors, render};
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_accounts::ApiClient;
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Abilities, Ability, Error, Result, Scope};
use civitas_organizations::Features;

/// The order of the blocks.
const SCOPES: [Scope; 13] = [
    Scope::Oauth,
    Scope::Public,
    Scope::Proposals,
    Scope::Blogs,
    Scope::Meetings,
    Scope::Surveys,
    Scope::Roles,
    Scope::Attachments,
    Scope::Webhooks,
    Scope::System,
    Scope::Debates,
    Scope::Budgets,
    Scope::Accountability,
];
/// Abilities without an operation that are shown only to clients that hold them.
const NOT_OFFERED: [Ability; 3] = [Ability::OrganizationsCreate, Ability::ServerRestart, Ability::ServerExec];

/// A box.
struct Grant {
    ability: Ability,
    label: String,
    is_granted: bool,
}

impl Grant {
    /// The name on the wire, which may break after each dot.
    fn parts(&self) -> std::str::SplitInclusive<'_, char> {
        self.ability.as_str().split_inclusive('.')
    }
}

/// Boxes with a heading.
struct Group {
    title: String,
    is_events: bool,
    grants: Vec<Grant>,
}

/// The boxes of one scope.
struct Block {
    title: String,
    /// The name of the scope; empty for the abilities that work with any scope.
    scope: &'static str,
    granted: String,
    groups: Vec<Group>,
}

#[derive(Template)]
#[template(path = "pages/permissions.html")]
struct Permissions<'a> {
    translator: &'a Translator,
    client: &'a ApiClient,
    id: i64,
    path: String,
    token: String,
    revision: String,
    blocks: Vec<Block>,
}

/// Whether the organization offers this scope: its feature is on (contract 04 §2).
pub(crate) fn is_offered(scope: Scope, features: &Features) -> bool {
    match scope {
        Scope::Proposals => features.proposals_enabled,
        Scope::Blogs => features.blogs_enabled,
        Scope::Meetings => features.meetings_enabled,
        Scope::Surveys => features.surveys_enabled,
        Scope::Attachments => features.attachments_enabled,
        Scope::Debates => features.debates_enabled,
        Scope::Budgets => features.budgets_enabled,
        Scope::Accountability => features.accountabilities_enabled,
        _ => true,
    }
}

/// The tab. `ticked`: what a refused form had.
pub(crate) async fn edit_page(
    req: &AdminRequest,
    found: &OpenedClient,
    ticked: Option<&[String]>,
    problems: FormErrors,
) -> Result<Reply> {
    let features = found.tenant.as_ref().map(|tenant| tenant.features).unwrap_or_default();
    let granted = match ticked {
        Some(names) => names.iter().filter_map(|name| Ability::parse(name)).collect(),
        None => found.client.permissions,
    };
    let owned =
        SCOPES.into_iter().filter(|scope| found.client.scopes.has(*scope) && is_offered(*scope, &features));
    let blocks = std::iter::once(None).chain(owned.map(Some));
    let page = Permissions {
        translator: &req.translator,
        client: &found.client,
        id: found.id.0,
        path: found.path(),
        token: req.token(),
        revision: req.revision(found.client.revision()),
        blocks: blocks.filter_map(|scope| block(&req.translator, scope, granted)).collect(),
    };
    req.form_page(found.tab_head(req, "permissions"), render(&page), problems).await
}

/// The boxes of a scope, or of the abilities that work with any scope. `None`: there are none.
fn block(translator: &Translator, scope: Option<Scope>, granted: Abilities) -> Option<Block> {
    let is_shown = |ability: &Ability| !NOT_OFFERED.contains(ability) || granted.has(*ability);
    let abilities = Ability::ALL.iter().copied().filter(|ability| ability.scope() == scope).filter(is_shown);
    let mut abilities: Vec<Ability> = abilities.collect();
    if scope.is_none() {
        // To sign in comes before to act for others.
        abilities.reverse();
    }
    let mut groups: Vec<Group> = Vec::new();
    for &ability in &abilities {
        let title = translator.tr(heading_key(ability));
        let label = translator.tr(&ability_key(ability));
        let grant = Grant { ability, label, is_granted: granted.has(ability) };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.grants.push(grant),
            None => groups.push(Group { title, is_events: ability.is_event(), grants: vec![grant] }),
        }
    }
    let held = abilities.iter().filter(|ability| granted.has(**ability)).count();
    let title = translator.tr(&format!("scope-{}", scope.map_or("auth-type", Scope::as_str)));
    let granted =
        translator.tr_args("granted-of", &[("granted", held.into()), ("all", abilities.len().into())]);
    let scope = scope.map_or("", Scope::as_str);
    (!groups.is_empty()).then_some(Block { title, scope, granted, groups })
}

/// The key of the text of an ability: `ability-blogs-read`.
pub(crate) fn ability_key(ability: Ability) -> String {
    format!("ability-{}", ability.as_str().replace(['.', '_'], "-"))
}

/// The heading an ability is below (contract 02 §1.2).
fn heading_key(ability: Ability) -> &'static str {
    match ability {
        _ if ability.is_event() => "group-events",
        _ if ability.as_str().contains("extended_data") => "group-extended-data",
        Ability::OauthLogin | Ability::OauthImpersonate => "group-auth-type",
        Ability::OauthRead | Ability::UsersUpdate | Ability::UsersDestroy => "group-people",
        Ability::OauthMagicLink => "group-links",
        Ability::ServerExec | Ability::ServerRestart => "group-server",
        Ability::OrganizationsRead
        | Ability::OrganizationsUpdate
        | Ability::OrganizationsDestroy
        | Ability::OrganizationsCreate => "group-organizations",
        Ability::SpaceRead => "group-spaces",
        Ability::ComponentRead => "group-components",
        Ability::QuestionnairesRead | Ability::SurveysRead | Ability::QuestionsManage => {
            "group-questionnaires"
        }
        Ability::AnswersSubmit | Ability::AnswersRead | Ability::AnswersDestroy => "group-answers",
        _ => "group-operations",
    }
}

/// Replaces the whole set of permissions.
pub(crate) async fn replace(req: &AdminRequest) -> Result<Reply> {
    let id: i64 = req.form.text("system_api_client[api_client_id]").parse().map_err(|_| Error::NotFound)?;
    let found = api_client::find_client(req, id).await?;
    let asked = req.form.values("system_api_client[permissions][]");
    let before = found.client.permissions;
    let replaced = req.change_with_audit(
        async |tx| {
            let target = (found.client.uid.as_str(), req.form_revision());
            let replaced = api_client::admin(tx).replace_permissions(target, &asked, req.now).await;
            Ok(replaced.map_err(api_client::client_admin_error)?.permissions)
        },
        |after| {
            let text = |is_granted: bool| Some(if is_granted { "granted" } else { "not granted" });
            let entry = found.audit_entry(req, Action::ApiClientPermissionsReplaced);
            let entry = Ability::ALL.iter().fold(entry, |entry, ability| {
                entry.with_change(ability.as_str(), text(before.has(*ability)), text(after.has(*ability)))
            });
            (*after != before).then_some(entry)
        },
    );
    match replaced.await {
        Ok(_) => req.redirect_done("permissions-saved", &[], format!("{}/edit", found.path())).await,
        Err(error) => {
            let problems =
                error::form_errors(&req.translator, error, |_| "system_api_client[permissions]".to_owned())?;
            edit_page(req, &found, Some(&asked), problems).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Locale;

    #[test]
    fn every_ability_and_event_has_a_box_and_words_in_each_language() {
        for locale in Locale::TRANSLATED_LOCALES {
            let translator = Translator::for_locale(locale);
            let all: Abilities = Ability::ALL.iter().copied().collect();
            let mut shown: Vec<Ability> = Vec::new();
            for scope in std::iter::once(None).chain(SCOPES.map(Some)) {
                let block = block(&translator, scope, all).unwrap();
                for grant in block.groups.iter().flat_map(|group| &group.grants) {
                    assert!(!grant.label.starts_with("ability-"), "{}", grant.label);
                    shown.push(grant.ability);
                }
            }
            assert_eq!(shown.len(), Ability::ALL.len());
        }
    }

    #[test]
    fn abilities_that_are_not_offered_show_only_to_clients_that_hold_them() {
        let translator = Translator::for_locale(Locale::EN);
        let names = |granted: &str| {
            let block = block(&translator, Some(Scope::System), Abilities::read(granted)).unwrap();
            block.groups.iter().flat_map(|group| &group.grants).map(|grant| grant.ability).collect::<Vec<_>>()
        };
        assert!(!names("").contains(&Ability::ServerExec));
        assert!(names("system.server.exec").contains(&Ability::ServerExec));
    }

    #[test]
    fn scopes_follow_the_switches_of_the_organization() {
        let features = Features { blogs_enabled: false, ..Features::default() };
        assert!(!is_offered(Scope::Blogs, &features) && is_offered(Scope::Roles, &features));
    }
}
