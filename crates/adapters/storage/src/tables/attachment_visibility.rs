//! Which attachments a reader sees: those whose record the reader sees (contract 07 B.4). Each record is found by its
//! id, so that the cost of a row does not depend on the number of records.

use super::{meetings, posts, proposals};
use crate::columns::{Condition, EnumColumn, Expr};
use crate::correlated::Correlated;
use crate::schema::{
    answers, attachments, components, meetings as meeting, posts as post, proposals as proposal,
    questionnaires, spaces, surveys,
};
use crate::tables::pages::Checked;
use crate::tables::visible_components::VisibleComponents;
use crate::visibility::Rule;
use civitas_attachments::{AttachmentReader, ParentKind};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};

/// Whether the reader sees the record of an attachment.
pub(super) fn visible(reader: &AttachmentReader, of: &VisibleComponents) -> Condition<attachments::table> {
    let (viewer, participant) = (reader.read_context.viewer, reader.read_context.participant);
    let in_component =
        of.contain_one::<meeting::table>(Box::new(meeting::component_id.nullable()), Checked::Many);
    let shown = meetings::shown(viewer).into_iter();
    let seen_meetings = meeting::table
        .filter(meeting::id.nullable().eq(attachments::meeting_id))
        .filter(shown.fold(in_component, |all, next| Box::new(all.and(next))))
        .select(meeting::id);
    let seen_proposals = proposal::table
        .filter(proposal::id.nullable().eq(attachments::proposal_id))
        .filter(of.contain_one::<proposal::table>(Box::new(proposal::component_id.nullable()), Checked::Many))
        .filter(proposals::shown())
        .filter(proposals::published_or_own(participant))
        .select(proposal::id);
    let seen_posts = post::table
        .filter(post::id.nullable().eq(attachments::post_id))
        .filter(of.contain_one::<post::table>(Box::new(post::component_id.nullable()), Checked::Many))
        .filter(posts::visible(participant, reader.now))
        .select(post::id);
    let seen_spaces = spaces::table
        .filter(spaces::manifest.nullable().eq(attachments::space_manifest))
        .filter(spaces::id.nullable().eq(attachments::space_id))
        .filter(Rule::SpaceIsVisible(viewer))
        .select(spaces::id);
    let mut found: Vec<Expr<attachments::table, BigInt>> = vec![
        Box::new(Correlated(seen_proposals)),
        Box::new(Correlated(seen_meetings)),
        Box::new(Correlated(seen_posts)),
        Box::new(Correlated(seen_spaces)),
    ];
    if reader.reads_answers {
        found.push(seen_answers(reader, of));
        return any(found);
    }
    // The condition of an index: files of answers are not read and discarded one by one.
    Box::new(attachments::answer_id.is_null().and(any(found)))
}

/// The answer of an attachment, if the reader sees its questionnaire. Users who are not administrators see their own
/// answers only.
fn seen_answers(reader: &AttachmentReader, of: &VisibleComponents) -> Expr<attachments::table, BigInt> {
    let (viewer, participant) = (reader.read_context.viewer, reader.read_context.participant);
    let in_component =
        of.contain_one::<meeting::table>(Box::new(meeting::component_id.nullable()), Checked::Many);
    let shown = meetings::shown(viewer).into_iter();
    let meeting = meeting::table
        .filter(meeting::id.nullable().eq(questionnaires::meeting_id))
        .filter(shown.fold(in_component, |all, next| Box::new(all.and(next))))
        .select(meeting::id);
    let survey = surveys::table
        .filter(surveys::id.nullable().eq(questionnaires::survey_id))
        .filter(surveys::deleted_at.is_null())
        .select(surveys::id);
    let questionnaire = questionnaires::table
        .filter(questionnaires::id.eq(answers::questionnaire_id))
        .filter(of.contain_one::<questionnaires::table>(
            Box::new(questionnaires::component_id.nullable()),
            Checked::Many,
        ))
        .filter(Correlated(survey).is_not_null().or(Correlated(meeting).is_not_null()))
        .select(questionnaires::id);
    let own: Condition<answers::table> = match participant.filter(|_| !viewer.is_admin()) {
        None => Box::new(true.into_sql::<Nullable<Bool>>()),
        Some(user) => Box::new(answers::user_id.eq(user.0)),
    };
    let answer = answers::table
        .filter(answers::id.nullable().eq(attachments::answer_id))
        .filter(Correlated(questionnaire).is_not_null())
        .filter(own)
        .select(answers::id);
    Box::new(Correlated(answer))
}

/// Whether the record of an attachment is neither deleted nor hidden, in a component that is not deleted.
pub(super) fn shown_to_all() -> Condition<attachments::table> {
    let in_use = || components::table.filter(components::deleted_at.is_null()).select(components::id);
    let shown_meetings = meeting::table
        .filter(meeting::id.nullable().eq(attachments::meeting_id))
        .filter(meeting::component_id.eq_any(in_use()))
        .filter(meeting::hidden_at.is_null())
        .filter(meeting::deleted_at.is_null())
        .select(meeting::id);
    let shown_proposals = proposal::table
        .filter(proposal::id.nullable().eq(attachments::proposal_id))
        .filter(proposal::component_id.eq_any(in_use()))
        .filter(proposals::shown())
        .select(proposal::id);
    let shown_posts = post::table
        .filter(post::id.nullable().eq(attachments::post_id))
        .filter(post::component_id.eq_any(in_use()))
        .filter(post::deleted_at.is_null())
        .select(post::id);
    any(vec![
        Box::new(Correlated(shown_proposals)),
        Box::new(Correlated(shown_meetings)),
        Box::new(Correlated(shown_posts)),
        Box::new(attachments::space_id),
        Box::new(attachments::answer_id),
    ])
}

/// Whether the record is the organization, or one of these is found.
fn any(found: Vec<Expr<attachments::table, BigInt>>) -> Condition<attachments::table> {
    let of_organization: Condition<attachments::table> =
        Box::new(attachments::attached_to_type.eq(EnumColumn(ParentKind::Organization)).nullable());
    found.into_iter().fold(of_organization, |some, next| Box::new(some.or(next.is_not_null())))
}
