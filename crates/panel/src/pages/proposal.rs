//! One proposal: its text, its answer, and the acts of moderation (contract 06).

use super::organization;
use super::proposals::{self, Shown, state_name};
use crate::error;
use crate::notice::Notice;
use crate::parts::{Act, Card, Choice, Group, Html, KeyValues, Problem, Split, language_name, render};
use crate::reply::Reply;
use crate::visit::Visit;
use crate::words::Words;
use askama::Template;
use civitas_application::Transaction;
use civitas_audit::Action;
use civitas_kernel::records::{Entity, edit, find_revision_for_update};
use civitas_kernel::{Direction, Error, Result, StateId};
use civitas_proposals::{MOST_STATES, Neighbours, Proposal, ProposalAdmin, ProposalState, refusals};

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
async fn neighbours(visit: &Visit, shown: &Shown) -> Result<Neighbours> {
    let query = proposals::unanswered(Some(shown.proposal().component), Direction::Ascending);
    let reader = organization::as_administrator(shown.organization);
    visit.panel.store().proposals().neighbours(reader, &query, shown.detail.position()).await
}

async fn states(visit: &Visit, shown: &Shown) -> Result<Vec<(StateId, ProposalState)>> {
    let (store, component) = (visit.panel.store().states(), shown.proposal().component);
    let mut states = store.of_component(shown.organization, component, MOST_STATES).await?;
    states.sort_by_key(|(id, _)| id.0);
    Ok(states)
}

pub(crate) async fn show(visit: &mut Visit) -> Result<Reply> {
    let shown = Shown::of(visit).await?;
    visit.open_organization(shown.organization).await?;
    page(visit, &shown, Vec::new()).await
}

async fn page(visit: &Visit, shown: &Shown, problems: Vec<Problem>) -> Result<Reply> {
    let neighbours = neighbours(visit, shown).await?;
    let mut head = shown.tabbed_head(visit, "");
    let beside =
        |id: civitas_kernel::ProposalId| format!("{}/{id}", proposals::list_path(shown.organization));
    if let Some(id) = neighbours.prev {
        head = head.act(Act::link(beside(id), visit.say("proposal-previous")));
    }
    if let Some(id) = neighbours.next {
        head = head.act(Act::link(beside(id), visit.say("proposal-next")));
    }
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

async fn text(visit: &Visit, shown: &Shown) -> Result<Html> {
    let (proposal, words) = (shown.proposal(), &visit.words);
    let mut locales: Vec<_> = proposal.title.iter().map(|(locale, _)| locale).collect();
    locales.extend(proposal.body.iter().map(|(locale, _)| locale));
    locales.sort_by_key(|locale| (*locale != shown.home.default_locale, locale.to_string()));
    locales.dedup();
    let versions = locales.into_iter().map(|locale| Version {
        locale: locale.to_string(),
        language: language_name(words, locale),
        title: proposal.title.get(locale).unwrap_or_default().to_owned(),
        paragraphs: proposal
            .body
            .get(locale)
            .unwrap_or_default()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect(),
    });
    let facts = facts(visit, shown).await?;
    Ok(render(&Text { versions: versions.collect(), facts }))
}

async fn facts(visit: &Visit, shown: &Shown) -> Result<Html> {
    let proposal = shown.proposal();
    let ids = proposal.authors.iter().map(|user| user.0).collect();
    let accounts = proposals::authors(visit, shown.organization, ids).await?;
    let people = format!("{}/{}/users", organization::LIST, shown.organization);
    let names = proposal.authors.iter().map(|id| match accounts.get(id) {
        Some(user) => Html::link(&format!("{people}/{id}"), &user.name),
        None => Html::text(&visit.say("deleted")),
    });
    let mut authors = Vec::new();
    for name in names {
        if !authors.is_empty() {
            authors.push(Html::text(", "));
        }
        authors.push(name);
    }
    if authors.is_empty() {
        authors.push(Html::text(&visit.say("proposal-official")));
    }
    let votes = visit.panel.store().votes().count_final(shown.organization, shown.id).await?;
    let place = &shown.detail.place;
    let time = |at: Option<time::OffsetDateTime>| at.map_or_else(|| visit.say("never"), |at| visit.time(at));
    let mut facts = KeyValues::default()
        .row(visit.say("proposal-author"), Html::join(authors))
        .text(visit.say("component-one"), place.name.title(visit.words.locale).unwrap_or_default())
        .text(visit.say("proposal-published"), &time(proposal.published_at))
        .text(
            visit.say("proposal-client"),
            shown.detail.client_uid.as_deref().unwrap_or(&visit.say("proposal-web")),
        )
        .text(visit.say("votes"), &visit.number(votes))
        .text(visit.say("column-created"), &visit.time(proposal.created_at))
        .text(visit.say("column-changed"), &visit.time(proposal.updated_at));
    if proposal.withdrawn_at.is_some() {
        facts = facts.text(visit.say("proposal-withdrawn-at"), &time(proposal.withdrawn_at));
    }
    if proposal.hidden_at.is_some() {
        facts = facts.text(visit.say("proposal-hidden-at"), &time(proposal.hidden_at));
    }
    Ok(facts.html())
}

async fn answer_form(visit: &Visit, shown: &Shown, has_next: bool, problems: &[Problem]) -> Result<Html> {
    let (proposal, words) = (shown.proposal(), &visit.words);
    let states = states(visit, shown).await?;
    let current = states.iter().find(|(id, _)| Some(*id) == proposal.state);
    let current = current.map_or("", |(_, state)| state.token.as_str());
    let none = Choice::new("", visit.say("proposal-no-answer"));
    let own = states.iter().map(|(_, state)| {
        let name = state.title.title(words.locale).map(str::to_owned);
        let choice = Choice::new(&state.token, name.unwrap_or_else(|| state_name(visit, &state.token)));
        if ProposalState::BUILT_IN.contains(&state.token.as_str()) {
            choice
        } else {
            choice.hint(visit.say("state-of-component"))
        }
    });
    let state = Group::radios(
        STATE,
        visit.say("column-state"),
        std::iter::once(none).chain(own).collect(),
        visit.form.get(STATE).unwrap_or(current),
    );
    let is_public = if proposal.state_published_at.is_some() { "1" } else { "0" };
    let seen = [("0", "answer-panel"), ("1", "answer-everybody")];
    let seen =
        seen.map(|(value, key)| Choice::new(value, visit.say(key)).hint(visit.say(&format!("{key}-hint"))));
    let seen = Group::radios(
        PUBLIC,
        visit.say("answer-who"),
        seen.to_vec(),
        visit.form.get(PUBLIC).unwrap_or(is_public),
    );
    let answer = Answer {
        words,
        action: format!("{}/answer", shown.path()),
        token: visit.token(),
        revision: visit.revision(proposal.revision()),
        groups: vec![state.check(problems).html(words), seen.check(problems).html(words)],
        has_next,
    };
    Ok(render(&answer))
}

fn moderation(visit: &Visit, shown: &Shown) -> Html {
    let proposal = shown.proposal();
    let post = |act: &str, class: &'static str| {
        let (action, label) = (format!("{}/{act}", shown.path()), visit.say(&format!("proposal-{act}")));
        Act::Post { action, label, class, fields: Vec::new(), token: visit.token() }.html()
    };
    let mut acts = Vec::new();
    if proposal.published_at.is_none() {
        acts.push((post("publish", "primary"), visit.say("proposal-publish-hint")));
    }
    if proposal.hidden_at.is_some() {
        acts.push((post("show", "primary"), visit.say("proposal-show-hint")));
    } else {
        acts.push((post("hide", ""), visit.say("proposal-hide-hint")));
    }
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
pub(crate) fn record(visit: &Visit, shown: &Shown, action: Action) -> civitas_audit::Record {
    let label = shown.title(visit);
    visit.record(action).of(shown.organization).on("proposal", &shown.id.to_string(), &label)
}

pub(crate) async fn answer(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let shown = Shown::of(visit).await?;
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
    let saved = visit
        .change(async |tx| {
            let (store, states) = (tx.proposals(), tx.states());
            find_revision_for_update::<Proposal>(store, shown.organization, shown.id, Some(visit.seen()))
                .await?;
            let answer = (token, is_public);
            let change = admin(tx).answer(states, shown.organization, shown.id, answer, visit.now).await?;
            if change.is_empty() {
                return Ok(());
            }
            let public = |p: &Proposal| if p.state_published_at.is_some() { "true" } else { "false" };
            let record = record(visit, &shown, Action::ProposalAnswered)
                .changed("state", name(change.before.state), name(change.after.state))
                .changed("public", Some(public(&change.before)), Some(public(&change.after)));
            tx.audit().append(&record, visit.now).await.map(drop)
        })
        .await;
    match saved {
        Ok(()) => {
            let to = next.map_or_else(
                || shown.path(),
                |id| format!("{}/{id}", proposals::list_path(shown.organization)),
            );
            let title = visit.tell("answer-saved", &[("title", shown.title(visit).into())]);
            visit.redirect(to, Notice::good(title).text(visit.say("answer-saved-undo"))).await
        }
        Err(fault) => {
            let problems = refusal(visit, fault)?;
            page(visit, &shown, problems).await
        }
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

/// Changes the proposal of the path and records it; an act without effect is not recorded.
async fn change(
    visit: &Visit,
    (action, result): (Action, &str),
    change: impl AsyncFn(&dyn Transaction, &Shown) -> Result<Proposal>,
) -> Result<Reply> {
    let shown = Shown::of(visit).await?;
    let changed = visit
        .change(async |tx| {
            if change(tx, &shown).await? == *shown.proposal() {
                return Ok(());
            }
            tx.audit().append(&record(visit, &shown, action), visit.now).await.map(drop)
        })
        .await;
    match changed {
        Ok(()) => {
            let title = visit.tell(result, &[("title", shown.title(visit).into())]);
            let undo = visit.say(&format!("{result}-undo"));
            visit.redirect(shown.path(), Notice::good(title).text(undo)).await
        }
        Err(fault) => {
            let problems = refusal(visit, fault)?;
            page(visit, &shown, problems).await
        }
    }
}

pub(crate) async fn hide(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let act = async |tx: &dyn Transaction, shown: &Shown| {
        let hide = |proposal: &mut Proposal| proposal.hide(visit.now);
        edit(&admin(tx), shown.organization, shown.id, visit.now, hide).await
    };
    change(visit, (Action::ProposalHidden, "proposal-hide-done"), act).await
}

pub(crate) async fn unhide(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let act = async |tx: &dyn Transaction, shown: &Shown| {
        edit(&admin(tx), shown.organization, shown.id, visit.now, Proposal::show).await
    };
    change(visit, (Action::ProposalShown, "proposal-show-done"), act).await
}

pub(crate) async fn publish(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let act = async |tx: &dyn Transaction, shown: &Shown| {
        let (locale, longest) = (shown.home.default_locale, shown.detail.place.rules.proposal_length);
        admin(tx)
            .publish(shown.organization, shown.id, locale, longest, visit.now)
            .await
            .map(|change| change.after)
    };
    change(visit, (Action::ProposalPublished, "proposal-publish-done"), act).await
}

pub(crate) async fn ask_withdraw(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let shown = Shown::of(visit).await?;
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

pub(crate) async fn withdraw(visit: &mut Visit) -> Result<Reply> {
    let visit = &*visit;
    let act = async |tx: &dyn Transaction, shown: &Shown| {
        let withdraw = |proposal: &mut Proposal| proposal.withdraw(visit.now);
        edit(&admin(tx), shown.organization, shown.id, visit.now, withdraw).await
    };
    change(visit, (Action::ProposalWithdrawn, "proposal-withdraw-done"), act).await
}
