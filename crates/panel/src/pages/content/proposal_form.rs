//! The form of the texts of a proposal.

use super::proposal::audit_entry;
use super::proposals::OpenedProposal;
use super::shared::{languages, one_line, typed_texts, with_changes};
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{Form, FormErrors, Section, Texts};
use crate::reply::Reply;
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, find_revision_for_update};
use civitas_kernel::{Locales, Result};
use civitas_proposals::{Proposal, ProposalAdmin};

const TITLE: &str = "proposal[title]";
const BODY: &str = "proposal[body]";

/// The languages of the form: those of the organization, and those the proposal has.
fn locales(opened: &OpenedProposal) -> Locales {
    let proposal = opened.proposal();
    languages(&opened.organization, &[&proposal.title, &proposal.body])
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    show(req, &OpenedProposal::of_path(req).await?, Vec::new()).await
}

async fn show(req: &AdminRequest, opened: &OpenedProposal, problems: FormErrors) -> Result<Reply> {
    let (proposal, locales) = (opened.proposal(), locales(opened));
    let title = typed_texts(req, TITLE, &locales, &proposal.title);
    let body = typed_texts(req, BODY, &locales, &proposal.body);
    let texts = Texts::new("texts", req.tr("texts"), &locales, opened.organization.default_locale)
        .text(TITLE, req.tr("proposal-title"), req.tr("proposal-title-hint"), &title, 1)
        .text(BODY, req.tr("proposal-body"), req.tr("proposal-body-hint"), &body, 12);
    let section = Section::new("proposal", req.tr("proposal-one"))
        .hint(req.tr("proposal-edit-hint"))
        .field(texts.html(&req.translator, &problems));
    let form = Form::new(&req.translator, opened.path(), req.token(), "proposal-save")
        .method("put")
        .hidden("revision", req.revision(opened.proposal().revision()))
        .section(section)
        .cancel(opened.path());
    let title = req.tr_with("person-edit", "name", opened.title(req));
    req.form_page(opened.head_below_proposal(req, title).current(req.tr("edit")), form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::of_path(req).await?;
    let locales = locales(&opened);
    let title = typed_texts(req, TITLE, &locales, &opened.proposal().title);
    let body = typed_texts(req, BODY, &locales, &opened.proposal().body);
    let longest = opened.detail.place.rules.proposal_length;
    let saved = req.change(async |tx| {
        let (store, id) = (tx.proposals(), opened.id);
        find_revision_for_update::<Proposal>(store, opened.organization_id, id, Some(req.form_revision()))
            .await?;
        let admin = ProposalAdmin { store };
        let texts = (&title, &body);
        let change = admin.rewrite(opened.organization_id, id, texts, longest, req.now).await?;
        if change.is_empty() {
            return Ok(());
        }
        let entry = audit_entry(req, &opened, Action::ProposalUpdated);
        let Change { before, after } = &change;
        let changes = [
            ("title", one_line(&before.title), one_line(&after.title)),
            ("body", one_line(&before.body), one_line(&after.body)),
        ];
        req.append_audit_entry(tx, &with_changes(entry, changes)).await
    });
    match saved.await {
        Ok(()) => {
            let title = opened.title(req);
            req.done("proposal-saved", &[("title", title.into())], opened.path()).await
        }
        Err(error) => {
            // `title[fr]` is the field `proposal[title][fr]`; a text that is missing altogether is one of the main
            // language.
            let main = opened.organization.default_locale;
            let problems = error::form_errors(&req.translator, error, |field_error| {
                match field_error.field.split_once('[') {
                    Some((field, rest)) => format!("proposal[{field}][{rest}"),
                    None => format!("proposal[{}][{main}]", field_error.field),
                }
            })?;
            show(req, &opened, problems).await
        }
    }
}
