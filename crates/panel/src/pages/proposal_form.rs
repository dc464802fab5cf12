//! The form of the texts of a proposal.

use super::content::{languages, line, typed, with_changes};
use super::proposal::record;
use super::proposals::OpenedProposal;
use crate::error;
use crate::parts::{Form, Problem, Section, Texts};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, find_revision_for_update};
use civitas_kernel::{Locales, Result};
use civitas_proposals::{Proposal, ProposalAdmin};

const TITLE: &str = "proposal[title]";
const BODY: &str = "proposal[body]";

/// The languages of the form: those of the organization, and those the proposal has.
fn locales(shown: &OpenedProposal) -> Locales {
    let proposal = shown.proposal();
    languages(&shown.home, &[&proposal.title, &proposal.body])
}

pub(crate) async fn edit(visit: &Visit) -> Result<Reply> {
    show(visit, &OpenedProposal::of(visit).await?, Vec::new()).await
}

async fn show(visit: &Visit, shown: &OpenedProposal, problems: Vec<Problem>) -> Result<Reply> {
    let (proposal, locales) = (shown.proposal(), locales(shown));
    let title = typed(visit, TITLE, &locales, &proposal.title);
    let body = typed(visit, BODY, &locales, &proposal.body);
    let texts = Texts::new("texts", visit.say("texts"), &locales, shown.home.default_locale)
        .text(TITLE, visit.say("proposal-title"), visit.say("proposal-title-hint"), &title, 1)
        .text(BODY, visit.say("proposal-body"), visit.say("proposal-body-hint"), &body, 12);
    let section = Section::new("proposal", visit.say("proposal-one"))
        .hint(visit.say("proposal-edit-hint"))
        .field(texts.html(&visit.words, &problems));
    let form = Form::new(&visit.words, shown.path(), visit.token(), "proposal-save")
        .method("put")
        .hidden("revision", visit.revision(shown.proposal().revision()))
        .section(section)
        .cancel(shown.path());
    let title = visit.tell("person-edit", &[("name", shown.title(visit).into())]);
    visit.form_page(shown.head(visit, title).here(visit.say("edit")), form.html(), problems).await
}

pub(crate) async fn update(visit: &Visit) -> Result<Reply> {
    let shown = OpenedProposal::of(visit).await?;
    let locales = locales(&shown);
    let title = typed(visit, TITLE, &locales, &shown.proposal().title);
    let body = typed(visit, BODY, &locales, &shown.proposal().body);
    let longest = shown.detail.place.rules.proposal_length;
    let saved = visit.change(async |tx| {
        let (store, id) = (tx.proposals(), shown.id);
        find_revision_for_update::<Proposal>(store, shown.organization, id, Some(visit.form_revision()))
            .await?;
        let admin = ProposalAdmin { store };
        let texts = (&title, &body);
        let change = admin.rewrite(shown.organization, id, texts, longest, visit.now).await?;
        if change.is_empty() {
            return Ok(());
        }
        let entry = record(visit, &shown, Action::ProposalUpdated);
        let Change { before, after } = &change;
        let changes = [
            ("title", line(&before.title), line(&after.title)),
            ("body", line(&before.body), line(&after.body)),
        ];
        visit.append(tx, &with_changes(entry, changes)).await
    });
    match saved.await {
        Ok(()) => {
            let title = shown.title(visit);
            visit.done("proposal-saved", &[("title", title.into())], shown.path()).await
        }
        Err(fault) => {
            // `title[fr]` is the field `proposal[title][fr]`; a text that is missing altogether is one of the main
            // language.
            let main = shown.home.default_locale;
            let problems = error::problems(&visit.words, fault, |fault| match fault.field.split_once('[') {
                Some((field, rest)) => format!("proposal[{field}][{rest}"),
                None => format!("proposal[{}][{main}]", fault.field),
            })?;
            show(visit, &shown, problems).await
        }
    }
}
