//! One proposal: its text, its answer, and the actions of moderation (contract 06). They are use cases of their own, because
//! an answer reads the states and a publication checks the texts.

use super::organization;
use super::proposals::{self, OpenedProposal, state_name, states_of_component};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::format::paragraphs;
use crate::notice::Notice;
use crate::pages::people::persons::accounts;
use crate::parts::{
    Card, Choice, ChoiceGroup, FormError, FormErrors, Head, Html, KeyValues, PageAction, TwoColumns,
    language_name, render,
};
use crate::records::RecordAction;
use crate::records::actions::moderation;
use crate::reply::Reply;
use crate::translator::Translator;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{self, Entity, find_revision_for_update};
use civitas_kernel::{Direction, Error, FieldError, Result, StateId};
use civitas_proposals::{Proposal, ProposalAdministration, ProposalNeighbours, ProposalState};
use time::OffsetDateTime;

/// The texts of its pages begin with it.
const RECORD_NAME: &str = "proposal";
type ProposalAction = RecordAction<Proposal>;

const ACTIONS: &[ProposalAction] = &[
    ProposalAction::new("publish", Proposal::publish, |p, _| p.published_at.is_none()).primary(),
    ProposalAction::new("show", |p, _| p.show(), |p, _| p.hidden_at.is_some()).primary(),
    ProposalAction::new("hide", Proposal::hide, |p, _| p.hidden_at.is_none()),
    ProposalAction::new("withdraw", Proposal::withdraw, |p, _| {
        p.withdrawn_at.is_none() && p.published_at.is_some()
    })
    .with_confirmation(&["shown", "votes", "event"]),
];

const STATE_FIELD: &str = "answer[state]";
const PUBLIC_FIELD: &str = "answer[public]";

/// A text in one language, by paragraphs.
struct Version {
    locale: String,
    language: String,
    title: String,
    paragraphs: Vec<String>,
}

#[derive(Template)]
#[template(
    source = r#"{% for version in versions %}<div class="prose" lang="{{ version.locale }}"><p class="soft small">{{ version.language }}</p><p class="strong">{{ version.title }}</p>{% for text in version.paragraphs %}<p>{{ text }}</p>{% endfor %}</div><hr>{% endfor %}{{ facts }}"#,
    ext = "html"
)]
struct Text {
    versions: Vec<Version>,
    facts: Html,
}

#[derive(Template)]
#[template(path = "pages/answer.html")]
struct Answer<'a> {
    translator: &'a Translator,
    action: String,
    token: String,
    revision: String,
    groups: Vec<Html>,
    has_next: bool,
}

/// The neighbours of a proposal among those of its component without public answer, the oldest first.
async fn neighbours(req: &AdminRequest, opened: &OpenedProposal) -> Result<ProposalNeighbours> {
    let query = proposals::unanswered(Some(opened.proposal().component), Direction::Ascending);
    let reader = organization::admin_read_context(opened.organization_id);
    req.store().proposals().neighbours(reader, &query, opened.detail.position()).await
}

pub(crate) async fn show(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    show_page(req, &opened, Vec::new()).await
}

async fn show_page(req: &AdminRequest, opened: &OpenedProposal, problems: FormErrors) -> Result<Reply> {
    let neighbours = neighbours(req, opened).await?;
    let beside = [(neighbours.prev, "proposal-previous"), (neighbours.next, "proposal-next")];
    let beside = beside
        .into_iter()
        .filter_map(|(id, key)| Some(PageAction::link(opened.sibling_path(id?), req.tr(key))));
    let head = beside.fold(opened.tab_head(req, ""), Head::action);
    let head = head.action(PageAction::link(format!("{}/edit", opened.path()), req.tr("edit")));
    let text = Card::new("text", req.tr("proposal-one"), text(req, opened).await?).html();
    let body = if opened.proposal().published_at.is_some() {
        let right = answer_form(req, opened, neighbours.next.is_some(), &problems).await?;
        TwoColumns { left: text, right }.html()
    } else {
        text
    };
    let actions = moderation(req, RECORD_NAME, ACTIONS, opened.proposal(), &opened.path());
    req.form_page(head, Html::join([body, actions]), problems).await
}

async fn text(req: &AdminRequest, opened: &OpenedProposal) -> Result<Html> {
    let (proposal, translator) = (opened.proposal(), &req.translator);
    let mut locales: Vec<_> = proposal.title.iter().map(|(locale, _)| locale).collect();
    locales.extend(proposal.body.iter().map(|(locale, _)| locale));
    locales.sort_by_key(|locale| (*locale != opened.organization.default_locale, locale.to_string()));
    locales.dedup();
    let versions = locales.into_iter().map(|locale| Version {
        locale: locale.to_string(),
        language: language_name(translator, locale),
        title: proposal.title.get(locale).unwrap_or_default().to_owned(),
        paragraphs: paragraphs(proposal.body.get(locale)),
    });
    let details = details_card(req, opened).await?;
    Ok(render(&Text { versions: versions.collect(), facts: details }))
}

async fn details_card(req: &AdminRequest, opened: &OpenedProposal) -> Result<Html> {
    let proposal = opened.proposal();
    let ids = proposal.authors.iter().map(|user| user.0).collect();
    let accounts = accounts(req, opened.organization_id, ids).await?;
    let people = format!("{}/{}/users", organization::LIST, opened.organization_id);
    let mut authors = Vec::new();
    for id in &proposal.authors {
        authors.extend((!authors.is_empty()).then(|| Html::text(", ")));
        authors.push(match accounts.get(id) {
            Some(user) => Html::link(&format!("{people}/{id}"), &user.name),
            None => Html::text(&req.tr("deleted")),
        });
    }
    if authors.is_empty() {
        authors.push(Html::text(&req.tr("proposal-official")));
    }
    let (context, client) = (&opened.detail.context, opened.detail.client_uid.as_deref());
    let time = |at: Option<OffsetDateTime>| at.map_or_else(|| req.tr("never"), |at| req.time(at));
    let mut facts = KeyValues::default()
        .row(req.tr("proposal-author"), Html::join(authors))
        .text(req.tr("component-one"), context.name.title(req.translator.locale).unwrap_or_default())
        .text(req.tr("proposal-published"), &time(proposal.published_at))
        .text(req.tr("proposal-client"), client.unwrap_or(&req.tr("proposal-web")))
        .text(req.tr("votes"), &req.number(opened.detail.votes_count))
        .text(req.tr("column-created"), &req.time(proposal.created_at))
        .text(req.tr("column-changed"), &req.time(proposal.updated_at));
    let more = [("proposal-withdrawn-at", proposal.withdrawn_at), ("proposal-hidden-at", proposal.hidden_at)];
    for (key, at) in more.into_iter().filter(|(_, at)| at.is_some()) {
        facts = facts.text(req.tr(key), &time(at));
    }
    Ok(facts.html())
}

async fn answer_form(
    req: &AdminRequest,
    opened: &OpenedProposal,
    has_next: bool,
    problems: &[FormError],
) -> Result<Html> {
    let (proposal, translator) = (opened.proposal(), &req.translator);
    let states = states_of_component(req, opened.organization_id, proposal.component).await?;
    let current = states.iter().find(|(id, _)| Some(*id) == proposal.state);
    let current = current.map_or("", |(_, state)| state.token.as_str());
    let none = Choice::new("", req.tr("proposal-no-answer"));
    let choices = states.iter().map(|(_, state)| {
        let name = state.title.title(translator.locale).map(str::to_owned);
        let choice = Choice::new(&state.token, name.unwrap_or_else(|| state_name(req, &state.token)));
        let is_built_in = ProposalState::BUILT_IN_STATES.contains(&state.token.as_str());
        if is_built_in { choice } else { choice.hint(req.tr("state-of-component")) }
    });
    let radios = |name: &str, label: &str, choices: Vec<Choice>, chosen: &str| {
        let group = ChoiceGroup::radios(name, req.tr(label), choices, req.form.get(name).unwrap_or(chosen));
        group.check(problems).html(translator)
    };
    let state = radios(STATE_FIELD, "column-state", std::iter::once(none).chain(choices).collect(), current);
    let is_public = if proposal.state_published_at.is_some() { "1" } else { "0" };
    let seen = [("0", "answer-panel"), ("1", "answer-everybody")];
    let seen = seen.map(|(value, key)| Choice::new(value, req.tr(key)).hint(req.tr(&format!("{key}-hint"))));
    let answer = Answer {
        translator,
        action: format!("{}/answer", opened.path()),
        token: req.token(),
        revision: req.revision(proposal.revision()),
        groups: vec![state, radios(PUBLIC_FIELD, "answer-who", seen.to_vec(), is_public)],
        has_next,
    };
    Ok(render(&answer))
}

fn admin(tx: &dyn Transaction) -> ProposalAdministration<'_> {
    ProposalAdministration { store: tx.proposals() }
}

/// An entry of the audit trail about a proposal.
pub(crate) fn audit_entry(
    req: &AdminRequest,
    opened: &OpenedProposal,
    action: Action,
) -> civitas_audit::NewAuditEntry {
    let label = opened.title(req);
    req.audit_entry(action).in_organization(opened.organization_id).with_object(
        RECORD_NAME,
        &opened.id.to_string(),
        &label,
    )
}

pub(crate) async fn answer(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let token = Some(req.form.text(STATE_FIELD)).filter(|token| !token.is_empty());
    let is_public = req.form.checkbox(PUBLIC_FIELD) == Some(true);
    let next = match req.form.get("_next") {
        Some(_) => neighbours(req, &opened).await?.next,
        None => None,
    };
    let names = states_of_component(req, opened.organization_id, opened.proposal().component).await?;
    let name = |state: Option<StateId>| {
        names.iter().find(|(id, _)| Some(*id) == state).map(|(_, state)| state.token.as_str())
    };
    let (organization, id) = (opened.organization_id, opened.id);
    let saved = req.change_with_audit(
        async |tx| {
            let (store, revision) = (tx.proposals(), Some(req.form_revision()));
            find_revision_for_update::<Proposal>(store, organization, id, revision).await?;
            admin(tx).answer(tx.states(), organization, id, (token, is_public), req.now).await
        },
        |change| {
            let public = |p: &Proposal| if p.state_published_at.is_some() { "true" } else { "false" };
            let entry = audit_entry(req, &opened, Action::ProposalAnswered)
                .with_change("state", name(change.before.state), name(change.after.state))
                .with_change("public", Some(public(&change.before)), Some(public(&change.after)));
            (!change.is_empty()).then_some(entry)
        },
    );
    match saved.await {
        Ok(_) => {
            let to = next.map_or_else(|| opened.path(), |id| opened.sibling_path(id));
            let title = req.tr_with("answer-saved", "title", opened.title(req));
            req.redirect(to, Notice::success(title).text(req.tr("answer-saved-undo"))).await
        }
        Err(error) => show_page(req, &opened, form_errors(req, error)?).await,
    }
}

/// The problems of a refused action.
fn form_errors(req: &AdminRequest, error: Error) -> Result<FormErrors> {
    // The other fields are on the page that edits the text.
    let field = |field_error: &FieldError| match field_error.field.as_ref() {
        "state" => STATE_FIELD.to_owned(),
        _ => String::new(),
    };
    let text = |field_error: &FieldError| match field_error.code.as_ref() {
        "is_draft" => Some(req.tr("problem-draft")),
        "is_published" => Some(req.tr("problem-published")),
        _ => None,
    };
    error::form_errors_with_texts(&req.translator, error, field, text)
}

/// `POST .../{action}`: an action on the proposal of the path.
pub(crate) async fn perform(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let action = RecordAction::from_path(req, ACTIONS)?;
    let (now, length) = (req.now, opened.detail.context.rules.proposal_length);
    let audit_action = match action.name {
        "hide" => Action::ProposalHidden,
        "show" => Action::ProposalShown,
        "withdraw" => Action::ProposalWithdrawn,
        _ => Action::ProposalPublished,
    };
    let changed = req.change_with_audit(
        async |tx| {
            let (admin, organization, id) = (admin(tx), opened.organization_id, opened.id);
            if audit_action == Action::ProposalPublished {
                let locale = opened.organization.default_locale;
                return Ok(admin.publish(organization, id, locale, length, now).await?.after);
            }
            records::edit(&admin, organization, id, now, |proposal| (action.edit)(proposal, now)).await
        },
        |after| (after != opened.proposal()).then(|| audit_entry(req, &opened, audit_action)),
    );
    match changed.await {
        Ok(_) => req.redirect(opened.path(), action.notice(req, RECORD_NAME, opened.title(req))).await,
        Err(error) => show_page(req, &opened, form_errors(req, error)?).await,
    }
}

/// `GET .../{action}`: the confirmation page.
pub(crate) async fn confirm(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let action = RecordAction::from_path(req, ACTIONS)?;
    let confirm = action.confirmation(req, RECORD_NAME, &opened.path(), opened.path())?;
    let title = action.confirmation_title(req, RECORD_NAME, opened.title(req));
    let head = opened.subpage_head(req, title).current(action.text(req, RECORD_NAME, "here"));
    req.page(head, confirm.html(&[])).await
}
