//! The form of the texts of a proposal. It is not saved by [`crate::records::save()`]: the use case
//! [`ProposalAdministration::rewrite`] removes markup and checks each language by the rules of drafts.

use super::proposal::audit_entry;
use super::proposals::OpenedProposal;
use crate::admin_request::AdminRequest;
use crate::error;
use crate::parts::{FormErrors, Section, TranslatedFields};
use crate::records::with_changes;
use crate::reply::Reply;
use crate::translated::{audit_text, form_languages, typed_texts};
use civitas_audit::Action;
use civitas_kernel::records::{Change, Entity, find_revision_for_update};
use civitas_kernel::{Locales, Result};
use civitas_proposals::{Proposal, ProposalAdministration};

const TITLE_FIELD: &str = "proposal[title]";
const BODY_FIELD: &str = "proposal[body]";

/// The languages of the form: those of the organization, and those the proposal has.
fn locales(opened: &OpenedProposal) -> Locales {
    let proposal = opened.proposal();
    form_languages(&opened.organization, &[&proposal.title, &proposal.body])
}

pub(crate) async fn edit(req: &AdminRequest) -> Result<Reply> {
    edit_page(req, &OpenedProposal::from_path(req).await?, Vec::new()).await
}

async fn edit_page(req: &AdminRequest, opened: &OpenedProposal, problems: FormErrors) -> Result<Reply> {
    let (proposal, locales) = (opened.proposal(), locales(opened));
    let title = typed_texts(req, TITLE_FIELD, &locales, &proposal.title);
    let body = typed_texts(req, BODY_FIELD, &locales, &proposal.body);
    let texts = TranslatedFields::new("texts", req.tr("texts"), &locales, opened.organization.default_locale)
        .text(TITLE_FIELD, req.tr("proposal-title"), req.tr("proposal-title-hint"), &title, 1)
        .text(BODY_FIELD, req.tr("proposal-body"), req.tr("proposal-body-hint"), &body, 12);
    let section = Section::new("proposal", req.tr("proposal-one"))
        .hint(req.tr("proposal-edit-hint"))
        .field(texts.html(&req.translator, &problems));
    let form = req
        .build_form(opened.path(), "proposal-save")
        .put(req.revision(opened.proposal().revision()))
        .section(section)
        .cancel(opened.path());
    let title = req.tr_with("person-edit", "name", opened.title(req));
    req.form_page(opened.subpage_head(req, title).current(req.tr("edit")), form.html(), problems).await
}

pub(crate) async fn update(req: &AdminRequest) -> Result<Reply> {
    let opened = OpenedProposal::from_path(req).await?;
    let locales = locales(&opened);
    let title = typed_texts(req, TITLE_FIELD, &locales, &opened.proposal().title);
    let body = typed_texts(req, BODY_FIELD, &locales, &opened.proposal().body);
    let longest = opened.detail.context.rules.proposal_length;
    let saved = req.change_with_audit(
        async |tx| {
            let (store, organization, id) = (tx.proposals(), opened.organization_id, opened.id);
            let revision = Some(req.form_revision());
            find_revision_for_update::<Proposal>(store, organization, id, revision).await?;
            let texts = (&title, &body);
            ProposalAdministration { store }.rewrite(organization, id, texts, longest, req.now).await
        },
        |change| {
            let Change { before, after } = change;
            let changes = [
                ("title", audit_text(&before.title), audit_text(&after.title)),
                ("body", audit_text(&before.body), audit_text(&after.body)),
            ];
            let entry = audit_entry(req, &opened, Action::ProposalUpdated);
            (!change.is_empty()).then(|| with_changes(entry, changes))
        },
    );
    match saved.await {
        Ok(_) => {
            let title = opened.title(req);
            req.redirect_done("proposal-saved", &[("title", title.into())], opened.path()).await
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
            edit_page(req, &opened, problems).await
        }
    }
}
