//! One proposal: its text, its answer, and the acts of moderation (contract 06).

use super::content::paragraphs;
use super::organization;
use super::proposals::{self, OpenedProposal, state_name};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Card, Choice, Group, Head, Html, KeyValues, Problem, Split, language_name, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{self, Entity, find_revision_for_update};
use civitas_kernel::{Direction, Error, Result, StateId};
use civitas_proposals::{MOST_STATES, Neighbours, Proposal, ProposalAdmin, ProposalState, refusals};
use time::OffsetDateTime;

const STATE: &str = "answer[state]";
const PUBLIC: &str = "answer[public]";

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
    words: &'a Words,
    action: String,
    token: String,
    revision: String,
    groups: Vec<Html>,
    has_next: bool,
}

#[derive(Template)]
#[template(path = "pages/moderation.html")]
struct Moderation<'a> {
    words: &'a Words,
    /// Buttons with what they do.
    acts: Vec<(Html, String)>,
}

/// The neighbours of a proposal among those of its component without public answer, the oldest first.
async fn neighbours(visit: &Visit, shown: &OpenedProposal) -> Result<Neighbours> {
    let query = proposals::unanswered(Some(shown.proposal().component), Direction::Ascending);
    let reader = organization::as_administrator(shown.organization);
    visit.panel.store().proposals().neighbours(reader, &query, shown.detail.position()).await
}

async fn states(visit: &Visit, shown: &OpenedProposal) -> Result<Vec<(StateId, ProposalState)>> {
    let (store, component) = (visit.panel.store().states(), shown.proposal().component);
    let mut states = store.of_component(shown.organization, component, MOST_STATES).await?;
    states.sort_by_key(|(id, _)| id.0);
    Ok(states)
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    visit.open_organization(shown.organization).await?;
    page(visit, &shown, Vec::new()).await
}

async fn page(visit: &Visit, shown: &OpenedProposal, problems: Vec<Problem>) -> Result<Reply> {
    let neighbours = neighbours(visit, shown).await?;
    let beside = [(neighbours.prev, "proposal-previous"), (neighbours.next, "proposal-next")];
    let beside =
        beside.into_iter().filter_map(|(id, key)| Some(Act::link(shown.beside(id?), visit.say(key))));
    let head = beside.fold(shown.tabbed_head(visit, ""), Head::act);
    let head = head.act(Act::link(format!("{}/edit", shown.path()), visit.say("edit")));
    let text = Card::new("text", visit.say("proposal-one"), text(visit, shown).await?).html();
    let body = if shown.proposal().published_at.is_some() {
        let right = answer_form(visit, shown, neighbours.next.is_some(), &problems).await?;
        Split { left: text, right }.html()
    } else {
        text
    };
    visit.form_page(head, Html::join([body, moderation(visit, shown)]), problems).await
}

async fn text(visit: &Visit, shown: &OpenedProposal) -> Result<Html> {
    let (proposal, words) = (shown.proposal(), &visit.words);
    let mut locales: Vec<_> = proposal.title.iter().map(|(locale, _)| locale).collect();
    locales.extend(proposal.body.iter().map(|(locale, _)| locale));
    locales.sort_by_key(|locale| (*locale != shown.home.default_locale, locale.to_string()));
    locales.dedup();
    let versions = locales.into_iter().map(|locale| Version {
        locale: locale.to_string(),
        language: language_name(words, locale),
        title: proposal.title.get(locale).unwrap_or_default().to_owned(),
        paragraphs: paragraphs(proposal.body.get(locale)),
    });
    let facts = facts(visit, shown).await?;
    Ok(render(&Text { versions: versions.collect(), facts }))
}

async fn facts(visit: &Visit, shown: &OpenedProposal) -> Result<Html> {
    let proposal = shown.proposal();
    let ids = proposal.authors.iter().map(|user| user.0).collect();
    let accounts = proposals::authors(visit, shown.organization, ids).await?;
    let people = format!("{}/{}/users", organization::LIST, shown.organization);
    let mut authors = Vec::new();
    for id in &proposal.authors {
        authors.extend((!authors.is_empty()).then(|| Html::text(", ")));
        authors.push(match accounts.get(id) {
            Some(user) => Html::link(&format!("{people}/{id}"), &user.name),
            None => Html::text(&visit.say("deleted")),
        });
    }
    if authors.is_empty() {
        authors.push(Html::text(&visit.say("proposal-official")));
    }
    let (place, client) = (&shown.detail.place, shown.detail.client_uid.as_deref());
    let time = |at: Option<OffsetDateTime>| at.map_or_else(|| visit.say("never"), |at| visit.time(at));
    let mut facts = KeyValues::default()
        .row(visit.say("proposal-author"), Html::join(authors))
        .text(visit.say("component-one"), place.name.title(visit.words.locale).unwrap_or_default())
        .text(visit.say("proposal-published"), &time(proposal.published_at))
        .text(visit.say("proposal-client"), client.unwrap_or(&visit.say("proposal-web")))
        .text(visit.say("votes"), &visit.number(shown.detail.votes_count))
        .text(visit.say("column-created"), &visit.time(proposal.created_at))
        .text(visit.say("column-changed"), &visit.time(proposal.updated_at));
    let more = [("proposal-withdrawn-at", proposal.withdrawn_at), ("proposal-hidden-at", proposal.hidden_at)];
    for (key, at) in more.into_iter().filter(|(_, at)| at.is_some()) {
        facts = facts.text(visit.say(key), &time(at));
    }
    Ok(facts.html())
}

async fn answer_form(
    visit: &Visit,
    shown: &OpenedProposal,
    has_next: bool,
    problems: &[Problem],
) -> Result<Html> {
    let (proposal, words) = (shown.proposal(), &visit.words);
    let states = states(visit, shown).await?;
    let current = states.iter().find(|(id, _)| Some(*id) == proposal.state);
    let current = current.map_or("", |(_, state)| state.token.as_str());
    let none = Choice::new("", visit.say("proposal-no-answer"));
    let own = states.iter().map(|(_, state)| {
        let name = state.title.title(words.locale).map(str::to_owned);
        let choice = Choice::new(&state.token, name.unwrap_or_else(|| state_name(visit, &state.token)));
        let is_built_in = ProposalState::BUILT_IN.contains(&state.token.as_str());
        if is_built_in { choice } else { choice.hint(visit.say("state-of-component")) }
    });
    let radios = |name: &str, label: &str, choices: Vec<Choice>, chosen: &str| {
        let group = Group::radios(name, visit.say(label), choices, visit.form.get(name).unwrap_or(chosen));
        group.check(problems).html(words)
    };
    let state = radios(STATE, "column-state", std::iter::once(none).chain(own).collect(), current);
    let is_public = if proposal.state_published_at.is_some() { "1" } else { "0" };
    let seen = [("0", "answer-panel"), ("1", "answer-everybody")];
    let seen =
        seen.map(|(value, key)| Choice::new(value, visit.say(key)).hint(visit.say(&format!("{key}-hint"))));
    let answer = Answer {
        words,
        action: format!("{}/answer", shown.path()),
        token: visit.token(),
        revision: visit.revision(proposal.revision()),
        groups: vec![state, radios(PUBLIC, "answer-who", seen.to_vec(), is_public)],
        has_next,
    };
    Ok(render(&answer))
}

fn moderation(visit: &Visit, shown: &OpenedProposal) -> Html {
    let proposal = shown.proposal();
    let post = |act: &str, class: &'static str| {
        let (action, key) = (format!("{}/{act}", shown.path()), format!("proposal-{act}"));
        let (label, token) = (visit.say(&key), visit.token());
        let act = Act::Post { action, label, class, fields: Vec::new(), token };
        (act.html(), visit.say(&format!("{key}-hint")))
    };
    let mut acts = Vec::new();
    if proposal.published_at.is_none() {
        acts.push(post("publish", "primary"));
    }
    acts.push(if proposal.hidden_at.is_some() { post("show", "primary") } else { post("hide", "") });
    if proposal.withdrawn_at.is_none() && proposal.published_at.is_some() {
        let link = Act::danger(format!("{}/withdraw", shown.path()), visit.say("proposal-withdraw-link"));
        acts.push((link.html(), visit.say("proposal-withdraw-hint")));
    }
    render(&Moderation { words: &visit.words, acts })
}

fn admin(tx: &dyn Transaction) -> ProposalAdmin<'_> {
    ProposalAdmin { store: tx.proposals() }
}

/// An entry of the audit trail about a proposal.
pub(crate) fn record(visit: &Visit, shown: &OpenedProposal, action: Action) -> civitas_audit::Record {
    let label = shown.title(visit);
    visit.record(action).of(shown.organization).on("proposal", &shown.id.to_string(), &label)
}

pub(crate) async fn answer(visit: &Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    let token = Some(visit.form.text(STATE)).filter(|token| !token.is_empty());
    let is_public = visit.form.switch(PUBLIC) == Some(true);
    let next = match visit.form.get("_next") {
        Some(_) => neighbours(visit, &shown).await?.next,
        None => None,
    };
    let names = states(visit, &shown).await?;
    let name = |state: Option<StateId>| {
        names.iter().find(|(id, _)| Some(*id) == state).map(|(_, state)| state.token.as_str())
    };
    let saved = visit.change(async |tx| {
        let (store, states) = (tx.proposals(), tx.states());
        find_revision_for_update::<Proposal>(
            store,
            shown.organization,
            shown.id,
            Some(visit.form_revision()),
        )
        .await?;
        let answer = (token, is_public);
        let change = admin(tx).answer(states, shown.organization, shown.id, answer, visit.now).await?;
        if change.is_empty() {
            return Ok(());
        }
        let public = |p: &Proposal| if p.state_published_at.is_some() { "true" } else { "false" };
        let entry = record(visit, &shown, Action::ProposalAnswered)
            .changed("state", name(change.before.state), name(change.after.state))
            .changed("public", Some(public(&change.before)), Some(public(&change.after)));
        visit.append(tx, &entry).await
    });
    match saved.await {
        Ok(()) => {
            let to = next.map_or_else(|| shown.path(), |id| shown.beside(id));
            let title = visit.tell("answer-saved", &[("title", shown.title(visit).into())]);
            visit.redirect(to, Notice::good(title).text(visit.say("answer-saved-undo"))).await
        }
        Err(fault) => page(visit, &shown, refusal(visit, fault)?).await,
    }
}

/// The problems of a refused act.
fn refusal(visit: &Visit, fault: Error) -> Result<Vec<Problem>> {
    let mut problems = error::problems(&visit.words, fault, |fault| fault.field.to_string())?;
    for problem in &mut problems {
        let (field, key) = match problem.text.as_str() {
            refusals::STATE_UNKNOWN => (STATE, "problem-inclusion"),
            refusals::IS_DRAFT => ("", "problem-draft"),
            refusals::IS_PUBLISHED => ("", "problem-published"),
            // The fields are on the page that edits the text.
            _ => {
                problem.field.clear();
                continue;
            }
        };
        *problem = Problem::new(field, visit.say(key));
    }
    Ok(problems)
}

/// `POST .../{act}`: an act on the proposal of the path. An act without effect is not recorded.
pub(crate) async fn act(visit: &Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    let (now, length) = (visit.now, shown.detail.place.rules.proposal_length);
    let (action, edit): (_, fn(&mut Proposal, OffsetDateTime)) = match visit.act {
        "hide" => (Action::ProposalHidden, Proposal::hide),
        "show" => (Action::ProposalShown, |proposal, _| proposal.show()),
        "withdraw" => (Action::ProposalWithdrawn, Proposal::withdraw),
        _ => (Action::ProposalPublished, |_, _| {}),
    };
    let changed = visit.change(async |tx| {
        let admin = admin(tx);
        let after = if action == Action::ProposalPublished {
            let locale = shown.home.default_locale;
            admin.publish(shown.organization, shown.id, locale, length, now).await?.after
        } else {
            records::edit(&admin, shown.organization, shown.id, now, |proposal| edit(proposal, now)).await?
        };
        if after == *shown.proposal() {
            return Ok(());
        }
        visit.append(tx, &record(visit, &shown, action)).await
    });
    match changed.await {
        Ok(()) => {
            let key = format!("proposal-{}-done", visit.act);
            let title = visit.tell(&key, &[("title", shown.title(visit).into())]);
            let undo = visit.say(&format!("{key}-undo"));
            visit.redirect(shown.path(), Notice::good(title).text(undo)).await
        }
        Err(fault) => page(visit, &shown, refusal(visit, fault)?).await,
    }
}

pub(crate) async fn ask_withdraw(visit: &Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    let confirm = visit
        .confirm(format!("{}/withdraw", shown.path()), visit.say("proposal-withdraw"), shown.path())
        .effects([
            visit.say("proposal-withdraw-shown"),
            visit.say("proposal-withdraw-votes"),
            visit.say("proposal-withdraw-event"),
        ])
        .stays(visit.say("proposal-withdraw-stays"));
    let title = visit.tell("proposal-withdraw-title", &[("title", shown.title(visit).into())]);
    let head = shown.head(visit, title).here(visit.say("proposal-withdraw"));
    visit.page(head, confirm.html(&[])).await
}
