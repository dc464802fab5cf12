//! The permissions of a client: a box for each ability and event of its scopes (contract 02 §1.2, 04 §2).

use super::client::{self, ClientPage, LIST};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Html, Problem, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_accounts::{ApiClient, ClientAdmin};
use civitas_audit::Action;
use civitas_kernel::records::Entity;
use civitas_kernel::{Abilities, Ability, ClientId, Error, Result, Scope};
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
    words: &'a Words,
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
pub(crate) async fn show(
    visit: &Visit,
    found: &ClientPage,
    ticked: Option<&[String]>,
    problems: Vec<Problem>,
) -> Result<Reply> {
    let features = found.tenant.as_ref().map(|tenant| tenant.features).unwrap_or_default();
    let granted = match ticked {
        Some(names) => names.iter().filter_map(|name| Ability::parse(name)).collect(),
        None => found.client.permissions,
    };
    let mut blocks = vec![sign_in_block(&visit.words, granted)];
    let owned =
        SCOPES.into_iter().filter(|scope| found.client.scopes.has(*scope) && is_offered(*scope, &features));
    blocks.extend(owned.filter_map(|scope| block(&visit.words, scope, granted)));
    let page = Permissions {
        words: &visit.words,
        client: &found.client,
        id: found.id.0,
        path: format!("{LIST}/{}", found.id),
        token: visit.token(),
        revision: visit.revision(found.client.revision()),
        blocks,
    };
    let body: Html = render(&page);
    visit.form_page(client::head(visit, found, "permissions"), body, problems).await
}

fn sign_in_block(words: &Words, granted: Abilities) -> Block {
    let grants = grants(words, &[Ability::OauthLogin, Ability::OauthImpersonate], granted);
    let group = Group { title: words.say("group-auth-type"), is_events: false, grants };
    finish(words, words.say("scope-auth-type"), "", vec![group])
}

fn block(words: &Words, scope: Scope, granted: Abilities) -> Option<Block> {
    let is_shown = |ability: &Ability| !NOT_OFFERED.contains(ability) || granted.has(*ability);
    let own: Vec<Ability> =
        Ability::ALL.iter().copied().filter(|a| a.scope() == Some(scope)).filter(is_shown).collect();
    let mut groups: Vec<Group> = Vec::new();
    for ability in own {
        let key = if ability.is_event() { "group-events" } else { group_of(ability) };
        let title = words.say(key);
        let grant = grants(words, &[ability], granted);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.grants.extend(grant),
            None => groups.push(Group { title, is_events: ability.is_event(), grants: grant }),
        }
    }
    if groups.is_empty() {
        return None;
    }
    Some(finish(words, words.say(&format!("scope-{scope}")), scope.as_str(), groups))
}

fn finish(words: &Words, title: String, scope: &'static str, groups: Vec<Group>) -> Block {
    let number = |count: usize| i64::try_from(count).unwrap_or_default();
    let all = groups.iter().map(|group| group.grants.len()).sum();
    let granted = groups.iter().flat_map(|group| &group.grants).filter(|grant| grant.is_granted).count();
    let granted =
        words.tell("granted-of", &[("granted", number(granted).into()), ("all", number(all).into())]);
    Block { title, scope, granted, groups }
}

fn grants(words: &Words, abilities: &[Ability], granted: Abilities) -> Vec<Grant> {
    let grant = |ability: &Ability| Grant {
        ability: *ability,
        label: words.say(&ability_key(*ability)),
        is_granted: granted.has(*ability),
    };
    abilities.iter().map(grant).collect()
}

/// The key of the words of an ability: `ability-blogs-read`.
pub(crate) fn ability_key(ability: Ability) -> String {
    format!("ability-{}", ability.as_str().replace(['.', '_'], "-"))
}

/// The heading an ability is below (contract 02 §1.2).
fn group_of(ability: Ability) -> &'static str {
    let name = ability.as_str();
    if name.contains("extended_data") {
        return "group-extended-data";
    }
    match ability {
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
pub(crate) async fn replace(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let id: i64 = visit.form.text("system_api_client[api_client_id]").parse().map_err(|_| Error::NotFound)?;
    let found = client::client(visit, id).await?;
    let asked = visit.form.all("system_api_client[permissions][]");
    let (uid, label, before) =
        (found.client.uid.as_str(), found.client.name.as_str(), found.client.permissions);
    let replaced = visit
        .change(async |tx| {
            let admin = ClientAdmin { clients: tx.clients(), organizations: tx.organization_lookup() };
            let client = admin
                .replace_permissions((uid, visit.seen()), &asked, visit.now)
                .await
                .map_err(client::fault)?;
            if client.permissions != before {
                let mut record =
                    visit.record(Action::ApiClientPermissionsReplaced).on("api_client", uid, label);
                for ability in changed(before, client.permissions) {
                    let said = |set: Abilities| if set.has(ability) { "granted" } else { "not granted" };
                    record =
                        record.changed(ability.as_str(), Some(said(before)), Some(said(client.permissions)));
                }
                tx.audit().append(&record.of(found.client.organization), visit.now).await?;
            }
            Ok(())
        })
        .await;
    match replaced {
        Ok(()) => {
            let notice = Notice::good(visit.say("permissions-saved"));
            visit.redirect(format!("{LIST}/{}/edit", ClientId(id)), notice).await
        }
        Err(fault) => {
            let problems =
                error::problems(&visit.words, fault, |_| "system_api_client[permissions]".to_owned())?;
            show(visit, &found, Some(&asked), problems).await
        }
    }
}

/// The abilities that are in one of the sets only.
fn changed(before: Abilities, after: Abilities) -> impl Iterator<Item = Ability> {
    Ability::ALL.iter().copied().filter(move |ability| before.has(*ability) != after.has(*ability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use civitas_kernel::Locale;

    #[test]
    fn every_ability_and_event_has_a_box_and_words_in_each_language() {
        for locale in Locale::OF_SERVICE {
            let words = Words::of(locale);
            let all: Abilities = Ability::ALL.iter().copied().collect();
            let mut shown: Vec<Ability> =
                sign_in_block(&words, all).groups[0].grants.iter().map(|g| g.ability).collect();
            for scope in SCOPES {
                let block = block(&words, scope, all).unwrap();
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
        let words = Words::of(Locale::EN);
        let names = |granted: &str| {
            let block = block(&words, Scope::System, Abilities::read(granted)).unwrap();
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
